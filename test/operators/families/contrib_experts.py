"""Mixtures of experts of com.microsoft, from the text of ONNX Runtime's ContribOperators.md."""

import numpy as np
from activation import sigmoid
from attention import softmax
from cases import Expected, Tensor
from contrib import contrib, gelu, pack
from floats import rounded


def draw_router(g, tokens, experts):
    """Logits that lie apart, so that no rounding changes who is chosen."""
    ranks = np.stack([g.random.permutation(experts) for _ in range(tokens)])
    return Tensor((ranks * 0.5 - experts / 4).astype("f4"), "f32", False)


def shares_of(logits, k, normalizes, quantized):
    """[tokens, experts]: how much each expert counts."""
    chosen = np.argsort(-logits, 1, kind="stable")[:, :k]
    rows = np.arange(len(logits))[:, None]
    values = softmax(logits[rows, chosen]) if quantized else softmax(logits)[rows, chosen]
    if normalizes and not quantized:
        values = values / values.sum(1, keepdims=True)
    shares = np.zeros_like(logits)
    shares[rows, chosen] = values
    return shares


def draw_activation(g, quantized):
    """(attributes, function of [.., rows], rows for each of the second product's columns)"""
    name = g.pick(["relu", "gelu", "silu", "identity", "swiglu", "swiglu"] if not quantized else ["swiglu", "swiglu", "relu", "gelu", "silu", "identity"])
    if name != "swiglu":
        function = {"relu": lambda x: np.maximum(x, 0), "gelu": gelu, "silu": lambda x: x * sigmoid(x), "identity": lambda x: x}[name]
        return {"activation_type": name}, function, 1
    fusion = 1 if g.chance(0.8) else 2
    alpha, beta, limit = np.float32(g.pick([1.0, 1.702])), g.pick([0.0, 1.0]), g.pick([7.0, 2.0])

    def swiglu(x):
        half = x.shape[-1] // 2
        gate, linear = (x[..., ::2], x[..., 1::2]) if fusion == 1 else (x[..., :half], x[..., half:])
        gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
        return gate * sigmoid(np.longdouble(alpha) * gate) * (linear + beta)

    return {"activation_type": name, "swiglu_fusion": fusion, "activation_alpha": float(alpha), "activation_beta": beta, "swiglu_limit": limit}, swiglu, 2


def mix(x, shares, first, first_bias, second, second_bias, function):
    """(the weighted sum, a bound of its magnitude)"""
    inner = np.einsum("th,efh->etf", x, first) + (first_bias[:, None] if first_bias is not None else 0)
    size = np.einsum("th,efh->etf", abs(x), abs(first)) + (abs(first_bias[:, None]) if first_bias is not None else 0)
    active = function(inner)
    outer = np.einsum("eti,ehi->eth", active, second) + (second_bias[:, None] if second_bias is not None else 0)
    bound = (np.einsum("eti,ehi->eth", abs(active), abs(second)) + size.max() * 3 * abs(second).sum(2)[:, None] + (abs(second_bias[:, None]) if second_bias is not None else 0))
    return np.einsum("te,eth->th", shares, outer), np.einsum("te,eth->th", shares, bound)


def shapes(g, quantized=False):
    tokens, experts = g.pick([1, 1, 2, 5, 9]), g.integer(2, 6)
    hidden, inner = (32 * g.integer(1, 2), 32 * g.integer(1, 2)) if quantized else (g.integer(2, 24), g.integer(2, 24))
    return tokens, experts, hidden, inner, g.integer(1, min(4, experts))


@contrib("MoE", types=["f32"], weight=3)
def mixture(g):
    tokens, experts, hidden, inner, k = shapes(g)
    attributes, function, fused = draw_activation(g, False)
    x = g.tensor("f32", (tokens, hidden) if g.chance(0.5) else (1, tokens, hidden), "normal", False)
    logits = draw_router(g, tokens, experts)
    normalizes = g.chance(0.5)
    first, second = g.tensor("f32", (experts, fused * inner, hidden), "normal", True), g.tensor("f32", (experts, hidden, inner), "normal", True)
    biases = [g.tensor("f32", (experts, fused * inner), "normal", True) if g.chance(0.5) else None, g.tensor("f32", (experts, hidden), "normal", True) if g.chance(0.5) else None]
    shares = shares_of(logits.wide, k, normalizes, False)
    exact, bound = mix(x.wide.reshape(tokens, hidden), shares, first.wide, biases[0] and biases[0].wide, second.wide, biases[1] and biases[1].wide, function)
    inputs = [x, logits, first, biases[0], second, biases[1]]
    while inputs[-1] is None:
        inputs.pop()
    slack = bound * 2.0**-23 * (hidden + inner + 16)
    return g.case(inputs, Expected(exact.reshape(x.shape), "f32", 2, slack.reshape(x.shape)), k=k, normalize_routing_weights=int(normalizes), **attributes)


@contrib("QMoE", types=["f32"], weight=3)
def quantized_mixture(g):
    tokens, experts, hidden, inner, k = shapes(g, True)
    attributes, function, fused = draw_activation(g, True)
    bits, block = g.pick([4, 4, 8]), g.pick([None, None, 16, 32])
    x = g.tensor("f32", (tokens, hidden), "normal", False)
    logits = draw_router(g, tokens, experts)

    def draw(rows, columns):
        numbers = g.random.integers(0, 2**bits, (experts, rows, columns))
        form = (experts, rows) if block is None else (experts, rows, columns // block)
        scales = Tensor((np.exp2(g.random.uniform(-6, -4, form)) / 2 ** (bits - 4)).astype("f4"), "f32", True)
        spread = scales.wide.reshape(experts, rows, -1).repeat(columns if block is None else block, 2)
        packed = Tensor(pack(numbers.reshape(-1, columns), bits).reshape(experts, rows, -1), "u8", True)
        return packed, scales, (numbers - 2 ** (bits - 1)) * spread

    (first, of_first, real_first), (second, of_second, real_second) = draw(fused * inner, hidden), draw(hidden, inner)
    biases = [g.tensor("f32", (experts, fused * inner), "normal", True) if g.chance(0.5) else None, g.tensor("f32", (experts, hidden), "normal", True) if g.chance(0.5) else None]
    shares = shares_of(logits.wide, k, True, True)
    exact, bound = mix(x.wide, shares, real_first, biases[0] and biases[0].wide, real_second, biases[1] and biases[1].wide, function)
    inputs = [x, logits, first, of_first, biases[0], second, of_second, biases[1]]
    while inputs[-1] is None:
        inputs.pop()
    slack = bound * 2.0**-23 * (hidden + inner + 16) + rounded("f32", bound)
    return g.case(inputs, Expected(exact, "f32", 2, slack), k=k, expert_weight_bits=bits, block_size=block, normalize_routing_weights=1, **attributes)
