"""Requests of different lengths in one call, from the text of the schemas of ONNX Runtime 1.32: tokens of all requests stand one behind the other."""

import numpy as np
from activation import sigmoid
from attention import softmax
from cases import Expected, Tensor, operator
from contrib import DOMAIN, contrib, with_bf16
from contrib_caches import rotated
from elements import CODES, round_to
from floats import accumulated, unit


class Requests:
    """The number of tokens of each request."""

    def __init__(self, g, most=5):
        self.count = g.integer(1, 4)
        # Each has one token at least, as ONNX Runtime asks for; decoders give each exactly one.
        self.lengths = g.random.integers(1, (2 if g.chance(0.2) else most) + 1, self.count)
        self.ends = np.concatenate([[0], np.cumsum(self.lengths)])
        self.tokens = int(self.ends[-1])
        self.input = Tensor(self.ends.astype("i4"), "i32", g.chance(0.3))

    def slices(self):
        return [slice(self.ends[r], self.ends[r + 1]) for r in range(self.count)]


@contrib("VarlenCausalConvWithState", types=with_bf16, weight=2)
def varlen_causal_conv(g):
    s, channels, kernel, dilation = Requests(g), g.size(20), g.integer(1, 4), g.pick([None, None, 2, 3])
    reach = (kernel - 1) * (dilation or 1)
    x, weight = g.tensor(g.type, (s.tokens, channels), "normal", False), g.tensor(g.type, (channels, 1, kernel), "normal")
    bias = g.tensor(g.type, (channels,), "normal") if g.chance(0.5) else None
    state = g.tensor(g.type, (s.count, channels, reach), "normal", False)
    capacity = g.pick([None, None, 1, 3])
    exact, size, last = np.zeros(x.shape, np.longdouble), np.zeros(x.shape, np.longdouble), np.zeros(state.shape, x.array.dtype)
    updates = np.zeros((s.count, capacity or 0, channels), x.array.dtype)
    wanted = g.random.integers(-1, 5, s.count)
    for r, rows in enumerate(s.slices()):
        line = np.concatenate([state.array[r], x.array[rows].T], 1)
        last[r] = line[:, line.shape[1] - reach :]
        wide = line.astype(np.longdouble)
        for t in range(s.lengths[r]):
            seen = wide[:, t : t + reach + 1 : dilation or 1]
            exact[s.ends[r] + t] = (seen * weight.wide[:, 0]).sum(1)
            size[s.ends[r] + t] = abs(seen * weight.wide[:, 0]).sum(1)
        taken = max(0, min(wanted[r], capacity or 0, s.lengths[r]))
        updates[r, :taken] = x.array[rows][:taken]
    if bias:
        exact, size = exact + bias.wide, size + abs(bias.wide)
    room = accumulated(g.type, size, kernel + 1) * 1.3
    activation = g.pick([None, "none", "silu", "swish"])
    if activation in ("silu", "swish"):
        exact = exact * sigmoid(exact)
    inputs = [x, weight, s.input, bias, state, *([Tensor(wanted.astype("i4"), "i32", False)] if capacity else [])]
    outputs = [Expected(exact, g.type, 2, room + abs(exact) * 2.0**-18), Expected(last.astype(np.longdouble), g.type, 0)]
    if capacity:
        outputs.append(Expected(updates.astype(np.longdouble), g.type, 0))
    return g.case(inputs, *outputs, activation=activation, dilation=dilation, state_update_capacity=capacity)


@contrib("GatedDeltaNet", types=["f32"], weight=2)
def gated_delta_net_of_lengths(g):
    s, heads, group, d, dv = Requests(g), g.integer(1, 2), g.integer(1, 3), g.pick([2, 4, 8]), g.pick([1, 3, 8])
    states, rule, width = heads * group, g.pick(["linear", "gated", "delta", "gated_delta"]), g.pick([1, d])
    draw = lambda *shape: g.tensor("f32", shape, "normal", False)
    q, k, v, past = draw(s.tokens, heads, d), draw(s.tokens, heads, d), draw(s.tokens, states, dv), draw(s.count, states, dv, d) if g.chance(0.6) else None
    query, key = (x.wide / np.sqrt((x.wide**2).sum(-1, keepdims=True) + 1e-12) for x in (q, k))
    query, key = query.repeat(group, 1), key.repeat(group, 1)
    decay = beta = None
    if "gated" in rule:
        decay = draw(s.tokens, states, *([d] if width > 1 else []))
        decay.array = -abs(decay.array)
    if "delta" in rule:
        beta = draw(s.tokens, states)
    exact = np.zeros((s.tokens, states, dv), np.longdouble)
    last = np.zeros((s.count, states, dv, d), np.longdouble)
    for r, rows in enumerate(s.slices()):
        state = past.wide[r].swapaxes(1, 2).copy() if past else np.zeros((states, d, dv), np.longdouble)
        for t in range(rows.start, rows.stop):
            if decay:
                state = state * np.exp(decay.wide[t].reshape(states, width))[:, :, None]
            row = v.wide[t]
            if beta:
                row = sigmoid(beta.wide[t])[:, None] * (row - np.einsum("hk,hkv->hv", key[t], state))
            state = state + key[t][:, :, None] * row[:, None]
            exact[t] = np.einsum("hk,hkv->hv", query[t], state) / np.sqrt(np.longdouble(d))
        last[r] = state.swapaxes(1, 2)
    inputs = [q, k, v, s.input, decay, beta, past]
    while inputs[-1] is None:
        inputs.pop()
    room = 2.0**-17 * (abs(exact).max() + abs(last).max() * 4 + 1)
    return g.case(inputs, Expected(exact, "f32", 2, room), Expected(last, "f32", 2, room), update_rule=rule, qk_l2_norm=1, beta_activation="sigmoid")


class Pages:
    """A cache, in which each request has pages in any order, and some have none."""

    def __init__(self, g, s):
        self.size, self.past = g.pick([1, 2, 4, 16]), g.random.integers(0, 9, s.count) * (not g.chance(0.2))
        self.totals = self.past + s.lengths
        needed = -(-self.totals // self.size)
        self.columns = int(needed.max()) + g.integer(0, 2)
        self.blocks = int(needed.sum()) + g.integer(0, 3)
        order = iter(g.random.permutation(self.blocks))
        self.table = np.full((s.count, self.columns), -1)
        for r in range(s.count):
            self.table[r, : needed[r]] = [next(order) for _ in range(needed[r])]
        owner = np.repeat(np.arange(s.count), s.lengths)
        self.at = self.past[owner] + np.arange(s.tokens) - s.ends[owner]
        self.slots = self.table[owner, self.at // self.size] * self.size + self.at % self.size

    def rows(self, r):
        """The slots of all tokens of a request."""
        place = np.arange(self.totals[r])
        return self.table[r, place // self.size] * self.size + place % self.size


def norm_rows(x, weight, small):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + small) * weight


class Store:
    """A cache of keys or values: how it holds numbers, and what those mean."""

    def __init__(self, g, pages, heads, size, form):
        self.form, self.kind = form, None if form is None else g.pick(["PER_TENSOR", "PER_CHANNEL"])
        shape = (pages.blocks, pages.size, heads, size)
        self.scale = None if form is None else Tensor(g.random.uniform(0.02, 0.1, (1,) if self.kind == "PER_TENSOR" else (heads, 1, size)).astype("f4"), "f32", g.chance(0.6))
        if form == "f8e4m3fn":
            codes = g.random.integers(0, 0x7F, shape) | g.random.integers(0, 2, shape) << 7
            self.input = Tensor(CODES["f8e4m3fn"][codes].astype("f4"), form, False)
        else:
            self.input = g.tensor(form or g.type, shape, "normal", False)
        self.held = np.asarray(self.input.array).astype(np.longdouble).reshape(pages.blocks * pages.size, heads, size)

    def factor(self):
        return self.scale.wide.reshape(1, -1, self.scale.shape[-1]) if self.kind == "PER_CHANNEL" else self.scale.wide.reshape(1, 1, 1)

    def write(self, slots, rows):
        """Rows [tokens, heads, size] at slots that are not negative."""
        if self.form == "i8":
            rows = np.clip(np.rint(rows / self.factor()), -128, 127)
        elif self.form:
            rows = np.asarray(round_to(np.clip(rows / self.factor(), -448, 448), self.form), np.longdouble)
        self.held[slots[slots >= 0]] = rows[slots >= 0]

    def numbers(self):
        return self.held * self.factor() if self.form else self.held

    def expected(self, g, shape):
        return Expected(self.held.reshape(shape), self.form or g.type, 0 if self.form == "i8" else 1, 0 if self.form else abs(self.held).max() * unit(g.type) * 6)


def paged_attention(g, form):
    """`form`: the type of a cache that is not the query's."""
    s, cache_heads, size = Requests(g), 1 if form == "latent" else g.integer(1, 2), g.pick([8, 16])
    heads, pages, is_latent = cache_heads * g.integer(1, 3), Pages(g, s), form == "latent"
    draw = lambda count: g.tensor(g.type, (s.tokens, count * size), "normal", False)
    split = lambda x, count: x.reshape(s.tokens, count, size)
    value_size = g.pick([size, size // 2]) if is_latent else size
    if is_latent:
        given = [draw(heads), draw(1), None]
    elif g.chance(0.4):
        given = [draw(heads + 2 * cache_heads), None, None]
    else:
        given = [draw(heads), draw(cache_heads), draw(cache_heads)]
    parts = np.split(given[0].wide, np.cumsum([heads * size, cache_heads * size]), -1) if given[1] is None else [x.wide for x in given if x is not None]
    query, key = split(parts[0], heads), split(parts[1], cache_heads)
    norms, small = [None, None], float(np.float32(g.pick([1e-6, 0.01])))
    if g.chance(0.3):
        norms = [g.tensor(g.type, (size,), "positive") for _ in range(2)]
        query, key = norm_rows(query, norms[0].wide, small), norm_rows(key, norms[1].wide, small)
    cosine = sine = offset = None
    interleaved = g.chance(0.3)
    if rotary := g.chance(0.5):
        offset = g.pick([None, 8]) if size == 16 else None
        width = g.pick([2, (size - (offset or 0)) // 2])
        angle = g.random.standard_normal((20, width))
        cosine, sine = (Tensor(round_to(f(angle), g.type), g.type, g.chance(0.7)) for f in (np.cos, np.sin))
        turn = lambda x: np.concatenate([x[..., : offset or 0], rotated(x[None, ..., offset or 0 :], cosine.wide, sine.wide, pages.at[None], interleaved)[0]], -1)
        query, key = turn(query), turn(key)
    stores = [Store(g, pages, cache_heads, size, None if is_latent else form) for _ in range(1 if is_latent else 2)]
    mapping, slots = None, pages.slots.copy()
    if g.chance(0.4):
        slots[g.random.random(s.tokens) < 0.3] = -1
        mapping = Tensor(slots.astype("i4"), "i32", False)
    stores[0].write(slots, key)
    if not is_latent:
        stores[1].write(slots, split(parts[2], cache_heads))
    scale = float(np.float32(0.3)) if value_size != size or g.chance(0.3) else None
    softcap, window, causal = g.pick([None, None, 2.0]), g.pick([None, None, 1, 3]), g.pick([None, None, 0])
    sink = g.tensor(g.type, (heads,), "normal", True) if g.chance(0.2) else None
    keys, values = stores[0].numbers(), stores[-1].numbers()[..., :value_size]
    exact, room = np.zeros((s.tokens, heads, value_size), np.longdouble), np.zeros((s.tokens, heads, value_size), np.longdouble)
    fine = {"f32": 2.0**-22, "f16": 2.0**-10}[g.type]
    for r, rows in enumerate(s.slices()):
        k, v = (x[pages.rows(r)].repeat(heads // cache_heads, 1) for x in (keys, values))
        q, own, column = query[rows], pages.at[rows][:, None], np.arange(pages.totals[r])
        scores = np.einsum("thd,khd->htk", q, k) * (1 / np.sqrt(np.longdouble(size)) if scale is None else np.longdouble(scale))
        size_of = np.einsum("thd,khd->htk", abs(q), abs(k)) + 2
        scores = softcap * np.tanh(scores / softcap) if softcap else scores
        hidden = (column > own if causal is None else np.zeros((len(own), len(column)), bool)) | (column <= own - window if window else False)
        scores = np.where(hidden, -np.inf, scores)
        if sink:
            scores = np.concatenate([scores, np.broadcast_to(sink.wide[:, None, None], (*scores.shape[:2], 1))], -1)
        weights = softmax(scores)[..., : len(column)]
        exact[rows] = np.einsum("htk,khd->thd", weights, v)
        magnitude = np.einsum("htk,khd->thd", weights, abs(v))
        off = size_of.max(-1).T[..., None] * 8 * fine
        room[rows] = magnitude * (2 * off + 4 * fine) + accumulated(g.type, magnitude, 8)
    bounds = Tensor(np.array([s.tokens, 64], "i4"), "i32", True) if g.chance(0.2) else None
    caches = [stores[0].input, None if is_latent else stores[1].input]
    scales = [stores[0].scale, None if is_latent else stores[1].scale]
    lengths, table = Tensor(pages.past.astype("i4"), "i32", False), Tensor(pages.table.astype("i4"), "i32", False)
    inputs = [*given, *caches, s.input, lengths, table, cosine, sine, mapping, sink, *norms, *scales, bounds]
    while inputs[-1] is None:
        inputs.pop()
    outputs = [Expected(exact.reshape(s.tokens, -1), g.type, 2, room.reshape(s.tokens, -1)), *(x.expected(g, x.input.shape) for x in stores)]
    kinds = {} if is_latent else {"k_quant_type": stores[0].kind, "v_quant_type": stores[1].kind}
    return g.case(inputs, *outputs, num_heads=heads, kv_num_heads=cache_heads, do_rotary=int(rotary) if rotary or g.chance(0.3) else None, scale=scale,
                  rotary_interleaved=int(interleaved) if rotary else None, rotary_offset=offset, local_window_size=window, softcap=softcap, is_causal=causal,
                  qk_norm_epsilon=small if norms[0] else None, kv_cache_layout="LATENT" if is_latent else None,
                  v_head_size=value_size if value_size != size else None, **kinds)


@contrib("PagedAttention", types=["f32", "f32", "f16"], weight=4)
def plain_paged_attention(g):
    return paged_attention(g, g.pick([None, None, "i8", "latent"]))


@operator("PagedAttention", types=["f32"], since=19, domain=DOMAIN)
def paged_attention_in_bytes(g):
    return paged_attention(g, "f8e4m3fn")
