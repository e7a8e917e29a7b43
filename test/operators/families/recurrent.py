"""RNN, GRU and LSTM."""

import numpy as np
from cases import Expected, Tensor, operator
from floats import floats

FUNCTIONS = {
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Tanh": np.tanh, "Relu": lambda x: np.maximum(x, 0), "Softsign": lambda x: x / (1 + abs(x)),
    "Softplus": lambda x: np.logaddexp(0, x), "HardSigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1), "Elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "LeakyRelu": lambda x: np.where(x > 0, x, 0.01 * x),
}

#: With numbers of their own, which activations take from the two lists in turn.
NUMBERED = {
    "HardSigmoid": (2, lambda a, b: lambda x: np.clip(a * x + b, 0, 1)), "Elu": (1, lambda a, b: lambda x: np.where(x > 0, x, a * np.expm1(x))),
    "LeakyRelu": (1, lambda a, b: lambda x: np.where(x > 0, x, a * x)), "Affine": (2, lambda a, b: lambda x: a * x + b),
    "ScaledTanh": (2, lambda a, b: lambda x: a * np.tanh(b * x)),
}

BOUNDED = ["Sigmoid", "Tanh", "Softsign", "HardSigmoid"]


class Layer:
    """The inputs of a layer with `gates` gates, and what its steps share."""

    def __init__(self, g, gates, defaults):
        self.g, self.gates = g, gates
        self.steps, self.batch, self.width, self.hidden = g.integer(1, 6), g.integer(1, 4), g.integer(1, 9), g.pick([1, 2, 3, 5, 8, 16, 17])
        self.direction = g.pick(["forward", "reverse", "bidirectional"])
        self.directions = 2 if self.direction == "bidirectional" else 1
        self.batch_first = g.opset >= 14 and g.chance(0.3)
        draw = lambda *shape: Tensor((g.values(g.type, shape, "normal") * np.array(0.5, g.values(g.type, (), "normal").dtype)), g.type, None)
        self.x = draw(*self.first(self.batch, self.steps), self.width)
        self.w, self.r = draw(self.directions, gates * self.hidden, self.width), draw(self.directions, gates * self.hidden, self.hidden)
        self.b = draw(self.directions, 2 * gates * self.hidden) if g.chance(0.6) else None
        self.lengths = Tensor(g.random.integers(1, self.steps + 1, self.batch).astype("i4"), "i32") if g.chance(0.4) else None
        state = (self.batch, self.directions, self.hidden) if self.batch_first else (self.directions, self.batch, self.hidden)
        self.h = draw(*state) if g.chance(0.5) else None
        self.c = draw(*state) if gates == 4 and g.chance(0.5) else None
        self.p = draw(self.directions, 3 * self.hidden) if gates == 4 and g.chance(0.4) else None
        for tensor in (self.w, self.r, self.b, self.p):
            if tensor:
                tensor.constant = g.chance(0.8) or None
        # A state that is not bounded is squared in each step, by way of its gates: after a few, f32 overflows where the reference does not.
        functions = list(FUNCTIONS) if self.steps <= 3 else BOUNDED
        self.names = [[g.pick(functions) for _ in defaults] if g.chance(0.35) else list(defaults)] * self.directions
        if self.directions == 2 and g.chance(0.2):
            self.names = [[g.pick(functions) for _ in defaults] for _ in range(2)]
        self.functions = [[FUNCTIONS[name] for name in names] for names in self.names]
        self.alphas, self.betas = [], []
        if g.chance(0.2):
            self.draw_numbers(len(defaults))
        self.clip = float(np.float32(g.pick([0.5, 1.0]))) if g.chance(0.25) else None
        self.attributes = {"hidden_size": self.hidden, "direction": self.direction if self.direction != "forward" or g.chance(0.5) else None,
                           "layout": 1 if self.batch_first else None, "clip": self.clip}
        if self.names != [list(defaults)] * self.directions or g.chance(0.3):
            self.attributes["activations"] = sum(self.names, [])
        self.attributes.update(activation_alpha=self.alphas or None, activation_beta=self.betas or None)

    def draw_numbers(self, count):
        """Activations that all have numbers, and these."""
        self.names = [[self.g.pick(list(NUMBERED)) for _ in range(count)] for _ in range(self.directions)]
        self.functions = []
        for names in self.names:
            self.functions.append([])
            for name in names:
                numbers, make = NUMBERED[name]
                alpha, beta = (float(np.float32(self.g.random.uniform(0.1, 0.6))) for _ in range(2))
                self.alphas.append(alpha)
                self.betas += [beta] * (numbers - 1)
                self.functions[-1].append(make(np.longdouble(alpha), np.longdouble(beta)))

    def first(self, batch, steps):
        return (batch, steps) if self.batch_first else (steps, batch)

    def swap_batch_to_steps(self):
        """The layer with its steps first, whatever was drawn."""
        if not self.batch_first:
            return
        self.batch_first, self.attributes["layout"] = False, None
        for tensor in (self.x, self.h, self.c):
            if tensor:
                tensor.array = tensor.array.swapaxes(0, 1).copy()

    def cut(self, x):
        return x if self.clip is None else np.clip(x, -self.clip, self.clip)

    def run(self, step):
        """Each direction's steps; step(d, x, h, c) gives the next h and c."""
        x = self.x.wide.swapaxes(0, 1) if self.batch_first else self.x.wide
        y = np.zeros((self.steps, self.directions, self.batch, self.hidden), np.longdouble)
        last_h, last_c = (np.zeros((self.directions, self.batch, self.hidden), np.longdouble) for _ in range(2))
        for d in range(self.directions):
            backwards = self.direction == "reverse" or d == 1
            for b in range(self.batch):
                h, c = (self.state(state, d, b) for state in (self.h, self.c))
                length = int(self.lengths.array[b]) if self.lengths else self.steps
                for t in range(length - 1, -1, -1) if backwards else range(length):
                    h, c = step(d, x[t, b], h, c)
                    y[t, d, b] = h
                last_h[d, b], last_c[d, b] = h, c
        if self.batch_first:
            return y.transpose(2, 0, 1, 3), last_h.swapaxes(0, 1), last_c.swapaxes(0, 1)
        return y, last_h, last_c

    def state(self, tensor, d, b):
        if tensor is None:
            return np.zeros(self.hidden, np.longdouble)
        return tensor.wide[b, d] if self.batch_first else tensor.wide[d, b]

    def parts(self, d):
        """W, R and the two biases, for each gate."""
        bias = self.b.wide[d] if self.b else np.zeros(2 * self.gates * self.hidden, np.longdouble)
        apart = lambda m: m.reshape(self.gates, self.hidden, *m.shape[1:])
        return apart(self.w.wide[d]), apart(self.r.wide[d]), *bias.reshape(2, self.gates, self.hidden)

    def case(self, *outputs):
        inputs = [self.x, self.w, self.r, self.b, self.lengths, self.h] + ([self.c, self.p] if self.gates == 4 else [])
        while inputs[-1] is None:
            inputs.pop()
        # Gates that are not bounded let errors of earlier steps grow.
        bounded = not self.alphas and set(BOUNDED) >= {name for names in self.names for name in names}
        room = {"f64": 1e-12, "f32": 3e-6, "f16": 6e-3, "bf16": 5e-2}[self.g.type] * (1 + self.steps) * (1 if bounded else 20)
        expected = [Expected(value, self.g.type, 2, room * (1 + abs(value))) for value in outputs]
        return self.g.case(inputs, *expected, **self.attributes)


@operator("RNN", types=floats(22), since=7, weight=2)
def rnn(g):
    layer = Layer(g, 1, ["Tanh"])

    def step(d, x, h, c):
        w, r, wb, rb = layer.parts(d)
        return layer.functions[d][0](layer.cut(w[0] @ x + r[0] @ h + wb[0] + rb[0])), c

    return layer.case(*layer.run(step)[:2])


@operator("GRU", types=floats(22), since=7, weight=3)
def gru(g):
    layer = Layer(g, 3, ["Sigmoid", "Tanh"])
    linear = g.chance(0.5)
    layer.attributes["linear_before_reset"] = int(linear) if linear or g.chance(0.3) else None

    def step(d, x, h, c):
        (wz, wr, wh), (rz, rr, rh), (bz, br, bh), (cz, cr, ch) = layer.parts(d)
        f, other = layer.functions[d]
        z, r = f(layer.cut(wz @ x + rz @ h + bz + cz)), f(layer.cut(wr @ x + rr @ h + br + cr))
        new = wh @ x + r * (rh @ h + ch) + bh if linear else wh @ x + rh @ (r * h) + ch + bh
        new = other(layer.cut(new))
        return (1 - z) * new + z * h, c

    return layer.case(*layer.run(step)[:2])


def run_lstm(layer, coupled):
    """What the layer gives: the states of all steps, and the last ones."""

    def step(d, x, h, c):
        w, r, wb, rb = layer.parts(d)
        f, inner, outer = layer.functions[d]
        pi, po, pf = layer.p.wide[d].reshape(3, -1) if layer.p else np.zeros((3, layer.hidden))
        i, o, keep, new = (w[k] @ x + r[k] @ h + wb[k] + rb[k] for k in range(4))
        i = f(layer.cut(i + pi * c))
        keep = 1 - i if coupled else f(layer.cut(keep + pf * c))
        c = keep * c + i * inner(layer.cut(new))
        return f(layer.cut(o + po * c)) * outer(c), c

    return layer.run(step)


@operator("LSTM", types=floats(22), since=7, weight=3)
def lstm(g):
    layer = Layer(g, 4, ["Sigmoid", "Tanh", "Tanh"])
    coupled = g.chance(0.2)
    layer.attributes["input_forget"] = 1 if coupled else None
    return layer.case(*run_lstm(layer, coupled))


def round_to_bytes(x):
    """Numbers of f32 as bytes with the scale that makes the most of their range: (codes without the zero point, scale, how close one comes to a tie)."""
    low, high = np.minimum(x.min(), np.float32(0)), np.maximum(x.max(), np.float32(0))
    scale = (high - low) / np.float32(255) or np.float32(1)
    zero, steps = np.rint(np.clip(-low / scale, 0, 255)), x / scale
    return np.clip(np.rint(steps) + zero, 0, 255) - zero, np.longdouble(scale), abs(abs(steps - np.floor(steps)) - 0.5).min()


class QuantizedLayer:
    """An LSTM whose left sides are rounded to bytes: X at once, and in each step the hidden states of the batch."""

    def __init__(self, layer, w, r):
        self.layer, self.w, self.r = layer, w, r
        #: How close a state comes to where rounding turns.
        self.margin = 1.0

    def multiply(self, rows, weight, d):
        codes, scale, zero = (tensor.array[d] for tensor in weight)
        left, step, margin = round_to_bytes(rows.astype("f4"))
        return left @ (codes.astype("i8") - zero.astype("i8")) * (step * scale.astype(np.longdouble)), margin

    def step(self, d, sums, c):
        layer, (f, inner, outer) = self.layer, self.layer.functions[d]
        i, o, keep, new = np.split(sums, 4, -1)
        pi, po, pf = layer.p.wide[d].reshape(3, -1) if layer.p else np.zeros((3, layer.hidden))
        i, keep = f(layer.cut(i + pi * c)), f(layer.cut(keep + pf * c))
        c = keep * c + i * inner(layer.cut(new))
        return f(layer.cut(o + po * c)) * outer(c), c

    def run_direction(self, d):
        layer, batch = self.layer, np.arange(self.layer.batch)
        lengths = layer.lengths.array if layer.lengths else np.full(layer.batch, layer.steps)
        backwards = layer.direction == "reverse" or d == 1
        x = layer.x.array[: lengths.max()]
        gates, _ = self.multiply(x.reshape(-1, layer.width), self.w, d)
        bias = layer.b.wide[d].reshape(2, -1).sum(0) if layer.b else 0
        gates = gates.reshape(len(x), layer.batch, -1) + bias
        h, c = (np.stack([layer.state(state, d, b) for b in batch]) for state in (layer.h, layer.c))
        y, last = np.zeros((layer.steps, layer.batch, layer.hidden), np.longdouble), np.zeros_like(h)
        for t in range(len(x)):
            times = np.where(t < lengths, lengths - 1 - t, t) if backwards else np.full(layer.batch, t)
            product, margin = self.multiply(h, self.r, d)
            self.margin = min(self.margin, margin)
            active = (t < lengths)[:, None]
            new, cell = self.step(d, gates[times, batch] + product, c)
            h, c, last = np.where(active, new, 0), np.where(active, cell, c), np.where(active, new, last)
            y[times, batch] = np.where(active, h, y[times, batch])
        return y, last, c

    def run(self):
        return [np.stack(parts, axis) for parts, axis in zip(zip(*map(self.run_direction, range(self.layer.directions))), (1, 0, 0))]


@operator("DynamicQuantizeLSTM", types=["f32"], since=7, domain="com.microsoft", weight=2)
def dynamic_quantize_lstm(g):
    layer = Layer(g, 4, ["Sigmoid", "Tanh", "Tanh"])
    layer.swap_batch_to_steps()
    more, unsigned = [], g.chance(0.5)
    for weight in (layer.w, layer.r):
        # One scale for each direction, or one for each of its rows, which are columns of the bytes.
        rows = g.chance(0.5)
        scale = (abs(weight.array).max((1, 2) if not rows else 2) / 100 + 0.001).astype("f4")
        zero = np.full(scale.shape, 128 if unsigned else 0, "u1" if unsigned else "i1")
        spread = lambda x: x.reshape(x.shape[0], -1, 1)
        codes = np.rint(weight.array / spread(scale)).astype("i4") + spread(zero).astype("i4")
        kind = "u8" if unsigned else "i8"
        more.append((Tensor(codes.astype(zero.dtype).swapaxes(1, 2).copy(), kind, True), Tensor(scale, "f32", True), Tensor(zero, kind, True)))
    quantized = QuantizedLayer(layer, *more)
    case = layer.case(*quantized.run())
    if quantized.margin < 2e-4:
        # f32 may round that state to the byte beside it.
        for output in case.outputs:
            output.slack = output.slack + 0.02 * (1 + layer.steps)
    (w, w_scale, w_zero), (r, r_scale, r_zero) = more
    inputs = [*case.inputs, *[None] * (8 - len(case.inputs))]
    case.inputs = [inputs[0], w, r, *inputs[3:8], w_scale, w_zero, r_scale, r_zero]
    return case
