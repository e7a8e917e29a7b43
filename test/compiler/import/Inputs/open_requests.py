"""Operators that serve several requests, with numbers of tokens, requests, pages and blocks that only a run knows: open_requests.py FOLDER.

The nodes and what they compute are those of test/operators. For each operator, one library serves calls of different sizes.
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import helper

TEST = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TEST), str(TEST / "operators"), str(TEST / "operators/families")]
sys.dont_write_bytecode = True
import contrib_requests  # noqa: E402, F401
import kiln_calls  # noqa: E402
from cases import OPERATORS, Generator  # noqa: E402
from judging import difference  # noqa: E402
from models import info, write_input  # noqa: E402

#: Which dimensions of which inputs are open.
OPEN = {"PagedAttention": {0: [0], 1: [0], 2: [0], 3: [0], 4: [0], 5: [0], 6: [0], 7: [0, 1], 10: [0]},
        "VarlenCausalConvWithState": {0: [0], 2: [0], 4: [0], 5: [0]},
        "GatedDeltaNet": {0: [0], 1: [0], 2: [0], 3: [0], 4: [0], 5: [0], 6: [0]}}
OPSET, CALLS = 17, 3


def draw(name, number):
    maker = OPERATORS[f"com.microsoft.{name}"][0]
    return maker.make(Generator(maker, OPSET, 3, number))


def form(case, name):
    """The parts that two cases must have in common so that one model serves both."""
    opened = OPEN[name]
    return (sorted(case.attributes.items()), [x and (x.type, [n for axis, n in enumerate(x.shape) if axis not in opened.get(i, [])]) for i, x in enumerate(case.inputs)])


def make_model(case, name, path):
    inputs = [x and f"i{i}" for i, x in enumerate(case.inputs)]
    outputs = [f"o{i}" for i in range(len(case.outputs))]
    node = helper.make_node(name, [x or "" for x in inputs], outputs, "node", domain="com.microsoft", **case.attributes)
    dims = lambda i, x: [f"d{i}_{axis}" if axis in OPEN[name].get(i, []) else n for axis, n in enumerate(x.shape)]
    given = [info(f"i{i}", x.type, dims(i, x)) for i, x in enumerate(case.inputs) if x]
    results = [info(f"o{i}", x.type, [f"r{i}_{axis}" for axis in range(x.array.ndim)]) for i, x in enumerate(case.outputs)]
    graph = helper.make_graph([node], "g", given, results)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)], ir_version=8), str(path))


def run(case, path, folder):
    arguments = ["run", path, "--target=generic", "--output-dir", folder / "out"]
    for i, x in enumerate(case.inputs):
        if x:
            arguments += ["--input", f"i{i}={write_input(folder / f'i{i}', x.array, x.type)}"]
    return kiln_calls.call(*arguments)


def check(name, number, folder):
    """Calls of one model, which the first case decides."""
    first = draw(name, number)
    wanted, alike = form(first, name), [first]
    for other in range(4000):
        if len(alike) < CALLS and form(case := draw(name, other + 5000), name) == wanted:
            alike.append(case)
    make_model(first, name, folder / "model.onnx")
    for case in alike:
        done = run(case, folder / "model.onnx", folder)
        wrong = [done.stderr] if done.returncode else filter(None, (difference(np.load(folder / f"out/o{i}.npy"), x) for i, x in enumerate(case.outputs)))
        print(f"{name}: WRONG {'; '.join(wrong)}" if (wrong := list(wrong)) else f"{name}: right")


def refuse_ends(folder):
    """A run whose last end is not the number of tokens."""
    case = draw("VarlenCausalConvWithState", 1)
    case.inputs[2].array = case.inputs[2].array + np.arange(len(case.inputs[2].array), dtype="i4")
    make_model(case, "VarlenCausalConvWithState", folder / "model.onnx")
    done = run(case, folder / "model.onnx", folder)
    print("ends:", done.returncode, done.stderr.strip().split("\n")[-1])


def keep_infinity(folder):
    """An infinite value of the token after the end of a shorter request is none of that request's."""
    def fits(case):
        ends = case.inputs[3] and np.diff(case.inputs[3].array)
        return case.inputs[2] and ends is not None and len(ends) > 1 and 0 < ends[0] < ends.max() and case.outputs[0].type == "f32" and len(case.outputs) > 1
    case = next(case for number in range(4000) if fits(case := draw("GatedDeltaNet", number)))
    end = case.inputs[3].array[1]
    case.inputs[2].array[end] = np.inf
    make_model(case, "GatedDeltaNet", folder / "model.onnx")
    done = run(case, folder / "model.onnx", folder)
    got = [np.load(folder / f"out/o{i}.npy") for i in range(2)] if done.returncode == 0 else []
    isRight = got and np.allclose(got[0][:end], case.outputs[0].array[:end], 1e-4, 1e-4) and np.allclose(got[1][0], case.outputs[1].array[0], 1e-4, 1e-4)
    print("infinity:", "stays" if isRight else f"WRONG {done.stderr} {got}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in OPEN:
        for number in range(2):
            check(name, number, folder)
    refuse_ends(folder)
    keep_infinity(folder)


main()
