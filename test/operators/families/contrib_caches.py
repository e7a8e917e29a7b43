"""Attention of com.microsoft over caches of keys and values, from the text of ONNX Runtime's ContribOperators.md."""

import numpy as np
from attention import softmax
from cases import Expected, Tensor
from contrib import contrib
from floats import accumulated, unit


def rotated(x, cosine, sine, at, interleaved):
    """x [batch, length, heads, size], positions [batch, length]: (pairs turned, their magnitude)."""
    half = cosine.shape[1]
    cos, sin = cosine[at][:, :, None], sine[at][:, :, None]
    part, rest = x[..., : 2 * half], x[..., 2 * half :]
    first, second = (part[..., ::2], part[..., 1::2]) if interleaved else (part[..., :half], part[..., half:])
    pairs = [cos * first - sin * second, sin * first + cos * second]
    join = (lambda a, b: np.stack([a, b], -1).reshape(part.shape)) if interleaved else (lambda a, b: np.concatenate([a, b], -1))
    return np.concatenate([join(*pairs), rest], -1)


def unpacked(stored, bits):
    """The whole numbers of a quantized cache, in pairs of 4 bits or bytes."""
    if bits == 8:
        return stored.astype(np.longdouble)
    return np.stack([stored & 15, stored >> 4], -1).reshape(*stored.shape[:-1], -1).astype(np.longdouble) - 8


def stored_as(numbers, bits):
    whole = numbers.astype("i4")
    return whole.astype("i1") if bits == 8 else (whole[..., ::2] + 8 + (whole[..., 1::2] + 8) * 16).astype("u1")


class Sequences:
    """How many tokens each batch entry has, before and in this call, and in which buffers."""

    def __init__(self, g):
        self.form = g.pick(["first", "grown", "shared", "continued"])
        self.batch = 1 if self.form == "continued" else g.integer(1, 3)
        self.length = 1 if self.form == "shared" else g.integer(2, 7) if self.form != "grown" or self.batch == 1 else 1
        if self.form == "first":
            self.buffer, self.past, self.total = 0, np.zeros(self.batch, int), self.length
            self.ends = g.random.integers(1, self.length + 1, self.batch)
            self.ends[g.integer(0, self.batch - 1)] = self.length
        elif self.form == "grown":
            self.buffer = g.integer(1, 6)
            self.total, self.past = self.buffer + self.length, np.full(self.batch, self.buffer)
            self.ends = self.past + self.length
        else:
            self.past = g.random.integers(1, 7, self.batch)
            self.ends = self.past + self.length
            self.total = int(self.ends.max())
            self.buffer = self.total + g.integer(0, 4)
        self.present = max(self.total, self.buffer)
        self.at = self.past[:, None] + np.arange(self.length)

    def join(self, cache, new):
        """[batch, heads, present, size] of a past [batch, heads, buffer, size] and new rows [batch, heads, length, size]."""
        whole = np.zeros((*new.shape[:2], self.present, new.shape[3]), new.dtype)
        for b in range(self.batch):
            if cache is not None:
                whole[b, :, : self.past[b]] = cache[b, :, : self.past[b]]
            whole[b, :, self.past[b] : self.past[b] + self.length] = new[b]
        return whole

    def unused(self):
        """Places of the present [batch, 1, present, 1] that no token has, and rows of the result [batch, length, 1] behind the end of a prompt."""
        rows = np.arange(self.present) >= (self.past + self.length)[:, None]
        return rows[:, None, :, None], (self.at >= self.ends[:, None])[:, :, None]


@contrib("GroupQueryAttention", types=["f32"], weight=6)
def group_query_attention(g):
    s = Sequences(g)
    cache_heads, size = g.integer(1, 3), g.pick([16, 16, 32])
    heads = cache_heads * g.integer(1, 3)
    draw = lambda count: g.tensor(g.type, (s.batch, s.length, count * size), "normal", False)
    split = lambda x, count: x.reshape(s.batch, s.length, count, size)
    packed = g.chance(0.4)
    if packed:
        given = [draw(heads + 2 * cache_heads), None, None]
        parts = np.split(given[0].wide, np.cumsum([heads * size, cache_heads * size]), -1)
    else:
        given = [draw(heads), draw(cache_heads), draw(cache_heads)]
        parts = [tensor.wide for tensor in given]
    query, key, value = (split(part, count) for part, count in zip(parts, (heads, cache_heads, cache_heads)))
    rotary, interleaved = g.chance(0.5), g.chance(0.3)
    cosine = sine = positions = None
    if rotary:
        width = g.pick([8, size // 2])
        angle = g.random.standard_normal((20, width))
        cosine, sine = (Tensor(f(angle).astype("f4"), "f32", g.chance(0.7)) for f in (np.cos, np.sin))
        # ONNX Runtime reads them in prompts in ways of its own.
        positions = Tensor(s.at.astype("i8"), "i64", False) if s.form == "shared" and g.chance(0.3) else None
        query, key = (rotated(x, cosine.wide, sine.wide, s.at, interleaved) for x in (query, key))
    query, key, value = (x.transpose(0, 2, 1, 3) for x in (query, key, value))
    bits, scales, quantized = g.pick([0, 0, 4, 8]) if s.buffer else 0, [None, None], {}
    if bits:
        kinds = [g.pick(["PER_TENSOR", "PER_CHANNEL"])] * 2
        sizes = [(1,) if kind == "PER_TENSOR" else (1, cache_heads, 1, size) for kind in kinds]
        scales = [Tensor((g.random.uniform(0.5, 2, shape) / 2 ** (bits - 3)).astype("f4"), "f32", g.chance(0.7)) for shape in sizes]
        caches = [Tensor(g.values("u8" if bits == 4 else "i8", (s.batch, cache_heads, s.buffer, size * bits // 8), "wide"), "u8" if bits == 4 else "i8", False) for _ in range(2)]
        key, value = ((x / scale.wide.reshape((1,) * 4 if scale.array.size == 1 else scale.shape)) for x, scale in zip((key, value), scales))
        key, value = (np.clip(np.rint(x), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for x in (key, value))
        numbers = [unpacked(cache.array, bits) for cache in caches]
        present = [s.join(number, x) for number, x in zip(numbers, (key, value))]
        key, value = (x * scale.wide.reshape((1,) * 4 if scale.array.size == 1 else scale.shape) for x, scale in zip(present, scales))
        quantized = {"k_quant_type": kinds[0], "v_quant_type": kinds[1], "kv_cache_bit_width": bits}
    else:
        caches = [g.tensor(g.type, (s.batch, cache_heads, s.buffer, size), "normal", False) for _ in range(2)] if s.buffer else [None, None]
        key, value = (s.join(cache and cache.wide, x) for cache, x in zip(caches, (key, value)))
        present = [key, value]
    group = heads // cache_heads
    key, value = key.repeat(group, 1), value.repeat(group, 1)
    scale = float(np.float32(g.pick([0.1, 0.5]))) if g.chance(0.3) else None
    softcap, window = g.pick([None, None, 2.0, 20.0]), g.pick([None, None, 1, 2, 4])
    scores = query @ key.swapaxes(2, 3) * (1 / np.sqrt(np.longdouble(size)) if scale is None else np.longdouble(scale))
    size_of_scores = abs(query) @ abs(key.swapaxes(2, 3))
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    column, own = np.arange(s.present), s.at[:, None, :, None]
    hidden = column > own
    if window:
        hidden = hidden | (column <= own - window)
    more = None
    if g.chance(0.3):
        more = g.tensor(g.type, (g.pick([1, s.batch]), g.pick([1, heads]), s.length, s.total), "normal", False)
        scores = scores + np.pad(more.wide, ((0, 0),) * 3 + ((0, s.present - s.total),))
    scores = np.where(hidden, -np.inf, scores)
    sink = g.tensor(g.type, (heads,), "normal", True) if g.chance(0.2) else None
    smooth = 1 if sink is None and g.chance(0.15) else None
    if sink is not None or smooth:
        extra = sink.wide.reshape(1, -1, 1, 1) if sink else np.zeros((1, 1, 1, 1))
        scores = np.concatenate([scores, np.broadcast_to(extra, (*scores.shape[:3], 1))], -1)
    weights = softmax(scores)[..., : s.present]
    exact = weights @ value
    off = (size_of_scores * 8 + 2).max(-1, keepdims=True) * 2.0**-22
    room = weights @ abs(value) * (2 * off + 2.0**-20) + accumulated(g.type, weights @ abs(value), s.present + 8)
    join = lambda x: x.transpose(0, 2, 1, 3).reshape(s.batch, s.length, -1)
    unused, padding = s.unused()
    scalar = Tensor(np.array(s.total, "i4"), "i32", s.form != "shared" or g.chance(0.5))
    ends = Tensor((s.ends - 1).astype("i4"), "i32", False)
    inputs = [*given, *caches, ends, scalar, cosine, sine, positions, more, sink, *scales]
    while inputs[-1] is None:
        inputs.pop()
    outputs = [Expected(join(exact), g.type, 2, join(room), np.broadcast_to(padding, join(exact).shape))]
    if bits:
        stored = [stored_as(x, bits) for x in present]
        outputs += [Expected(x, "u8" if bits == 4 else "i8", 0, 0, np.broadcast_to(unused, x.shape)) for x in stored]
    else:
        outputs += [Expected(x, g.type, 1, abs(x).max() * unit(g.type) * 4, np.broadcast_to(unused, x.shape)) for x in present]
    return g.case(inputs, *outputs, num_heads=heads, kv_num_heads=cache_heads, do_rotary=int(rotary) if rotary or g.chance(0.3) else None, scale=scale,
                  rotary_interleaved=int(interleaved) if rotary else None, local_window_size=window, softcap=softcap, smooth_softmax=smooth, **quantized)
