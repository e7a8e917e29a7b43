#!/usr/bin/env python3
"""Runs recurrent layers of all kinds with `kiln run` and compares with NumPy in double precision: recurrent.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import DTYPES, Model, describe_difference, kiln

RANDOM = np.random.RandomState(5)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
BOUNDS = {"f4": (2e-5, 2e-6), "f8": (1e-9, 1e-10), "f2": (2e-2, 2e-3)}
FUNCTIONS = {"Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Tanh": np.tanh, "Relu": lambda x: np.maximum(x, 0), "HardSigmoid": lambda x: np.clip(x * 0.2 + 0.5, 0, 1),
             "Softsign": lambda x: x / (1 + abs(x)), "Softplus": lambda x: np.log1p(np.exp(x)), "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
             "LeakyRelu": lambda x: np.where(x < 0, x * 0.01, x), "ThresholdedRelu": lambda x: np.where(x > 1, x, 0)}
DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}

# operator, hidden, batch, steps, and what is set: names of attributes with values, and `lengths`, `bias`, `states`, `peephole`, `inputs` (weights that
# are inputs of the model), `dtype`
CASES = [
    ("LSTM", 32, 1, 5, dict(direction="bidirectional", bias=True)),
    ("LSTM", 20, 5, 6, dict(direction="bidirectional", bias=True, lengths=[6, 1, 4, 0, 3], states=True, peephole=True)),
    ("LSTM", 7, 3, 4, dict(direction="reverse", lengths=[2, 4, 9], clip=0.3)),
    ("LSTM", 33, 2, 3, dict(layout=1, bias=True, states=True, input_forget=1)),
    ("LSTM", 16, 9, 4, dict(direction="bidirectional", states=True, activations=["HardSigmoid", "Softsign", "Elu", "Sigmoid", "Relu", "Tanh"])),
    ("LSTM", 20, 3, 3, dict(direction="bidirectional", bias=True, inputs=True, lengths=[1, 3, 2])),
    ("LSTM", 9, 2, 3, dict(direction="reverse", dtype="f8", peephole=True)),
    ("LSTM", 9, 2, 3, dict(dtype="f2", bias=True)),
    ("LSTM", 2, 1, 1, dict()),
    ("GRU", 32, 1, 5, dict(direction="bidirectional", bias=True, linear_before_reset=1)),
    ("GRU", 36, 7, 4, dict(direction="bidirectional", bias=True, lengths=[4, 3, 2, 1, 4, 0, 2], states=True)),
    ("GRU", 18, 4, 3, dict(layout=1, direction="bidirectional", bias=True, linear_before_reset=1, states=True, clip=0.5)),
    ("GRU", 5, 3, 4, dict(direction="reverse", lengths=[1, 4, 2], bias=True, linear_before_reset=1, inputs=True)),
    ("GRU", 24, 2, 3, dict(activations=["LeakyRelu", "ThresholdedRelu"], clip=2.0)),
    ("RNN", 48, 1, 6, dict(bias=True)),
    ("RNN", 21, 19, 5, dict(direction="bidirectional", bias=True, states=True, lengths=[5, 2, 1, 4, 3] * 3 + [5, 0, 1, 2], clip=0.7)),
    ("RNN", 10, 2, 4, dict(direction="bidirectional", layout=1, activations=["Relu", "Softplus"], states=True)),
    ("RNN", 6, 3, 2, dict(inputs=True, direction="reverse")),
]
# Batch and steps at run time, all of one compiled module.
DYNAMIC = [(1, 1), (1, 7), (4, 3), (6, 5), (2, 0), (17, 2)]


def walk(op, gates, r, rb, p, h, c, functions, options):
    """The states of one batch row and direction for gates [steps, gates * hidden]."""
    size = h.size
    f, g, last = (functions + functions[-1:] * 2)[:3]
    clip = (lambda x: np.clip(x, -options["clip"], options["clip"])) if "clip" in options else (lambda x: x)
    act = lambda function, x: FUNCTIONS[function](clip(x))
    states = []
    for x in gates:
        parts = [x[n * size:(n + 1) * size] for n in range(GATES[op])]
        product = [r[n * size:(n + 1) * size] @ h for n in range(GATES[op])]
        bias = [rb[n * size:(n + 1) * size] for n in range(GATES[op])]
        if op == "RNN":
            h = act(f, parts[0] + product[0] + bias[0])
        elif op == "GRU":
            z, reset = act(f, parts[0] + product[0] + bias[0]), act(f, parts[1] + product[1] + bias[1])
            inner = reset * (product[2] + bias[2]) if options.get("linear_before_reset") else r[2 * size:] @ (reset * h) + bias[2]
            h = (1 - z) * act(g, parts[2] + inner) + z * h
        else:
            sums = [a + b + d for a, b, d in zip(parts, product, bias)]
            i = act(f, sums[0] + p[:size] * c)
            forget = 1 - i if options.get("input_forget") else act(f, sums[2] + p[2 * size:] * c)
            c = forget * c + i * act(g, sums[3])
            h = act(f, sums[1] + p[size:2 * size] * c) * FUNCTIONS[last](c)
        states.append(h)
    return states, h, c


def reference(op, arrays, options):
    """Y, Y_h and Y_c in double precision, from arrays by the names of the standard."""
    x, w, r, b, lengths, h0, c0, p = (arrays[name] for name in ("X", "W", "R", "B", "lengths", "h", "c", "P"))
    if options.get("layout"):
        x, h0, c0 = (np.swapaxes(array, 0, 1) for array in (x, h0, c0))
    (steps, batch, _), (directions, _, hidden) = x.shape, r.shape
    y, yh, yc = np.zeros((steps, directions, batch, hidden)), np.zeros((directions, batch, hidden)), np.zeros((directions, batch, hidden))
    each = len(DEFAULTS[op])
    for d in range(directions):
        functions = options.get("activations", DEFAULTS[op] * directions)[d * each:(d + 1) * each]
        for row in range(batch):
            count = min(lengths[row], steps)
            times = np.arange(count)[::-1] if d == 1 or options.get("direction") == "reverse" else np.arange(count)
            gates = x[times, row] @ w[d].T + b[d, :w.shape[1]]
            states, yh[d, row], yc[d, row] = walk(op, gates, r[d], b[d, w.shape[1]:], p[d], h0[d, row], c0[d, row], functions, options)
            for t, state in zip(times, states):
                y[t, d, row] = state
    if options.get("layout"):
        y, yh, yc = y.transpose(2, 0, 1, 3), np.swapaxes(yh, 0, 1), np.swapaxes(yc, 0, 1)
    return [y, yh, yc][:3 if op == "LSTM" else 2]


def make_arrays(op, hidden, batch, steps, options, features=3):
    directions, rows = 2 if options.get("direction") == "bidirectional" else 1, GATES[op] * hidden
    normal = lambda *shape: RANDOM.standard_normal(shape).astype(options.get("dtype", "f4")).astype("f8")
    maybe = lambda name, *shape: normal(*shape) if options.get(name) else np.zeros(shape)
    state = (batch, directions, hidden) if options.get("layout") else (directions, batch, hidden)
    return {"X": normal(*((batch, steps, features) if options.get("layout") else (steps, batch, features))), "W": normal(directions, rows, features),
            "R": (normal(directions, rows, hidden) * 0.25), "B": maybe("bias", directions, 2 * rows),
            "lengths": np.array(options.get("lengths", [steps] * batch), "i4"), "h": maybe("states", *state), "c": maybe("states", *state),
            "P": maybe("peephole", directions, 3 * hidden)}


def add(model, op, arrays, options, symbols=None):
    """One layer; `symbols` are the names of batch and steps, or None."""
    dtype = options.get("dtype", "f4")
    arrays["R"] = arrays["R"].astype(dtype).astype("f8")
    weight = model.input if options.get("inputs") else model.weight
    dims = lambda *order: [symbols[key] if key in ("b", "t") else key for key in order] if symbols else None
    inputs = [model.input(arrays["X"], dtype, dims("t", "b", 3)), weight(arrays["W"], dtype), weight(arrays["R"], dtype)]
    inputs += [weight(arrays["B"], dtype) if options.get("bias") else ""]
    inputs += [model.input(arrays["lengths"], "i4", dims("b")) if "lengths" in options else ""]
    states = [model.input(arrays[name], dtype, dims(arrays[name].shape[0], "b", arrays[name].shape[2])) if options.get("states") else "" for name in "hc"]
    inputs += states[:2 if op == "LSTM" else 1]
    if options.get("peephole"):
        inputs += [weight(arrays["P"], dtype)]
    attributes = {key: value for key, value in options.items() if key not in ("lengths", "bias", "states", "peephole", "inputs", "dtype")}
    expected = reference(op, arrays, options)
    names = [f"{op.lower()}_{len(model.nodes)}_{part}" for part in "yhc"[:len(expected)]]
    model.nodes.append(helper.make_node(op, inputs, names, names[0], hidden_size=arrays["R"].shape[2], **attributes))
    for name, exact in zip(names, expected):
        model.outputs.append(helper.make_tensor_value_info(name, DTYPES[dtype], None if symbols else exact.shape))
        model.expected[name] = exact, dtype


def check(model, folder, what):
    for name, (exact, dtype) in model.expected.items():
        difference = describe_difference(np.load(folder / f"{name}.npy"), exact, dtype, BOUNDS)
        if difference:
            sys.exit(f"{what}, {name}: {difference}")


def run_dynamic(folder, target, sizes):
    for batch, steps in sizes:
        model = Model()
        global RANDOM
        RANDOM = np.random.RandomState(6)  # the same weights for all sizes, so that one compile serves them
        layers = []
        for op, hidden, options in [("LSTM", 20, dict(direction="bidirectional", bias=True)), ("RNN", 12, dict(direction="bidirectional", states=True)),
                                    ("GRU", 17, dict(direction="reverse", linear_before_reset=1, bias=True))]:
            for lengths in (False, True):
                layers.append((op, make_arrays(op, hidden, 1, 1, options), dict(options, lengths=True) if lengths else options))
        for op, arrays, options in layers:
            random, directions = np.random.RandomState(batch * 100 + steps), arrays["R"].shape[0]
            state = (directions, batch, arrays["R"].shape[2])
            arrays["X"] = random.standard_normal((steps, batch, 3)).astype("f4").astype("f8")
            arrays["lengths"] = random.randint(0, steps + 1, batch) if "lengths" in options else np.full(batch, steps)
            for name in "hc":
                arrays[name] = random.standard_normal(state).astype("f4").astype("f8") if options.get("states") else np.zeros(state)
            add(model, op, arrays, options, {"b": "batch", "t": "steps"})
        model.save(folder / "dynamic.onnx", 22)
        kiln("run", folder / "dynamic.onnx", "--target", target, "--output-dir", folder / "out", *model.save_inputs(folder))
        check(model, folder / "out", f"target {target}, batch {batch}, {steps} steps")


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    (folder / "dynamic").mkdir()
    model = Model()
    for op, hidden, batch, steps, options in CASES:
        add(model, op, make_arrays(op, hidden, batch, steps, options), options)
    model.save(folder / "static.onnx", 22)
    inputs = model.save_inputs(folder)
    for i, target in enumerate(targets):
        for threads in (1, 2):
            kiln("run", folder / "static.onnx", "--target", target, "--threads", threads, "--output-dir", folder / f"out{threads}", *inputs)
        check(model, folder / "out1", f"target {target}")
        for name in model.expected:
            assert (folder / f"out1/{name}.npy").read_bytes() == (folder / f"out2/{name}.npy").read_bytes(), f"{name} differs on two threads"
        # Each compile takes time: the targets share the sizes.
        run_dynamic(folder / "dynamic", target, DYNAMIC[i::len(targets)])
    print(f"{len(CASES)} layers and {len(DYNAMIC)} dynamic sizes right on {len(targets)} targets")


if __name__ == "__main__":
    main()
