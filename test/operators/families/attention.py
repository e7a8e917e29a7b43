"""Attention and what belongs to it."""

import numpy as np
from cases import Expected, Tensor, operator
from floats import accumulated, unit


def softmax(x):
    with np.errstate(invalid="ignore"):
        most = x.max(-1, keepdims=True)
        powers = np.exp(x - np.where(np.isfinite(most), most, 0))
        return np.divide(powers, powers.sum(-1, keepdims=True), out=np.zeros_like(powers), where=powers.sum(-1, keepdims=True) > 0)


@operator("Attention", types=["f32", "f32", "f16", "bf16", "f64"], since=23, weight=6)
def attention(g):
    batch, kv_heads, group = g.pick([1, 2, 3]), g.pick([1, 2, 3]), g.pick([1, 1, 2, 3])
    heads, size, value_size = kv_heads * group, g.pick([1, 2, 4, 8, 9, 16, 17]), g.pick([1, 4, 8, 16, 20])
    queries, keys = g.integer(1, 9), g.integer(1, 12)
    flat = g.chance(0.4)
    past_length = g.integer(0, 5) if g.chance(0.3) else None
    shape = lambda count, length, width: (batch, length, count * width) if flat else (batch, count, length, width)
    q, k, v = g.tensor(g.type, shape(heads, queries, size), "normal"), g.tensor(g.type, shape(kv_heads, keys, size), "normal"), g.tensor(g.type, shape(kv_heads, keys, value_size), "normal")
    apart = lambda t, count: t.wide.reshape(batch, t.shape[1], count, -1).transpose(0, 2, 1, 3) if flat else t.wide
    query, key, value = apart(q, heads), apart(k, kv_heads), apart(v, kv_heads)
    inputs, attributes = [q, k, v, None, None, None], {}
    if past_length is not None:
        inputs[4], inputs[5] = g.tensor(g.type, (batch, kv_heads, past_length, size), "normal"), g.tensor(g.type, (batch, kv_heads, past_length, value_size), "normal")
        key, value = np.concatenate([inputs[4].wide, key], 2), np.concatenate([inputs[5].wide, value], 2)
    total = key.shape[2]
    present = [Expected(key, g.type), Expected(value, g.type)] if past_length is not None else []
    if flat:
        attributes.update(q_num_heads=heads, kv_num_heads=kv_heads)
    scale = 1 / np.sqrt(np.longdouble(size))
    if g.chance(0.3):
        attributes["scale"] = scale = float(np.float32(g.pick([0.1, 0.5, 1.0])))
    key, whole_value = key.repeat(group, 1), value.repeat(group, 1)
    scores = query @ key.swapaxes(2, 3) * scale
    cap = g.pick([0.0, 0.0, 2.0, 5.0]) if g.chance(0.4) else 0.0
    if cap:
        attributes["softcap"], scores = cap, np.tanh(scores / cap) * cap
    bias, magnitude = mask(g, inputs, batch, heads, queries, total), abs(query) @ abs(key.swapaxes(2, 3)) * scale
    if g.chance(0.35):
        attributes["is_causal"] = 1
        # A query's own place is behind the past.
        bias = bias + np.where(np.arange(queries)[:, None] + (past_length or 0) < np.arange(total), -np.inf, 0)
    scores = scores + bias
    weights = softmax(scores)
    exact, size_of = weights @ whole_value, weights @ abs(whole_value)
    # Scores are off by the rounding of their sums, and in halves, of themselves; a weight is off by that part of itself.
    coarse = unit(g.type) if g.type in ("f16", "bf16") else 0
    finite_bias = np.where(np.isfinite(bias), abs(bias), 0)
    off = (magnitude + finite_bias + 1) * (2.0**-22 if g.type != "f64" else 2.0**-50) + (magnitude + finite_bias) * coarse * 4
    slack = size_of * (2 * off.max(-1, keepdims=True) + accumulated(g.type, 1, total + 8) + coarse * 2) + accumulated(g.type, size_of, 8)
    if flat:
        exact, slack = (part.transpose(0, 2, 1, 3).reshape(batch, queries, -1) for part in (exact, slack))
    while inputs[-1] is None:
        inputs.pop()
    return g.case(inputs, Expected(exact, g.type, 2, slack), *present, **attributes)


def mask(g, inputs, batch, heads, queries, total):
    """Draws a mask, which broadcasts, and gives what it adds."""
    if g.chance(0.5):
        return np.zeros((1, 1))
    full = (batch, heads, queries, total)
    rank = g.pick([2, 3, 4, 4])
    shape = tuple(1 if at < rank - 2 and g.chance(0.4) else size for at, size in enumerate(full[4 - rank:]))
    if g.chance(0.5):
        given = Tensor(g.random.random(shape) < 0.7, "bool")
        given.array[..., 0] = True
        inputs[3] = given
        return np.where(given.array, 0, -np.inf)
    inputs[3] = g.tensor(g.type, shape, "normal")
    return inputs[3].wide


@operator("RotaryEmbedding", types=["f32", "f16", "bf16"], since=23, weight=2)
def rotary(g):
    batch, length, heads, half = g.integer(1, 3), g.integer(1, 7), g.integer(1, 3), g.integer(1, 6)
    width = 2 * half
    rest = 2 * g.integer(0, 3)
    size, flat, interleaved, gathered = width + rest, g.chance(0.5), g.chance(0.5), g.chance(0.5)
    x = g.tensor(g.type, (batch, length, heads * size) if flat else (batch, heads, length, size), "normal")
    angles = (20, half) if gathered else (batch, length, half)
    cosine, sine = g.tensor(g.type, angles, "normal"), g.tensor(g.type, angles, "normal")
    inputs = [x, cosine, sine]
    cos, sin = cosine.wide, sine.wide
    if gathered:
        positions = Tensor(g.random.integers(0, 20, (batch, length)), "i64")
        inputs.append(positions)
        cos, sin = cos[positions.array], sin[positions.array]
    cos, sin = cos[:, :, None], sin[:, :, None]
    apart = x.wide.reshape(batch, length, heads, size) if flat else x.wide.transpose(0, 2, 1, 3)
    turned = apart[..., :width]
    first, second = (turned[..., ::2], turned[..., 1::2]) if interleaved else (turned[..., :half], turned[..., half:])
    real, imaginary = cos * first - sin * second, sin * first + cos * second
    room = abs(cos * first) + abs(sin * second), abs(sin * first) + abs(cos * second)
    join = lambda a, b: np.stack([a, b], -1).reshape(*a.shape[:-1], width) if interleaved else np.concatenate([a, b], -1)
    exact = np.concatenate([join(real, imaginary), apart[..., width:]], -1)
    slack = np.concatenate([join(*room), 0 * apart[..., width:]], -1) * unit(g.type) * 2
    back = (lambda t: t.reshape(batch, length, -1)) if flat else (lambda t: t.transpose(0, 2, 1, 3))
    attributes = {"interleaved": int(interleaved) if interleaved or g.chance(0.5) else None, "rotary_embedding_dim": width if rest else None,
                  "num_heads": heads if flat else None}
    return g.case(inputs, Expected(back(exact), g.type, 1, back(slack)), **attributes)
