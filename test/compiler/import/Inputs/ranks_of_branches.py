#!/usr/bin/env python3
"""Ifs whose branches have results of different ranks, or sizes that only one of them demands, run on both sides beside NumPy.

Usage: ranks_of_branches.py DIR
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import parser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

SQUEEZE = "If<then_branch = t () => (ta) { ta = Squeeze(x, zero) }, else_branch = e () => (ea) { ea = Identity(x) }>(c)"
HEAD = "<ir_version: 8, opset_import: [\"\" : 17]>\n"

MODELS = {
    # The rank decides what follows, and the ranks agree again.
    "tail": """g (float[1,3,4] x, bool c) => (float[1,3,4] w, float r) <int64[1] zero = {0}, int64 two = {2}> {
      y = """ + SQUEEZE + """
      z = Relu(y) r = ReduceSum<keepdims = 0>(z)
      shape = Shape(z) rank = Size(shape) isTwo = Equal(rank, two) other = Not(isTwo)
      v = If<then_branch = t2 () => (tb) { tb = Identity(z) }, else_branch = e2 () => (eb) { eb = Unsqueeze(z, zero) }>(other)
      w = Mul(v, v)
    }""",
    # Each user stands in the branch that its rank needs; the second condition is computed again, and the third is the opposite.
    "match": """g (float[1,3,4] x, int64 a) => (float[4,3] z, float[3,4] o) <int64[1] zero = {0}, int64 five = {5}> {
      c = Equal(a, five) d = Equal(a, five) n = Not(c)
      y = """ + SQUEEZE + """
      z = If<then_branch = t2 () => (tb) { tb = Transpose<perm = [1, 0]>(y) },
             else_branch = e2 () => (eb) { et = Transpose<perm = [0, 2, 1]>(y) eb = Squeeze(et, zero) }>(d)
      o = If<then_branch = t3 () => (tc) { tc = Squeeze(y, zero) }, else_branch = e3 () => (ec) { ec = Neg(y) }>(n)
    }""",
    # The program gets the rank that the model declares.
    "declared": "g (float[1,3,4] x, bool c) => (float[N,M] y) <int64[1] zero = {0}> { s = " + SQUEEZE + " y = Abs(s) }",
    "undeclared": "g (float[1,3,4] x, bool c) => (y) <int64[1] zero = {0}> { y = " + SQUEEZE + " }",
    "dead": """g (float[3,4] x, bool c) => (float[3,4] y) <float[5] five = {1, 2, 3, 4, 5}> {
      y = If<then_branch = t () => (a) { a = Add(x, five) }, else_branch = e () => (b) { b = Abs(x) }>(c)
    }""",
    "both": """g (float[3,4] x, bool c) => (float[3,4] y) <float[5] five = {1, 2, 3, 4, 5}> {
      y = If<then_branch = t () => (a) { a = Add(x, five) }, else_branch = e () => (b) { b = Sub(x, five) }>(c)
    }""",
    "known": """g (float[3,4] x) => (float[3,4] y) <float[5] five = {1, 2, 3, 4, 5}, bool c = {0}> {
      y = If<then_branch = t () => (a) { a = Add(x, five) }, else_branch = e () => (b) { b = Abs(x) }>(c)
    }""",
    # Nobody needs what the second and the third node compute.
    "unused": """g (float[3,4] x) => (float[3,4] y) <float[5] five = {1, 2, 3, 4, 5}> {
      y = Abs(x) z = Add(x, five) u = Softsign(z) v = Unique(u) w = Neg(x)
    }""",
    # One branch needs rows of three, and an inner one of it needs two rows.
    "sizes": """g (float[n,k] x, bool c, bool d) => (float[n,m] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}, float[2,2] v = {1, 0, 0, 2}> {
      y = If<then_branch = t () => (a) {
            p = MatMul(x, w)
            a = If<then_branch = t2 () => (ta) { ta = MatMul(v, p) }, else_branch = e2 () => (ea) { ea = Neg(p) }>(d)
          }, else_branch = e () => (b) { b = Abs(x) }>(c)
    }""",
}
failures = 0


def call(folder, name, inputs, *options):
    arguments = ["run", folder / f"{name}.onnx", "--output-dir", folder / "out", *options]
    for key, array in inputs.items():
        np.save(folder / f"{key}.npy", array)
        arguments += ["--input", f"{key}={folder / key}.npy"]
    return kiln_calls.call(*arguments)


def check(condition, what):
    global failures
    failures += not condition
    print(f"{'right' if condition else 'WRONG'}: {what}")


def compare(folder, name, inputs, **expected):
    done = call(folder, name, inputs)
    if done.returncode:
        return check(False, f"{name}: {done.stderr}")
    for output, want in expected.items():
        got = np.load(folder / f"out/{output}.npy")
        check(got.shape == want.shape and np.allclose(got, want, 1e-5, 1e-6), f"{name} {output} {[np.asarray(v).tolist() for k, v in inputs.items() if k != 'x']}")


def refuse(folder, name, inputs, message, *options):
    done = call(folder, name, inputs, *options)
    check(done.returncode == 1 and message in done.stderr, f"{name} is refused: {message}" + ("" if message in done.stderr else f", not {done.stderr}"))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in MODELS.items():
        onnx.save(parser.parse_model(HEAD + text), str(folder / f"{name}.onnx"))
    x = np.random.default_rng(1).standard_normal((1, 3, 4)).astype("f4")
    mismatch, by_run = "dimensions do not fit each other", "depends on a condition that is known only at run time"
    for c in (True, False):
        compare(folder, "tail", {"x": x, "c": np.array(c)}, w=np.maximum(x, 0) ** 2, r=np.maximum(x, 0).sum())
        compare(folder, "match", {"x": x, "a": np.array(5 if c else 4)}, z=x[0].T, o=-x[0] if c else x[0])
    compare(folder, "declared", {"x": x, "c": np.array(True)}, y=abs(x[0]))
    refuse(folder, "declared", {"x": x, "c": np.array(False)}, mismatch)
    refuse(folder, "undeclared", {"x": x, "c": np.array(True)}, "output 'y': its rank " + by_run)
    compare(folder, "dead", {"x": x[0], "c": np.array(False)}, y=abs(x[0]))
    refuse(folder, "dead", {"x": x[0], "c": np.array(True)}, mismatch)
    refuse(folder, "dead", {"x": x[0], "c": np.array(True)}, "no run can have the condition of If that computes 'y' be true: node #0 (Add): shapes do not broadcast", "--strict")
    refuse(folder, "both", {"x": x[0], "c": np.array(True)}, "node #0 (Add): shapes do not broadcast")
    compare(folder, "known", {"x": x[0]}, y=abs(x[0]))
    compare(folder, "unused", {"x": x[0]}, y=abs(x[0]))
    refuse(folder, "unused", {"x": x[0]}, "node #1 (Add): shapes do not broadcast", "--strict")
    w, v = np.array([[1, 2], [3, 4], [5, 6]]), np.diag([1, 2])
    for n, k in ((2, 3), (4, 3), (4, 5)):
        rows = np.arange(n * k, dtype="f4").reshape(n, k) - 3
        for c in (True, False):
            for d in (True, False):
                inputs = {"x": rows, "c": np.array(c), "d": np.array(d)}
                if c and (k != 3 or (d and n != 2)):
                    refuse(folder, "sizes", inputs, mismatch)
                else:
                    compare(folder, "sizes", inputs, y=abs(rows) if not c else v @ (rows @ w) if d else -(rows @ w))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
