"""Random operators give NumPy's numbers for their seeds, on each target and with any number of threads; without a seed the same in every run.

Usage: random_numbers.py OUT
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

SHAPE = [3, 250]
LOGITS = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-9]], np.float32))
CHANCES = np.random.RandomState(3).uniform(0, 1, SHAPE).astype(np.float32)


def state(seed):
    return np.random.RandomState(seed)


def node(op, name, inputs=(), **attributes):
    return helper.make_node(op, list(inputs), [name], name, **attributes)


def cases():
    """(node, expected numbers or None)"""
    yield node("RandomUniform", "uniform", shape=SHAPE, seed=5.0, low=-2.0, high=3.0), state(5).uniform(-2, 3, SHAPE).astype("f4")
    yield node("RandomUniform", "wide", shape=SHAPE, seed=5.5, dtype=11), state(5).uniform(0, 1, SHAPE)
    yield node("RandomNormal", "normal", shape=SHAPE, seed=0.0, mean=1.0, scale=0.5), state(0).normal(1, 0.5, SHAPE).astype("f4")
    yield node("RandomNormal", "half", shape=SHAPE, seed=9.0, dtype=10), state(9).normal(0, 1, SHAPE).astype("f2")
    yield node("RandomUniformLike", "uniform_like", ["p"], seed=1.0), state(1).uniform(0, 1, SHAPE).astype("f4")
    yield node("RandomNormalLike", "normal_like", ["p"], seed=2.0, dtype=11), state(2).normal(0, 1, SHAPE)
    yield node("Bernoulli", "bernoulli", ["p"], seed=4.0), state(4).binomial(1, CHANCES.astype("f8")).astype("f4")
    yield node("Bernoulli", "bools", ["p"], seed=4.0, dtype=9), state(4).binomial(1, CHANCES.astype("f8")).astype("?")
    sums = np.cumsum(np.exp(LOGITS.astype("f8") - LOGITS.max(1, keepdims=True)), 1)
    draws = state(8).uniform(0, 1, (2, 400)) * sums[:, -1:]
    yield node("Multinomial", "multinomial", ["logits"], seed=8.0, sample_size=400, dtype=7), (draws[..., None] >= sums[:, None]).sum(-1)
    for name in "first", "second":
        yield node("RandomUniform", name, shape=SHAPE), None
    kept = state(6).uniform(0, 1, SHAPE) >= 0.25
    yield helper.make_node("Dropout", ["p", "ratio", "trains"], ["dropped", "mask"], "dropped", seed=6), np.where(kept, CHANCES / 0.75, 0).astype("f4")


def build(path):
    info = helper.make_tensor_value_info
    graph = helper.make_graph([made for made, _ in cases()], "g",
                              [info("p", 1, [3, "N"]), info("logits", 1, [2, 3]), info("ratio", 1, []), info("trains", TensorProto.BOOL, [])],
                              [helper.make_empty_tensor_value_info(made.output[0]) for made, _ in cases()] + [info("mask", TensorProto.BOOL, [3, "N"])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(path))


def run(out, target, threads):
    folder = out / f"{target}-{threads}"
    given = [f"--input=p={out}/p.npy", f"--input=logits={out}/logits.npy", "--input=ratio=0.25", "--input=trains=1"]
    kiln_calls.run("run", out / "m.onnx", f"--target={target}", f"--threads={threads}", f"--output-dir={folder}", *given)
    return {made.output[0]: np.load(folder / f"{made.output[0]}.npy") for made, _ in cases()} | {"mask": np.load(folder / "mask.npy")}


def main():
    out = pathlib.Path(sys.argv[1])
    build(out / "m.onnx")
    np.save(out / "p.npy", CHANCES)
    np.save(out / "logits.npy", LOGITS)
    runs = [run(out, target, threads) for target, threads in (("generic", 1), ("x86-64-v3", 2))]
    for found in runs:
        for made, expected in cases():
            got = found[made.output[0]]
            assert expected is None or (got.dtype == expected.dtype and np.allclose(got, expected, rtol=1e-6, atol=1e-6)), (made.name, got.ravel()[:4], expected.ravel()[:4])
        assert np.array_equal(found["mask"], found["dropped"] != 0)
        assert 0 <= found["first"].min() and found["first"].max() < 1 and not np.array_equal(found["first"], found["second"])
        assert all(np.array_equal(found[name], runs[0][name]) for name in ("first", "mask", "bools", "multinomial"))
    print(len(runs), "targets give the numbers of NumPy")


if __name__ == "__main__":
    main()
