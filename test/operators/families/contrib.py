"""Operators of com.microsoft, from the formulas of ONNX Runtime's ContribOperators.md."""

import numpy as np
import movement
import places
import sampling
from attention import softmax
from cases import Expected, Tensor, operator
from convolution import convolve, draw_channels
from floats import accumulated, epsilon, rounded, unit
from functions import erfc
from normalization import normalized, scaled, small_number
from activation import number, sigmoid, softplus
from products import length
from windows import Window, spatial_sizes

DOMAIN = "com.microsoft"
HALVES = ["f32", "f32", "f16"]


def with_bf16(opset):
    """ONNX's own operators around a case take it from opset 13 on."""
    return HALVES + ["bf16"] * (opset >= 13)


# Steps of the result, and of its argument, whose rounding its slope passes on.
ULPS = {"f32": 4, "other": 1}


def contrib(*names, types=HALVES, weight=1):
    return operator(*names, types=types, since=7, domain=DOMAIN, weight=weight)


def gelu(x):
    return x * erfc(-x / np.sqrt(np.longdouble(2))) / 2


def fast_gelu(x):
    return x * sigmoid(2 * np.sqrt(2 / np.arccos(np.longdouble(-1))) * (x + np.longdouble("0.044715") * x**3))


def smooth(g, exact, size, slope=1.3):
    """An activation's value: its argument is off by a rounding of `size`, and its tail by that of an exponent."""
    return Expected(exact, g.type, ULPS, size * slope * unit(g.type) * 2 + abs(exact) * 2.0**-24 * 200)


@contrib("Gelu", types=lambda opset: [*with_bf16(opset), "f64"])
def plain_gelu(g):
    x = g.tensor(g.type, g.shape(), "normal")
    return g.case([x], smooth(g, gelu(x.wide), 0))


@contrib("BiasGelu", types=with_bf16)
@contrib("FastGelu", types=with_bf16)
def bias_gelu(g):
    x = g.tensor(g.type, g.shape(1, 3), "normal")
    bias = g.tensor(g.type, x.shape[-1:], "normal", g.chance(0.7)) if g.op == "BiasGelu" or g.chance(0.6) else None
    total = x.wide + (bias.wide if bias else 0)
    return g.case([x, bias] if bias else [x], smooth(g, (gelu if g.op == "BiasGelu" else fast_gelu)(total), abs(x.wide) + abs(total)))


@contrib("QuickGelu", types=with_bf16)
def quick_gelu(g):
    x, alpha = g.tensor(g.type, g.shape(), "normal"), number(g, 1, 0.5, 3)
    exact = x.wide * sigmoid(x.wide * np.longdouble(np.float32(1.702) if alpha is None else alpha))
    return g.case([x], smooth(g, exact, 0), alpha=alpha)


@contrib("BiasSplitGelu")
def split_gelu(g):
    batch, length, half = g.integer(1, 3), g.integer(1, 6), g.integer(1, 40)
    x, bias = g.tensor(g.type, (batch, length, 2 * half), "normal"), g.tensor(g.type, (2 * half,), "normal", g.chance(0.7))
    total = x.wide + bias.wide
    size = abs(x.wide) + abs(total)
    left, right = total[..., :half], total[..., half:]
    room = size[..., :half] * abs(gelu(right)) + size[..., half:] * abs(left) * 1.3
    return g.case([x, bias], Expected(left * gelu(right), g.type, ULPS, room * unit(g.type) * 3 + abs(left * gelu(right)) * 2.0**-24 * 200))


@contrib("BiasAdd")
def bias_add(g):
    shape = (g.integer(1, 3), g.integer(1, 6), g.integer(1, 40))
    x, bias, skip = g.tensor(g.type, shape, "normal"), g.tensor(g.type, shape[-1:], "normal", g.chance(0.7)), g.tensor(g.type, shape, "normal")
    size = abs(x.wide) + abs(bias.wide) + abs(skip.wide)
    return g.case([x, bias, skip], Expected(x.wide + bias.wide + skip.wide, g.type, 1, size * unit(g.type) * 2))


@contrib("GatedAdd", types=with_bf16)
def gated_add(g):
    shape = g.shape(1, 3)
    x, y, gate = g.tensor(g.type, shape, "normal"), g.tensor(g.type, shape, "normal"), g.tensor(g.type, (*shape[:-1], 1), "normal")
    product = y.wide * gate.wide
    return g.case([x, y, gate], Expected(x.wide + product, g.type, 1, abs(product) * unit(g.type)))


def activation(g, params=False):
    """(attributes, function): numbers are attributes of their own, or a list for convolutions."""
    name = g.pick(["Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", *(["Clip"] if params else ["Elu", "Celu", "Selu", "Softplus", "Softsign", "ThresholdedRelu"])])
    first, second = np.float32(g.pick([0.1, 0.5, 1.5])), np.float32(g.pick([0.25, 0.5, 2]))
    numbers = {"LeakyRelu": 1, "HardSigmoid": 2, "Clip": 2, "Elu": 1, "Celu": 1, "Selu": 2, "ThresholdedRelu": 1}.get(name, 0)
    a, b = np.longdouble(first), np.longdouble(second)
    functions = {
        "Relu": lambda x: np.maximum(x, 0), "Sigmoid": sigmoid, "Tanh": np.tanh, "LeakyRelu": lambda x: np.where(x < 0, a * x, x),
        "HardSigmoid": lambda x: np.clip(a * x + b, 0, 1), "Clip": lambda x: np.clip(x, -a, b), "Elu": lambda x: np.where(x < 0, a * np.expm1(x), x),
        "Celu": lambda x: np.maximum(x, 0) + np.minimum(0, a * np.expm1(x / a)), "Selu": lambda x: b * np.where(x < 0, a * np.expm1(x), x), "Softplus": softplus,
        "Softsign": lambda x: x / (1 + abs(x)), "ThresholdedRelu": lambda x: np.where(x > a, x, 0),
    }
    given = [float(-first if name == "Clip" else first), float(second)][:numbers]
    if params:
        return {"activation": name, "activation_params": given or None}, functions[name]
    names = ["activation_alpha", "activation_gamma" if name == "Selu" else "activation_beta"]
    return {"activation": name, **dict(zip(names, given))}, functions[name]


def activated(g, exact, slack, function, kinks):
    """The activation of what is off by `slack`; where it jumps, either side is right."""
    value, low, high = function(exact), function(exact - slack), function(exact + slack)
    room = np.maximum(abs(low - value), abs(high - value)) + abs(value) * epsilon(g.type) * 64 + rounded(g.type, abs(value) + slack)
    return Expected(value, g.type, 2, room + slack * 2, kinks)


def turned(array, matrix, batch):
    """The operand of FusedMatMul before its flags: what they undo."""
    if matrix:
        array = array.swapaxes(-1, -2)
    return np.ascontiguousarray(np.moveaxis(array, -2, 0) if batch else array)


@contrib("FusedMatMul", types=lambda opset: [*with_bf16(opset), "f64"], weight=3)
@contrib("TransposeMatMul", types=["f32"])
@contrib("FusedMatMulActivation", types=["f32", "f16"])
def fused_matmul(g):
    batch = (g.integer(1, 3),) * g.integer(0, 2)
    rows, depth, columns = (min(length(g), 33) or 1 for _ in range(3))
    flags = {name: int(g.chance(0.4)) for name in ("transA", "transB", "transBatchA", "transBatchB")}
    if g.op == "TransposeMatMul":
        del flags["transBatchA"], flags["transBatchB"]
    elif not batch:
        flags["transBatchA"] = flags["transBatchB"] = 0
    a, b = g.tensor(g.type, (*batch, rows, depth), "normal"), g.tensor(g.type, (*batch, depth, columns), "normal")
    alpha = g.pick([None, 0.5, -2.0, 3.25])
    factor = 1.0 if alpha is None else alpha
    exact, magnitude = a.wide @ b.wide * factor, abs(a.wide) @ abs(b.wide) * abs(factor)
    slack = accumulated(g.type, magnitude, depth) * 2 + rounded(g.type, magnitude)
    a.array, b.array = turned(a.array, flags["transA"], flags.get("transBatchA")), turned(b.array, flags["transB"], flags.get("transBatchB"))
    if g.op != "FusedMatMulActivation":
        return g.case([a, b], Expected(exact, g.type, 1, slack), alpha=alpha, **flags)
    attributes, function = activation(g)
    jump = abs(exact - np.longdouble(np.float32(attributes.get("activation_alpha", 0)))) <= slack if attributes["activation"] == "ThresholdedRelu" else None
    return g.case([a, b], activated(g, exact, slack, function, jump), alpha=alpha, **attributes, **flags)


@contrib("FusedGemm", types=["f32", "f32", "f64"], weight=2)
def fused_gemm(g):
    rows, depth, columns = (min(length(g), 33) or 1 for _ in range(3))
    trans_a, trans_b = int(g.chance(0.4)), int(g.chance(0.4))
    a, b = g.tensor(g.type, (rows, depth), "normal"), g.tensor(g.type, (depth, columns), "normal")
    alpha, beta = g.pick([1.0, 0.5, -2.0]), g.pick([1.0, 0.0, 3.25])
    exact, magnitude, inputs = a.wide @ b.wide * alpha, abs(a.wide) @ abs(b.wide) * abs(alpha), [a, b]
    if g.chance(0.7):
        c = g.tensor(g.type, g.pick([(), (columns,), (1, columns), (rows, 1), (rows, columns)]), "normal", g.chance(0.5))
        exact, magnitude = exact + c.wide * beta, magnitude + abs(c.wide * beta)
        inputs.append(c)
    slack = accumulated(g.type, magnitude, depth) * 2
    a.array, b.array = turned(a.array, trans_a, False), turned(b.array, trans_b, False)
    attributes, function = activation(g)
    jump = abs(exact - np.longdouble(np.float32(attributes.get("activation_alpha", 0)))) <= slack if attributes["activation"] == "ThresholdedRelu" else None
    return g.case(inputs, activated(g, exact, slack, function, jump), alpha=alpha, beta=beta, transA=trans_a, transB=trans_b, **attributes)


@contrib("GemmFastGelu", types=["f32", "f16"])
def gemm_fast_gelu(g):
    rows, depth, columns = (min(length(g), 33) or 1 for _ in range(3))
    a, b = g.tensor(g.type, (rows, depth), "small"), g.tensor(g.type, (depth, columns), "normal", g.chance(0.7))
    exact, magnitude, inputs = a.wide @ b.wide, abs(a.wide) @ abs(b.wide), [a, b]
    if g.chance(0.6):
        inputs.append(g.tensor(g.type, (columns,), "normal"))
        exact, magnitude = exact + inputs[2].wide, magnitude + abs(inputs[2].wide)
    slack = accumulated(g.type, magnitude, depth) * 2 + rounded(g.type, magnitude, 2)
    return g.case(inputs, activated(g, exact, slack, fast_gelu, None))


@contrib("FusedConv", types=["f32", "f32", "f64"], weight=2)
def fused_conv(g):
    groups, channels, filters = draw_channels(g)
    window = Window(g, spatial_sizes(g, elements=120))
    x = g.tensor(g.type, (g.pick([1, 1, 2]), channels, *window.sizes), "normal")
    weight = g.tensor(g.type, (filters, channels // groups, *window.kernel), "normal", g.chance(0.6))
    inputs, exact, magnitude = [x, weight, None, None], convolve(x.wide, weight.wide, window, groups), convolve(abs(x.wide), abs(weight.wide), window, groups)
    if g.chance(0.6):
        inputs[2] = bias = g.tensor(g.type, (filters,), "normal", g.chance(0.7))
        column = bias.wide.reshape(-1, *[1] * len(window.sizes))
        exact, magnitude = exact + column, magnitude + abs(column)
    if g.chance(0.5):
        inputs[3] = more = g.tensor(g.type, exact.shape, "normal")
        exact, magnitude = exact + more.wide, magnitude + abs(more.wide)
    while inputs[-1] is None:
        inputs.pop()
    slack = accumulated(g.type, magnitude, channels // groups * np.prod(window.kernel)) * 16
    attributes, function = activation(g, params=True)
    return g.case(inputs, activated(g, exact, slack, function, None), **attributes, **window.attributes(group=groups))


def layer_norm(g, x, scale, bias, small, rms):
    """Of the last dimension."""
    if rms:
        mean = (x.wide**2).mean(-1, keepdims=True) + small
        exact, error = x.wide / np.sqrt(mean), abs(x.wide) / np.sqrt(mean) * epsilon(g.type) * (x.shape[-1] + 8)
    else:
        exact, error, _, _ = normalized(g, x, (-1,), small)
    value = exact * scale.wide + (bias.wide if bias else 0)
    return value, error * abs(scale.wide) + (abs(exact * scale.wide) + (abs(bias.wide) if bias else 0)) * unit(g.type) * 3


@contrib("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", types=["f32"], weight=3)
def skip_norm(g):
    rms = g.op == "SkipSimplifiedLayerNormalization"
    shape = (g.integer(1, 3), g.integer(1, 5), g.pick([1, 3, 8, 17, 64, 100]))
    x, small = scaled(g, shape), small_number(g)
    skip = scaled(g, g.pick([shape, shape, shape[1:], (1, *shape[1:])]) if not rms else shape)
    gamma, beta, bias = (g.tensor(g.type, shape[-1:], "normal", g.chance(0.7)) for _ in range(3))
    beta, bias = (beta if not rms and g.chance(0.7) else None), (bias if g.chance(0.5) else None)
    exact_sum = x.wide + skip.wide + (bias.wide if bias else 0)
    total = Tensor(exact_sum, g.type)
    room = abs(x.wide) + abs(skip.wide) + (abs(bias.wide) if bias else 0)
    exact, slack = layer_norm(g, total, gamma, beta, small, rms)
    # What the sums round, relative to the deviation.
    deviation = np.sqrt((exact_sum**2).mean(-1, keepdims=True) + small) if rms else np.sqrt(exact_sum.var(-1, keepdims=True) + small)
    slack = slack + (room + room.mean(-1, keepdims=True)) * unit(g.type) * 4 / deviation * abs(gamma.wide) * (1 + abs(exact_sum - (0 if rms else exact_sum.mean(-1, keepdims=True))) / deviation)
    inputs = [x, skip, gamma] + ([bias] if rms else [beta, bias])
    while inputs[-1] is None:
        inputs.pop()
    outputs = [Expected(exact, g.type, 1, slack)]
    if g.chance(0.5):
        outputs += [None, None, Expected(exact_sum, g.type, 1, room * unit(g.type) * 2)]
    return g.case(inputs, *outputs, epsilon=small)


@operator("SimplifiedLayerNormalization", types=["f32", "f64"], since=7)
def simplified_norm(g):
    shape = g.shape(1, 3, zero=False)
    x, small, scale = scaled(g, shape), small_number(g), g.tensor(g.type, shape[-1:], "normal", g.chance(0.7))
    exact, slack = layer_norm(g, x, scale, None, small, True)
    deviation = 1 / np.sqrt((x.wide**2).mean(-1, keepdims=True) + small)
    outputs = [Expected(exact, g.type, 1, slack)]
    if g.chance(0.4):
        outputs.append(Expected(deviation, "f32", 1, deviation * epsilon(g.type) * (shape[-1] + 8)))
    return g.case([x, scale], *outputs, epsilon=small, axis=g.pick([None, -1, len(shape) - 1]), stash_type=g.pick([None, 1]))


@contrib("GatedRMSNorm", types=with_bf16)
def gated_norm(g):
    columns, groups = g.pick([1, 4, 8, 17, 32]), g.integer(1, 4)
    shape = (g.integer(1, 3), g.integer(1, 5), groups * columns)
    x, gate, small = g.tensor(g.type, shape, "normal"), g.tensor(g.type, shape, "normal"), g.pick([None, 1e-5, 1e-3])
    scale = g.tensor(g.type, (columns,), "normal", g.chance(0.7))
    apart = x.wide.reshape(*shape[:2], groups, columns)
    added = np.longdouble(np.float32(1e-5 if small is None else small))
    normal = (apart / np.sqrt((apart**2).mean(-1, keepdims=True) + added) * scale.wide).reshape(shape)
    exact = normal * gate.wide * sigmoid(gate.wide)
    return g.case([x, scale, gate], Expected(exact, g.type, 1, abs(exact) * 2.0**-24 * (columns + 200)), epsilon=small)


@contrib("LinearAttentionGate", types=with_bf16)
def linear_attention_gate(g):
    shape = (g.integer(1, 3), g.integer(1, 5), g.pick([1, 4, 9]))
    a, b = g.tensor(g.type, shape, "normal"), g.tensor(g.type, shape, "normal") if g.chance(0.7) else None
    bias, scale = (g.tensor("f32", shape[-1:], "normal", g.chance(0.6)) for _ in range(2))
    steps = a.wide + bias.wide
    decay = scale.wide * softplus(steps)
    room = abs(scale.wide) * (abs(a.wide) + abs(bias.wide)) * 2.0**-22 + abs(decay) * 2.0**-24 * 200
    return g.case([a, bias, scale, b] if b else [a, bias, scale], Expected(decay, g.type, 1, room),
                  *([Expected(sigmoid(b.wide), g.type, ULPS, sigmoid(b.wide) * 2.0**-24 * 200)] if b else []))


@contrib("EngramGate", types=with_bf16)
def engram_gate(g):
    batch, length, streams, width, small = g.integer(1, 2), g.integer(1, 4), g.integer(1, 3), g.pick([1, 4, 17, 32]), g.pick([None, 1e-5, 1e-3])
    key, query = (g.tensor(g.type, (batch, length, streams, width), "normal") for _ in range(2))
    value, scales = g.tensor(g.type, (batch, length, width), "normal"), [g.tensor(g.type, (streams, width), "normal", g.chance(0.6)) for _ in range(2)]
    added = np.longdouble(np.float32(1e-5 if small is None else small))
    normal = [x.wide / np.sqrt((x.wide**2).mean(-1, keepdims=True) + added) * scale.wide for x, scale in zip((key, query), scales)]
    products = normal[0] * normal[1]
    dot, off = products.sum(-1, keepdims=True), abs(products).sum(-1, keepdims=True) * 2.0**-24 * (width + 16)
    gate = lambda dot: sigmoid(np.sign(dot) * np.sqrt(np.maximum(abs(dot) / np.sqrt(np.longdouble(width)), np.float32(1e-6))))
    exact = gate(dot) * value.wide[:, :, None]
    room = np.maximum(abs(gate(dot + off) - gate(dot)), abs(gate(dot - off) - gate(dot))) * abs(value.wide[:, :, None]) + abs(exact) * 2.0**-24 * 200
    return g.case([key, query, value, *scales], Expected(exact, g.type, 1, room), epsilon=small)


@contrib("SampleOp", types=["f32", "f64", "i32"])
def sample(g):
    x = g.tensor(g.type, g.shape())
    return g.case([x], Expected(x.array, g.type))


@contrib("EmbedLayerNormalization", types=["f32"], weight=2)
def embed_norm(g):
    batch, length, width, words, places = g.integer(1, 3), g.integer(1, 6), g.pick([1, 4, 17, 32]), g.integer(1, 20), g.integer(6, 10)
    ids = lambda most, shape=(batch, length): Tensor(g.random.integers(0, most, shape).astype("i4"), "i32", False)
    table = lambda rows: g.tensor(g.type, (rows, width), "normal", g.chance(0.7))
    at, word, place = ids(words), table(words), table(places)
    segments, segment = (ids(2), table(2)) if g.chance(0.7) else (None, None)
    gamma, beta, small = g.tensor(g.type, (width,), "normal"), g.tensor(g.type, (width,), "normal"), small_number(g)
    mask = ids(2) if g.chance(0.5) else None
    positions = ids(places, g.pick([(batch, length), (1, length)])) if g.chance(0.4) else None
    place_of = place.wide[positions.array] if positions else place.wide[:length]
    parts = [word.wide[at.array], np.broadcast_to(place_of, (batch, length, width))] + ([segment.wide[segments.array]] if segments else [])
    total, room = sum(parts), sum(map(abs, parts))
    exact, slack = layer_norm(g, Tensor(total, g.type), gamma, beta, small, False)
    deviation = np.sqrt(total.var(-1, keepdims=True) + small)
    slack = slack + (room + room.mean(-1, keepdims=True)) * unit(g.type) * 4 / deviation * abs(gamma.wide) * (1 + abs(total - total.mean(-1, keepdims=True)) / deviation)
    inputs = [at, segments, word, place, segment, gamma, beta, mask, positions]
    while inputs[-1] is None:
        inputs.pop()
    counts = mask.array.sum(1) if mask else np.zeros(batch)
    outputs = [Expected(exact, g.type, 1, slack), Expected(counts.astype("i4"), "i32")]
    if g.chance(0.4):
        outputs.append(Expected(total, g.type, 1, room * unit(g.type) * 2))
    return g.case(inputs, *outputs, epsilon=small)


def draw_mask(g, batch, queries, keys, filter):
    """(tensor, what it adds to scores [batch, 1, queries, keys]); each row keeps a key."""
    kind = g.pick(["ends", "keys", "rows"] + ["both"] * (g.op == "Attention"))
    places = np.arange(keys)
    if kind == "ends":
        ends = g.random.integers(1, keys + 1, batch)
        return Tensor(ends.astype("i4"), "i32", False), np.where(places < ends[:, None, None, None], 0, filter)
    if kind == "both":
        ends = g.random.integers(1, keys + 1, batch)
        starts = g.random.integers(0, ends)
        keep = (places < ends[:, None]) & (places >= starts[:, None])
        return Tensor(np.concatenate([ends, starts]).astype("i4"), "i32", False), np.where(keep, 0, filter)[:, None, None]
    keep = g.random.random((batch, keys) if kind == "keys" else (batch, queries, keys)) < 0.7
    keep[..., 0] = True
    added = np.where(keep, 0, filter)
    return Tensor(keep.astype("i4"), "i32", False), added[:, None, None] if kind == "keys" else added[:, None]


def attend(g, query, key, value, bias, scale, past, causal, room):
    """(result [batch, length, heads * size], its slack) of [batch, heads, length, size]. `room` is how far scores are off, relative to a rounding of f32. In halves,
    both sides of each product have been rounded."""
    scores = query @ key.swapaxes(2, 3) * scale + bias
    queries, keys = scores.shape[2:]
    if causal:
        scores = scores + np.where(np.arange(queries)[:, None] + past < np.arange(keys), -np.inf, 0)
    weights = softmax(scores)
    finite = np.where(np.isfinite(bias), abs(bias), 0)
    magnitude, coarse = abs(query) @ abs(key.swapaxes(2, 3)) * scale, unit(g.type) if g.type in ("f16", "bf16") else 0
    off = (magnitude * room + finite + 1) * 2.0**-22 + (magnitude + finite) * 4 * coarse
    size = weights @ abs(value)
    slack = size * (2 * off.max(-1, keepdims=True) + 2.0**-24 * room + 2 * coarse) + accumulated(g.type, size, keys + 8)
    join = lambda t: t.transpose(0, 2, 1, 3).reshape(t.shape[0], t.shape[2], -1)
    return join(weights @ value), join(slack)


def score(query, key, bias, scale, past, causal):
    """(what the softmax takes, its slack): of f32."""
    exact = query @ key.swapaxes(2, 3) * scale + bias
    slack = (abs(query) @ abs(key.swapaxes(2, 3)) * scale * (query.shape[3] + 8) + abs(bias)) * 2.0**-22
    later = np.arange(exact.shape[2])[:, None] + past < np.arange(exact.shape[3])
    lowest = np.finfo("f4").min if causal else exact
    return np.where(later, lowest, exact), np.broadcast_to(slack, exact.shape)


def apart(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


@contrib("Attention", types=["f32"], weight=4)
def attention(g):
    batch, heads, size, queries, hidden = g.integer(1, 3), g.integer(1, 3), g.pick([1, 4, 8, 9, 16]), g.integer(1, 7), g.integer(1, 20)
    past = g.integer(0, 4) if g.chance(0.4) else None
    value_size = size if past is not None or g.chance(0.6) else g.pick([1, 4, 10])
    widths = [heads * size, heads * size, heads * value_size]
    x, weights = g.tensor(g.type, (batch, queries, hidden), "normal"), g.tensor(g.type, (hidden, sum(widths)), "normal", g.chance(0.7))
    bias = g.tensor(g.type, (sum(widths),), "normal") if g.chance(0.8) else None
    projected, magnitude = x.wide @ weights.wide + (bias.wide if bias else 0), abs(x.wide) @ abs(weights.wide) + (abs(bias.wide) if bias else 0)
    parts = np.split(projected, np.cumsum(widths)[:2], -1)
    query, key, value = (apart(part, heads) for part in parts)
    cache = None
    if past is not None:
        cache = g.tensor(g.type, (2, batch, heads, past, size), "normal")
        key, value = np.concatenate([cache.wide[0], key], 2), np.concatenate([cache.wide[1], value], 2)
    keys, causal = key.shape[2], g.chance(0.4)
    filter = g.pick([None, -100.0])
    mask, added = draw_mask(g, batch, queries, keys, -10000.0 if filter is None else filter) if g.chance(0.5) else (None, np.zeros((1, 1, 1, 1)))
    more = g.tensor(g.type, (g.pick([1, batch]), g.pick([1, heads]), queries, keys), "normal") if g.chance(0.3) else None
    scale = float(np.float32(g.pick([0.1, 0.5]))) if g.chance(0.3) else None
    # Projections are off by a part of their magnitude, which products pass on.
    room = (hidden + 8) * (1 + magnitude.max() / max(abs(projected).max(), 1e-3))
    exact, slack = attend(g, query, key, value, added + (more.wide if more else 0), 1 / np.sqrt(np.longdouble(size)) if scale is None else np.longdouble(scale), past or 0, causal, room)
    slack = slack + magnitude.max() * 2.0**-24 * (hidden + 8)
    inputs = [x, weights, bias, mask, cache, more]
    while inputs[-1] is None:
        inputs.pop()
    outputs = [Expected(exact, g.type, 2, slack)]
    if size == value_size and (cache or g.chance(0.3)):
        outputs.append(Expected(np.stack([key, value]), g.type, 1, magnitude.max() * 2.0**-24 * (hidden + 8)))
    sizes = widths if value_size != size or g.chance(0.3) else None
    return g.case(inputs, *outputs, num_heads=heads, unidirectional=int(causal) if causal or g.chance(0.5) else None, mask_filter_value=filter, scale=scale, qkv_hidden_sizes=sizes)


@contrib("MultiHeadAttention", types=["f32"], weight=4)
def multi_head_attention(g):
    batch, heads, size, queries = g.integer(1, 3), g.integer(1, 3), g.pick([1, 4, 8, 9, 16]), g.integer(1, 7)
    form = g.pick(["apart", "apart", "packed", "pairs", "cached"])
    keys = queries if form == "packed" or g.chance(0.4) else g.integer(1, 9)
    value_size = g.pick([size, size, 5]) if form in ("apart", "cached") else size
    bias = g.tensor(g.type, (2 * heads * size + heads * value_size,), "normal") if g.chance(0.5) else None
    draw = lambda *shape: g.tensor(g.type, shape, "normal")
    if form == "packed":
        given = [draw(batch, queries, heads, 3, size), None, None]
        flat = [given[0].wide[:, :, :, i].reshape(batch, queries, -1) for i in range(3)]
    elif form == "pairs":
        given = [draw(batch, queries, heads * size), draw(batch, keys, heads, 2, size), None]
        flat = [given[0].wide, *(given[1].wide[:, :, :, i].reshape(batch, keys, -1) for i in range(2))]
    elif form == "apart":
        given = [draw(batch, queries, heads * size), draw(batch, keys, heads * size), draw(batch, keys, heads * value_size)]
        flat = [t.wide for t in given]
    else:
        given = [draw(batch, queries, heads * size), draw(batch, heads, keys, size), draw(batch, heads, keys, value_size)]
        flat = [given[0].wide, None, None]
    if bias:
        edges = np.cumsum([heads * size, heads * size])
        flat = [f if f is None else f + part for f, part in zip(flat, np.split(bias.wide, edges))]
    query = apart(flat[0], heads)
    key, value = (given[1].wide, given[2].wide) if form == "cached" else (apart(flat[1], heads), apart(flat[2], heads))
    past = g.integer(1, 4) if form != "cached" and g.chance(0.3) else None
    before = [None, None]
    if past:
        before = [draw(batch, heads, past, size), draw(batch, heads, past, value_size)]
        key, value = np.concatenate([before[0].wide, key], 2), np.concatenate([before[1].wide, value], 2)
    total = key.shape[2]
    causal = total == queries + (past or 0) and g.chance(0.5)
    mask, added = draw_mask(g, batch, queries, total, -10000.0) if g.chance(0.4) else (None, np.zeros((1, 1, 1, 1)))
    more = g.tensor(g.type, (g.pick([1, batch]), g.pick([1, heads]), queries, total), "normal") if g.chance(0.3) else None
    scale = float(np.float32(g.pick([0.1, 0.5]))) if g.chance(0.3) else None
    exact, slack = attend(g, query, key, value, added + (more.wide if more else 0), 1 / np.sqrt(np.longdouble(size)) if scale is None else np.longdouble(scale), past or 0, causal, 8)
    inputs = [*given, bias, mask, more, *before]
    while inputs[-1] is None:
        inputs.pop()
    outputs = [Expected(exact, g.type, 2, slack)]
    if past or g.chance(0.3):
        outputs += [Expected(key, g.type, 1), Expected(value, g.type, 1)]
    if g.chance(0.3):
        scores, slack = score(query, key, added + (more.wide if more else 0), 1 / np.sqrt(np.longdouble(size)) if scale is None else np.longdouble(scale), past or 0, causal)
        outputs += [None] * (3 - len(outputs)) + [Expected(scores, g.type, 1, slack)]
    return g.case(inputs, *outputs, num_heads=heads, unidirectional=int(causal) if causal or g.chance(0.5) else None, scale=scale)


@contrib("RotaryEmbedding", types=with_bf16, weight=2)
def rotary(g):
    batch, length, heads, half = g.integer(1, 3), g.integer(1, 7), g.integer(1, 3), g.integer(1, 6)
    partial, flat, interleaved, offset = g.chance(0.4), g.chance(0.5), g.chance(0.5), g.chance(0.4)
    size, width = 2 * half + (2 * g.integer(0, 3) if partial else 0), 2 * half
    x = g.tensor(g.type, (batch, length, heads * size) if flat else (batch, heads, length, size), "normal")
    cosine, sine = g.tensor(g.type, (30, half), "normal"), g.tensor(g.type, (30, half), "normal")
    positions = Tensor(g.random.integers(0, 20, (1,) if offset else (batch, length)), "i64", False)
    at = positions.array[0] + np.arange(length)[None].repeat(batch, 0) if offset else positions.array
    cos, sin = cosine.wide[at][:, :, None], sine.wide[at][:, :, None]
    split = x.wide.reshape(batch, length, heads, size) if flat else x.wide.transpose(0, 2, 1, 3)
    turned_part = split[..., :width]
    first, second = (turned_part[..., ::2], turned_part[..., 1::2]) if interleaved else (turned_part[..., :half], turned_part[..., half:])
    real, imaginary = cos * first - sin * second, sin * first + cos * second
    room = abs(cos * first) + abs(sin * second), abs(sin * first) + abs(cos * second)
    join = lambda a, b: np.stack([a, b], -1).reshape(*a.shape[:-1], width) if interleaved else np.concatenate([a, b], -1)
    exact = np.concatenate([join(real, imaginary), split[..., width:]], -1)
    slack = np.concatenate([join(*room), 0 * split[..., width:]], -1) * unit(g.type) * 2
    back = (lambda t: t.reshape(batch, length, -1)) if flat else (lambda t: t.transpose(0, 2, 1, 3))
    return g.case([x, positions, cosine, sine], Expected(back(exact), g.type, 1, back(slack)), interleaved=int(interleaved), num_heads=heads if partial else None,
                  rotary_embedding_dim=width if partial else None)


def as_of(opset, make):
    """Cases of an operator that takes what ONNX's took at an opset."""

    def case(g):
        drawn, g.opset = g.opset, opset
        made = make(g)
        g.opset = made.opset = drawn
        return made

    return case


contrib("GatherND", types=["f32", "i32", "f64", "u8", "string"])(as_of(11, places.gather_nd))
contrib("GridSample", types=["f32"])(as_of(16, sampling.grid_sample))
contrib("Trilu", types=["f32", "i64", "u8", "bool"])(as_of(14, movement.trilu))


def pack(numbers, bits):
    """Numbers [rows, count] in bytes, from the lowest bits on; missing ones are 0."""
    per = 8 // bits
    padded = np.pad(numbers, ((0, 0), (0, -numbers.shape[1] % per))).reshape(len(numbers), -1, per)
    return (padded << (np.arange(per) * bits)).sum(-1).astype("u1")


@contrib("GatherBlockQuantized", types=["u8"], weight=2)
def gather_block_quantized(g):
    real, bits, block = g.pick(["f32", "f32", "f16"]), g.pick([4, 8]), g.pick([16, 32, 64])
    rows, depth, inner = g.integer(1, 20), 2 * g.integer(1, 90), g.pick([(), (), (g.integer(1, 3),)])
    shape, blocks = (rows, *inner, depth), -(-depth // block)
    numbers = g.random.integers(0, 2**bits, shape)
    scales = g.tensor(real, (rows, *inner, blocks), "small", True)
    indices = g.random.integers(-rows, rows, [g.integer(1, 4) for _ in range(g.integer(0, 2))])
    flat = lambda array: pack(array.reshape(-1, array.shape[-1]), bits).reshape(*array.shape[:-1], -1)
    inputs, zero = [Tensor(flat(numbers), "u8", True), Tensor(np.asarray(indices, "i8"), "i64"), scales], np.full((rows, *inner, blocks), 2 ** (bits - 1))
    if g.chance(0.5):
        zero = g.random.integers(0, 2**bits, zero.shape)
        inputs.append(Tensor(flat(zero), "u8", True))
    at = np.arange(depth) // block
    table = (numbers - zero[..., at]) * scales.wide[..., at]
    return g.case(inputs, Expected(table[indices], real, 2), block_size=block, quantize_axis=len(shape) - 1, bits=bits if bits != 4 or g.chance(0.5) else None)


@contrib("MatMulNBits", types=["f32", "f32", "f16"], weight=3)
def matmul_n_bits(g):
    rows, columns, depth = g.integer(1, 17), g.pick([g.integer(1, 33), g.integer(1, 150)]), g.pick([g.integer(1, 90), g.integer(1, 300), 128])
    bits, block = g.pick([4, 4, 2, 8]), g.pick([16, 32, 64, 128])
    blocks = -(-depth // block)
    a = g.tensor(g.type, (*(g.integer(1, 2),) * g.integer(0, 1), rows, depth), "normal")
    numbers = g.random.integers(0, 2**bits, (columns, blocks * block))
    scales = g.tensor(g.type, g.pick([(columns, blocks), (columns * blocks,)]), "small", True)
    per_block = scales.wide.reshape(columns, blocks)
    inputs = [a, Tensor(pack(numbers, bits).reshape(columns, blocks, -1), "u8", True), scales, None, None, None]
    zero = np.full((columns, blocks), 2 ** (bits - 1), np.longdouble)
    kind = g.pick(["none", "packed", "whole", "numbers"])
    if kind == "packed":
        points = g.random.integers(0, 2**bits, (columns, blocks))
        inputs[3], zero = Tensor(pack(points, bits).reshape(-1), "u8", True), points
    elif kind in ("whole", "numbers"):
        inputs[3] = g.tensor(g.type, (columns, blocks), "normal", True)
        if kind == "whole":
            inputs[3].array = g.random.integers(0, 2**bits, (columns, blocks)).astype(inputs[3].array.dtype)
        zero = inputs[3].wide
    at = np.arange(depth) // block
    if g.chance(0.3):
        at = g.random.integers(0, blocks, depth)
        inputs[4] = Tensor(at.astype("i4"), "i32", True)
    weights = (numbers[:, :depth] - zero[:, at]) * per_block[:, at]
    # How far kernels may round the left side: to a step of the largest number of its block.
    level = g.pick([None, None, 0, 1, 4])
    by_block = abs(np.pad(a.wide, ((0, 0),) * (a.wide.ndim - 1) + ((0, blocks * block - depth),))).reshape(*a.wide.shape[:-1], blocks, block)
    step = by_block.max(-1).repeat(block, -1)[..., :depth] / 127 if level == 4 else 0 * a.wide
    rounding = 0.51 * step @ abs(weights).T
    exact, magnitude = a.wide @ weights.T, abs(a.wide) @ ((numbers[:, :depth] + abs(zero[:, at])) * abs(per_block[:, at])).T
    if g.chance(0.4):
        inputs[5] = g.tensor(g.type, (columns,), "normal", True)
        exact, magnitude = exact + inputs[5].wide, magnitude + abs(inputs[5].wide)
    while inputs[-1] is None:
        inputs.pop()
    return g.case(inputs, Expected(exact, g.type, 1, accumulated(g.type, magnitude, depth) * 2 + rounding), accuracy_level=level, K=depth, N=columns, bits=bits if bits != 4 or g.chance(0.5) else None, block_size=block)
