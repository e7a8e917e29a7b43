"""If with branches of different shapes, Scan and Loop whose number of steps only run time knows. Compared with NumPy. Usage: control_flow_sizes.py FOLDER"""

import itertools
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
WEIGHT = RANDOM.standard_normal((6, 6)).astype("f4")
BRANCHES = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,6] x, float[M,6] z, bool c, bool[1] d, int64[1] i) => (float[A,B] y, float[A,B] twice, float[E,6] rows, float[F,6] deep, float[P,6] found, float[Q,6] grown) {
  y = If<then_branch = yt () => (float[N,6] a) { a = Relu(x) }, else_branch = ye () => (float[6,M] b) { b = Transpose<perm = [1, 0]>(z) }>(c)
  other = If<then_branch = ot () => (float[N,6] a2) { a2 = Neg(x) }, else_branch = oe () => (float[6,M] b2) { b3 = Transpose<perm = [1, 0]>(z) b2 = Exp(b3) }>(c)
  twice = Add(y, other)
  both = Concat<axis = 0>(x, x)
  rows = If<then_branch = rt () => (float[K,6] e) { e = Identity(both) }, else_branch = re () => (float[1,6] f) { f = Gather<axis = 0>(x, i) }>(d)
  weighed = MatMul(rows, weight)
  deep = If<then_branch = dt () => (float[J,6] u) {
      u = If<then_branch = dtt () => (float[R,6] v) { v = Concat<axis = 0>(weighed, z) }, else_branch = dte () => (float[S,6] w) { w = Softmax(z) }>(d) },
    else_branch = de () => (float[2,6] q) { two = Constant<value = int64[2] {0, 0}>() q = Gather<axis = 0>(x, two) }>(c)
  total = ReduceSum<keepdims = 0>(x, axis1)
  found = If<then_branch = ft () => (float[T,6] k) { zero = Constant<value = float {0.0}>() positive = Greater(total, zero) k = Compress<axis = 0>(x, positive) },
    else_branch = fe () => (float[N,6] l) { l = Identity(x) }>(c)
  three = Constant<value = int64 {3}>()
  grown = Loop<body = b (int64 n, bool going, float[U,6] s) => (bool more, float[V,6] t) {
      t = Concat<axis = 0>(s, z) size = Shape(t) zero2 = Constant<value = int64 {0}>() length = Gather(size, zero2) limit = Constant<value = int64 {7}>() more = Less(length, limit) }>(three, d, x)
}"""
STEPS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,6] x, float[6,K] xt, int64 trips, bool c, float[2] small) => (float[6] sum, float[N,6] sums, float[6,N] columns, float[N] swapped, float[H,6] counted, float[6] last, float[L,6] early, float[6] until, float[6] grid, float[N,N] table, float[N,2] chosen) {
  zeros = Constant<value = float[6] {0, 0, 0, 0, 0, 0}>()
  sum, sums, columns = Scan<num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1], scan_output_axes = [0, -1], scan_output_directions = [1, 0],
    body = s (float[6] state, float[6] row, float[6] column) => (float[6] next, float[6] kept, float[6] kept2) {
      more = Add(state, row) next = Tanh(more) square = Unsqueeze(next, axis0) product = MatMul(square, weight) flat = Squeeze(product, axis0) kept = Add(flat, column) kept2 = Sub(row, column) }>(zeros, x, xt)
  one, two, swapped = Scan<num_scan_inputs = 1, body = w (float[6] a, float[6] b, float[6] row2) => (float[6] a2, float[6] b2, float r) {
      a2 = Identity(b) b2 = Add(a, row2) r = ReduceSum<keepdims = 0>(a) }>(zeros, zeros, x)
  shape = Shape(x)
  length = Gather(shape, place0)
  half = Div(length, place2)
  last, counted = Loop<body = l (int64 n, bool going, float[6] s) => (bool more2, float[6] t, float[6] o) {
      more2 = Identity(going) row3 = Gather<axis = 0>(x, n) t = Add(s, row3) number = Cast<to = 1>(n) o = Mul(t, number) }>(half, , zeros)
  until, early = Loop<body = u (int64 n2, bool going2, float[6] s2) => (bool more3, float[6] t2, float[6] o2) {
      row4 = Gather<axis = 0>(x, n2) t2 = Add(s2, row4) o2 = Neg(t2) top = ReduceSum<keepdims = 0>(t2) limit = Constant<value = float {4.0}>() more3 = Less(top, limit) }>(length, c, zeros)
  grid = Loop<body = o (int64 n3, bool going3, float[6] s3) => (bool more4, float[6] t4) {
      more4 = Identity(going3)
      t4 = Loop<body = oi (int64 n4, bool going4, float[6] s4) => (bool more5, float[6] t5) { more5 = Identity(going4) row5 = Gather<axis = 0>(x, n3) fifth = Constant<value = float {0.2}>() part = Mul(row5, fifth) t5 = Add(s4, part) }>(trips, , s3) }>(length, , zeros)
  table = Scan<num_scan_inputs = 1, body = p (float[6] row6) => (float[N] dots) { tall = Unsqueeze(row6, axis1) wide = MatMul(x, tall) dots = Squeeze(wide, axis1) }>(x)
  chosen = Scan<num_scan_inputs = 1, body = q (float[6] row7) => (float[2] pick) { all = ReduceSum<keepdims = 0>(row7) nothing = Constant<value = float {0.0}>() isMore = Greater(all, nothing)
      pick = If<then_branch = qt () => (float[2] g1) { g1 = Exp(small) }, else_branch = qe () => (float[2] g2) { g2 = Neg(small) }>(isMore) }>(x)
}"""


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def branches(x, z, c, d, i):
    y = np.maximum(x, 0) if c else z.T
    rows = np.concatenate([x, x]) if d else x[i:][:1] if i >= 0 else x[[i]]
    deep = (np.concatenate([rows @ WEIGHT, z]) if d else softmax(z)) if c else x[[0, 0]]
    grown = x
    for _ in range(3 if d else 0):
        grown = np.concatenate([grown, z])
        if not len(grown) < 7:
            break
    return {"y": y, "twice": y + (-x if c else np.exp(z.T)), "rows": rows, "deep": deep, "found": x[x.sum(1) > 0] if c else x, "grown": grown}


def steps(x, trips, c, small):
    n, state, sums, columns = len(x), np.zeros(6), [], []
    for row, column in zip(x, x[::-1]):
        state = np.tanh(state + row)
        sums.insert(0, state @ WEIGHT + column)
        columns.append(row - column)
    a, b, swapped = np.zeros(6), np.zeros(6), []
    for row in x:
        swapped.append(a.sum())
        a, b = b, a + row
    totals = np.cumsum(x, 0)
    last = totals[n // 2 - 1] if n // 2 else np.zeros(6)
    until, early = np.zeros(6), []
    for row in x if c else []:
        until = until + row
        early.append(-until)
        if not until.sum() < 4:
            break
    return {"sum": state, "sums": np.reshape(sums, (n, 6)), "columns": np.reshape(columns, (n, 6)).T, "swapped": np.array(swapped), "last": last,
            "counted": totals[:n // 2] * np.arange(n // 2)[:, None], "until": until, "early": np.reshape(early, (-1, 6)), "grid": max(trips, 0) * x.sum(0) * 0.2,
            "table": x @ x.T, "chosen": np.where(x.sum(1, keepdims=True) > 0, np.exp(small), -small)}


def check(model, inputs, want):
    one, two = model.run(inputs, 1), model.run(inputs, 2)
    for (name, array), (_, again) in zip(one, two):
        assert array.tobytes() == again.tobytes(), name
        np.testing.assert_allclose(array, want[name], 1e-4, 1e-4, err_msg=name)


def check_all(name, text, cases, refused, fill, sizes):
    """Compiles a model and runs it: `cases` has inputs and results, `refused` inputs that end the run with a status."""
    proto = parser.parse_model(text)
    constants = {"weight": WEIGHT, "axis0": np.array([0]), "axis1": np.array([1]), "place0": np.array(0), "place2": np.array(2)}
    used = {value for node in proto.graph.node for value in [*node.input, *(inner for a in node.attribute for part in a.g.node for inner in part.input)]}
    proto.graph.initializer.extend(numpy_helper.from_array(array, key) for key, array in constants.items() if key in used)
    path = FOLDER / f"{name}.onnx"
    onnx.save(proto, str(path))
    path.with_suffix(".json").write_text(json.dumps({name: {"file": path.name, "dims": sizes(5), "fill": fill, "sizes": [sizes(n) for n in range(1, 9)]}}))
    (FOLDER / f"out_{name}").mkdir()
    model, right, wrong = library.Library(path, sys.argv[2:], FOLDER / f"out_{name}"), 0, 0
    for inputs, want in cases:
        check(model, inputs, want)
        right += 1
    for inputs in refused:
        try:
            model.run(inputs, 1)
        except RuntimeError as error:
            assert "status" in str(error), error
            wrong += 1
    print(f"{name}: {right} right, {wrong} refused")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    make = lambda *shape: RANDOM.standard_normal(shape).astype("f4")
    cases, refused = [], []
    for (n, m), c, d in itertools.product(((5, 3), (1, 4), (300, 2), (2, 9)), (False, True), (False, True)):
        x, z = make(n, 6), make(m, 6)
        inputs = {"x": x, "z": z, "c": np.array(c), "d": np.array([d]), "i": np.array([-1])}
        cases.append((inputs, branches(x, z, c, d, -1)))
        if n == 5:
            refused.append({**inputs, "i": np.array([5])})
    # The index is looked at in one branch alone.
    refused = [inputs for inputs in refused if not inputs["d"][0]]
    check_all("branches", BRANCHES, cases, refused, {"c": "randint:0:2", "d": "randint:0:2", "i": "0"}, lambda n: {"N": n, "M": 3})
    cases = []
    for n, trips, c in itertools.product((1, 2, 7, 70, 300), (0, 1, 3), (False, True)):
        x, small = make(n, 6) / 8, make(2)
        inputs = {"x": x, "xt": np.ascontiguousarray(x.T), "trips": np.array(trips), "c": np.array(c), "small": small}
        cases.append((inputs, steps(x, trips, c, small)))
    wrong = {**cases[0][0], "x": make(4, 6), "xt": make(6, 3)}
    check_all("steps", STEPS, cases, [wrong], {"trips": "randint:0:4", "c": "randint:0:2"}, lambda n: {"N": n, "K": n})


main()
