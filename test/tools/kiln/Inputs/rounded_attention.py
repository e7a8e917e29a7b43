#!/usr/bin/env python3
"""Attention with factors rounded on request, against numpy: rounded_attention.py FOLDER

The target file names a step that is written in plain C++, so that every machine with AVX2 runs it; CPUs with AVX-512 BF16 run their own target, too. Writes
the models and NAME.why.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from rounded_factors import to_bf16

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402
import machine  # noqa: E402

random = np.random.default_rng(7)


class Case:
    """Projections, attention with `heads` heads of `depth` numbers, and a projection. `rounds`: whether attention's factors are to be rounded."""

    def __init__(self, name, length, depth, heads, rounds=True, is_dynamic=False, has_bias=False, is_given=False):
        self.name, self.length, self.depth, self.heads, self.rounds, self.is_dynamic = name, length, depth, heads, rounds, is_dynamic
        self.is_given, width = is_given, heads * depth
        self.x = (2 * random.standard_normal((1, length, width))).astype("f4")
        self.weights = {kind: (random.standard_normal((width, width)) / np.sqrt(width)).astype("f4") for kind in "qkvo"}
        self.bias = (3 * random.standard_normal((length, length))).astype("f4") if has_bias else None

    def save(self, folder):
        node, width = helper.make_node, self.heads * self.depth
        constants = {**self.weights, "split": np.array([0, 0, self.heads, self.depth]), "joined": np.array([0, 0, width]), "scale": np.float32(self.depth**-0.5)}
        if self.bias is not None:
            constants["bias"] = self.bias
        nodes = []
        for kind in "qkv":
            source = "x" if self.is_given else f"{kind}_product"
            nodes += [] if self.is_given else [node("MatMul", ["x", kind], [source], name=f"{kind}_projection")]
            order = [0, 2, 3, 1] if kind == "k" else [0, 2, 1, 3]
            nodes += [node("Reshape", [source, "split"], [f"{kind}_split"]), node("Transpose", [f"{kind}_split"], [f"{kind}_heads"], perm=order)]
        nodes += [node("MatMul", ["q_heads", "k_heads"], ["products"], name="scores"), node("Mul", ["products", "scale"], ["scaled"])]
        if self.bias is not None:
            nodes.append(node("Add", ["scaled", "bias"], ["biased"]))
        nodes += [node("Softmax", [nodes[-1].output[0]], ["weights"], axis=-1), node("MatMul", ["weights", "v_heads"], ["sums"]),
                  node("Transpose", ["sums"], ["turned"], perm=[0, 2, 1, 3]), node("Reshape", ["turned", "joined"], ["result"]),
                  node("MatMul", ["result", "o"], ["y"], name="last_projection")]
        length = "length" if self.is_dynamic else self.length
        info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, length, width])
        graph = helper.make_graph(nodes, self.name, [info("x")], [info("y")], [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / f"{self.name}.onnx")
        np.save(folder / f"{self.name}.npy", self.x)

    def compute(self, products, attention):
        """With factors of the projections, and of attention, rounded so. Attention rounds exp(score - largest) and divides what it sums."""
        heads = lambda x: x.astype("f4").reshape(1, self.length, self.heads, self.depth).transpose(0, 2, 1, 3)
        project = lambda x, kind: products(x).astype("f8") @ products(self.weights[kind])
        q, k, v = (heads(self.x if self.is_given else project(self.x, kind)) for kind in "qkv")
        scores = attention(q).astype("f8") @ attention(k).astype("f8").transpose(0, 1, 3, 2) * self.depth**-0.5 + (0 if self.bias is None else self.bias)
        weights = np.exp(scores - scores.max(-1, keepdims=True)).astype("f4")
        sums = attention(weights).astype("f8") @ attention(v) / weights.astype("f8").sum(-1, keepdims=True)
        return project(sums.astype("f4").transpose(0, 2, 1, 3).reshape(1, self.length, -1), "o")

    def find_fault(self, got):
        exact = lambda x: x
        largest = np.abs(self.compute(exact, exact)).max()
        off = {kind: np.abs(got - self.compute(to_bf16, attention)).max() / largest for kind, attention in (("rounded", to_bf16), ("exact", exact))}
        # A number that f32 has computed in another order may be rounded to the other side, and a few of them lie behind each result.
        near, far = ("rounded", "exact") if self.rounds else ("exact", "rounded")
        if off[near] > 3e-3:
            return f"off by {off[near]:.2g} of the largest value"
        return None if off[near] < off[far] else f"{off[near]:.2g} from {near} factors, {off[far]:.2g} from {far} ones"


CASES = [Case("even", 64, 32, 2), Case("odd", 33, 32, 3), Case("scaled", 70, 96, 2), Case("biased", 41, 32, 2, has_bias=True), Case("long", 577, 32, 1, is_dynamic=True),
         Case("short", 5, 32, 2, is_dynamic=True), Case("narrow", 24, 20, 2, rounds=False), Case("few", 4, 32, 2, rounds=False),
         Case("given", 24, 32, 2, is_given=True)]


def main():
    folder, faults, right = pathlib.Path(sys.argv[1]), [], 0
    step = {"lhs": "bf16", "rhs": "bf16", "sum": "f32", "shape": [1, 8, 2], "function": "dot_bf16"}
    (folder / "pairs.json").write_text(json.dumps({"name": "pairs", "base": "x86-64-v3", "steps": [step]}))
    has_step = "dot_bf16" in machine.describe_targets("kiln")["native"]["steps"]
    for target in [folder / "pairs.json"] + ["native"] * has_step:
        for case in CASES:
            case.save(folder)
            command = ["run", folder / f"{case.name}.onnx", f"--target={target}", "--compute=bf16", f"--input=x={folder / case.name}.npy", "--output-dir", folder]
            outputs = []
            for threads in (1, 2):
                done = kiln_calls.call(*command, f"--threads={threads}")
                if done.returncode:
                    sys.exit(f"{case.name}: {done.stderr}")
                outputs.append(np.load(folder / "y.npy"))
            fault = "other bits with two threads" if outputs[0].tobytes() != outputs[1].tobytes() else case.find_fault(outputs[0])
            faults += [f"{case.name}, {target}: {fault}"] if fault else []
            right += not fault
    for case in CASES:
        done = kiln_calls.run(folder / f"{case.name}.onnx", f"--target={folder / 'pairs.json'}", "--compute=bf16", "--why", "--emit=cpp", "-o", folder)
        (folder / f"{case.name}.why").write_text(done.stdout + done.stderr)
    print("\n".join(faults) or "all cases right")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
