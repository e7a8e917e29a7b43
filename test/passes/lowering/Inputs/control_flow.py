"""If and Loop with conditions of run time: both branches, nested, with values from around them. Compared with NumPy. Usage: control_flow.py FOLDER"""

import json
import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper, parser

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "end-to-end"))
import library

FOLDER = pathlib.Path(sys.argv[1])
RANDOM = np.random.RandomState(7)
WEIGHT, TABLE = RANDOM.standard_normal((48, 48)).astype("f4"), RANDOM.standard_normal((5, 48)).astype("f4")
# `product` is needed by one branch alone, `h` by all and afterwards, `part` by the end and by a branch that would like
# it in the place where the other one writes; the index is checked only where the branch is taken.
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[ROWS,48] x, bool[1] c, bool[1] d, int64[1] i) => (float[ROWS,48] y, float[ROWS,48] z, float[ROWS,48] out, float[ROWS,48] same, float[ROWS,48] sign, float[ROWS,96] wide, float[ROWS,48] deep, float[ROWS,48] power, float[0,ROWS,48] none) {
  h = Relu(x)
  product = MatMul(x, weight)
  y, z = If<then_branch = t () => (float[ROWS,48] y1, float[ROWS,48] z1) {
      sum = Add(product, h)
      row = Gather<axis = 0>(table, i)
      y1 = Add(sum, row)
      z1 = If<then_branch = tt () => (float[ROWS,48] a) { two = Constant<value = float {2.0}>() a = Mul(y1, two) },
              else_branch = te () => (float[ROWS,48] b) { row2 = Gather<axis = 0>(table, i) n = Softmax(h) b = Sub(row2, n) }>(d) },
    else_branch = e () => (float[ROWS,48] y2, float[ROWS,48] z2) { y2 = Identity(x) z2 = If<then_branch = et () => (float[ROWS,48] p) { p = MatMul(h, weight) },
              else_branch = ee () => (float[ROWS,48] q) { row3 = Gather<axis = 0>(table, i) q = Add(product, row3) }>(d) }>(c)
  out = Add(y, h)
  same = If<then_branch = st () => (float[ROWS,48] u) { u = Identity(x) }, else_branch = se () => (float[ROWS,48] v) { v = Identity(x) }>(c)
  total = ReduceSum<keepdims = 0>(z)
  zero = Constant<value = float {0.0}>()
  positive = Greater(total, zero)
  sign = If<then_branch = pt () => (float[ROWS,48] r) { r = MatMul(z, weight) }, else_branch = pe () => (float[ROWS,48] s) { s = Softmax(z) }>(positive)
  part = MatMul(h, weight)
  wide = If<then_branch = wt () => (float[ROWS,96] o) { o = Concat<axis = 1>(part, x) },
            else_branch = we () => (float[ROWS,96] o2) { o1 = Concat<axis = 1>(x, x) o2 = Exp(o1) }>(c)
  start = Constant<value = int64[1] {0}>()
  end = Constant<value = int64[1] {48}>()
  axis = Constant<value = int64[1] {1}>()
  cut = Slice(wide, start, end, axis)
  deep = Add(part, cut)
  ten = Constant<value = int64 {10}>()
  never = Constant<value = int64 {0}>()
  power = Loop<body = l (int64 k, bool going, float[ROWS,48] s) => (bool more, float[ROWS,48] t) {
      t = Add(s, s) top = ReduceMax<keepdims = 0>(t) limit = Constant<value = float {50.0}>() more = Less(top, limit) }>(ten, d, x)
  last, none = Loop<body = n (int64 k, bool going, float[ROWS,48] s) => (bool more, float[ROWS,48] t, float[ROWS,48] o) {
      t = Neg(s) o = Exp(s) more = Identity(going) }>(never, , x)
}"""


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def reference(x, c, d, i):
    h, product = np.maximum(x, 0), x @ WEIGHT
    y = product + h + TABLE[i] if c else x
    z = (2 * y if d else TABLE[i] - softmax(h)) if c else (h @ WEIGHT if d else product + TABLE[i])
    wide = np.concatenate([h @ WEIGHT, x], 1) if c else np.exp(np.concatenate([x, x], 1))
    power = x
    for _ in range(10 if d else 0):
        power = power + power
        if not power.max() < 50:
            break
    return {"power": power, "none": np.zeros((0, *x.shape)), "y": y, "z": z, "out": y + h, "same": x, "sign": z @ WEIGHT if z.sum() > 0 else softmax(z), "wide": wide, "deep": h @ WEIGHT + wide[:, :48]}


def check(model, x, c, d, i):
    """Whether the index is read at all decides whether a wrong one is a fault."""
    inputs = {"x": x, "c": np.array([c]), "d": np.array([d]), "i": np.array([i], "i8")}
    if not -5 <= i < 5 and (c or not d):
        try:
            model.run(inputs, 1)
        except RuntimeError as error:
            return "refused" if "status" in str(error) else "other error"
        return "wrong index taken"
    one, two = model.run(inputs, 1), model.run(inputs, 2)
    want = reference(x, c, d, min(max(i, -5), 4))
    for (name, array), (_, again) in zip(one, two):
        assert array.tobytes() == again.tobytes(), name
        np.testing.assert_allclose(array, want[name], 1e-4, 1e-4, err_msg=f"{name} {c} {d} {i}")
    return "right"


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for rows in ("37", "n"):
        proto = parser.parse_model(TEXT.replace("ROWS", rows))
        proto.graph.initializer.extend([numpy_helper.from_array(WEIGHT, "weight"), numpy_helper.from_array(TABLE, "table")])
        path = FOLDER / f"{rows}.onnx"
        onnx.save(proto, str(path))
        entry = {"file": path.name, "dims": {"n": 11}, "fill": {"c": "randint:0:2", "d": "randint:0:2", "i": "randint:0:5"}, "sizes": [{"n": n} for n in range(1, 9)]}
        path.with_suffix(".json").write_text(json.dumps({"control": entry}))
        (FOLDER / f"out_{rows}").mkdir(exist_ok=True)
        model = library.Library(path, sys.argv[2:], FOLDER / f"out_{rows}")
        results = {}
        for size in (37,) if rows == "37" else (1, 37, 600):
            x = RANDOM.standard_normal((size, 48)).astype("f4")
            for c in (False, True):
                for d in (False, True):
                    for i in (0, -1, 9):
                        result = check(model, x, c, d, i)
                        results[result] = results.get(result, 0) + 1
        print(rows, results)


main()
