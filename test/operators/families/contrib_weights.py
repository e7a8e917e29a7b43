"""Products of com.microsoft with packed weights, states and rotations, from the text of ONNX Runtime's ContribOperators.md."""

import numpy as np
from activation import sigmoid
from cases import Expected, Tensor, operator
from contrib import DOMAIN, contrib, pack, with_bf16
from elements import CODES, round_to
from floats import accumulated, unit
from normalization import small_number

NF4 = np.array([-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0,
                0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1], "f4")
FP4 = np.array([0, 0.00520833333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25], "f4")
FP4 = np.concatenate([FP4, -FP4])


@contrib("MatMulBnb4", types=["f32"], weight=2)
def matmul_bnb4(g):
    block, columns, depth, rows = g.pick([16, 32, 64]), g.integer(1, 40), g.integer(1, 70), g.integer(1, 6)
    kind, transposed = g.integer(0, 1), not g.chance(0.2)
    codes = g.random.integers(0, 16, columns * depth)
    padded = np.append(codes, np.zeros(len(codes) % 2, int)).reshape(-1, 2)
    packed = Tensor((padded[:, 0] * 16 + padded[:, 1]).astype("u1"), "u8", True)
    largest = g.tensor("f32", (-(-len(codes) // block),), "positive", True)
    weights = ((NF4 if kind else FP4)[codes].astype(np.longdouble) * largest.wide.repeat(block)[: len(codes)]).reshape(columns, depth)
    weights = weights.T if transposed else weights
    a = g.tensor("f32", (rows, weights.shape[0]), "normal", False)
    exact, magnitude = a.wide @ weights, abs(a.wide) @ abs(weights)
    # ONNX Runtime reads beyond the weights with transB = 0.
    return g.case([a, packed, largest], Expected(exact, "f32", 1, accumulated("f32", magnitude, depth) * 2), K=depth, N=columns, block_size=block, quant_type=kind,
                  transB=None if transposed and g.chance(0.5) else int(transposed))


@contrib("MatMulFpQ4", types=["f32"], weight=2)
def matmul_fp_q4(g):
    """Blocks of 32 numbers of a column: a scale, with type 1 a zero point, and bytes with numbers i and i + 16."""
    columns, depth, rows, kind = g.integer(1, 40), g.pick([1, 31, 32, 64, 70, 96]), g.integer(1, 20), g.pick([0, 1, None])
    blocks, has_zeros = -(-depth // 32), kind != 0
    numbers = g.random.integers(0, 16, (columns, blocks, 32))
    scales = g.random.standard_normal((columns, blocks, 1)).astype("f4")
    zeros = g.random.integers(0, g.pick([16, 256]), (columns, blocks, 1)) if has_zeros else np.full((columns, blocks, 1), 8)
    blob = np.concatenate([scales.view("u1"), *([zeros] if has_zeros else []), numbers[:, :, :16] | numbers[:, :, 16:] << 4], -1).astype("u1")
    weights = ((numbers - zeros) * scales.astype(np.longdouble)).reshape(columns, -1)[:, :depth].T
    a = g.tensor("f32", (rows, depth), "normal", False)
    exact, magnitude = a.wide @ weights, abs(a.wide) @ (((numbers + zeros) * abs(scales.astype(np.longdouble))).reshape(columns, -1)[:, :depth].T)
    return g.case([a, Tensor(blob.reshape(-1), "u8", True), Tensor(np.array([depth, columns]), "i64", True)],
                  Expected(exact, "f32", 1, accumulated("f32", magnitude, depth) * 4), blk_quant_type=kind)


def product_of_floats(g, a, left, weights, inputs, **attributes):
    """The case of a product with real weights [N, K], to whose inputs a bias is added."""
    columns, depth = weights.shape
    exact, magnitude = left @ weights.T, abs(left) @ abs(weights).T
    if g.chance(0.4):
        inputs.append(g.tensor(g.type, (columns,), "normal", True))
        exact, magnitude = exact + inputs[-1].wide, magnitude + abs(inputs[-1].wide)
    while inputs[-1] is None:
        inputs.pop()
    return g.case([a, *inputs], Expected(exact, g.type, 1, accumulated(g.type, magnitude, depth)), **attributes)


@contrib("MatMulBlockQuantizedFp4Weight", types=["f32", "f16"], weight=2)
def matmul_fp4_weight(g):
    """NVFP4: numbers of four bits, the even one in the lower half of a byte, scales of eight bits for blocks, and one scale for all."""
    columns, depth, block = g.integer(1, 20), 2 * g.integer(1, 40), g.pick([None, 16, 32, 7])
    codes, size = g.random.integers(0, 16, (columns, depth)), block or 16
    scales, whole = g.random.integers(0, 0x60, (columns, -(-depth // size))), g.tensor("f32", g.pick([(), (1,)]), "small", True)
    weights = CODES["f4e2m1"][codes].astype(np.longdouble) * CODES["f8e4m3fn"][scales].repeat(size, 1)[:, :depth] * whole.wide.reshape(())
    a = g.tensor(g.type, (*g.pick([(), (g.integer(1, 5),), (2, 3)]), depth), "normal", False)
    inputs = [Tensor(pack(codes, 4).reshape(columns, -1), "u8", True), Tensor(scales.astype("u1"), "u8", True), whole,
              g.tensor("f32", (), "positive", True) if g.chance(0.3) else None]
    return product_of_floats(g, a, a.wide, weights, inputs, block_size=block)


@operator("MatMulBlockQuantizedFp4Weight", types=["f32", "f16"], since=24, domain=DOMAIN)
def matmul_mxfp4_weight(g):
    """MXFP4: scales are powers of two, of a type of their own, and there need not be one for all."""
    columns, depth, block = g.integer(1, 20), 2 * g.integer(1, 40), g.pick([32, 32, None, 16])
    codes, size = g.random.integers(0, 16, (columns, depth)), block or 16
    scales = 2.0 ** g.random.integers(-6, 4, (columns, -(-depth // size)))
    whole = g.tensor("f32", g.pick([(), (1,)]), "small", True) if g.chance(0.5) else None
    weights = CODES["f4e2m1"][codes].astype(np.longdouble) * scales.repeat(size, 1)[:, :depth] * (whole.wide.reshape(()) if whole else 1)
    a = g.tensor(g.type, (*g.pick([(), (g.integer(1, 5),), (2, 3)]), depth), "normal", False)
    inputs = [Tensor(pack(codes, 4).reshape(columns, -1), "u8", True), Tensor(scales.astype("f4"), "f8e8m0", True), whole, None]
    return product_of_floats(g, a, a.wide, weights, inputs, block_size=block)


@operator("MatMulBlockQuantizedFp8Weight", types=["f32", "f16"], since=19, domain=DOMAIN, weight=2)
def matmul_fp8_weight(g):
    """Numbers of eight bits with an f32 for each block; with a scale for the left side, that is rounded to eight bits, too."""
    columns, depth, block = g.integer(1, 20), g.integer(1, 80), g.pick([None, 128, 32, 7])
    codes, size = g.random.integers(0, 127, (columns, depth)), block or 128
    numbers = CODES["f8e4m3fn"][codes] * g.random.choice([-1, 1], codes.shape).astype("f4")
    scales = g.tensor("f32", (columns, -(-depth // size)), "small", True)
    scales.array = scales.array / np.float32(64)
    weights = numbers.astype(np.longdouble) * scales.wide.repeat(size, 1)[:, :depth]
    a = g.tensor(g.type, (*g.pick([(), (g.integer(1, 5),), (2, 3)]), depth), "normal", False)
    left, inputs = a.wide, [Tensor(numbers, "f8e4m3fn", True), scales, None]
    if g.chance(0.4):
        scale = np.float32(g.pick([0.01, 0.25, 1.5]))
        inputs[2] = Tensor(np.array(scale), "f32", True)
        rounded = round_to(np.clip(a.array.astype("f4") / scale, -448, 448).astype(np.longdouble), "f8e4m3fn")
        left = np.asarray(rounded, np.longdouble) * scale
    return product_of_floats(g, a, left, weights, inputs, block_size=block)


def blocks_of_weights(g, columns, depth, bits, block):
    """(packed, scales, real weights)"""
    blocks = -(-depth // block)
    numbers = g.random.integers(0, 2**bits, (columns, blocks * block))
    scales = g.tensor(g.type, (columns, blocks), "small", True)
    real = (numbers[:, :depth] - 2.0 ** (bits - 1)) * scales.wide.repeat(block, 1)[:, :depth]
    return Tensor(pack(numbers, bits).reshape(columns, blocks, -1), "u8", True), scales, real


@contrib("MatMulNBitsMlp", "MatMulNBitsQkv", types=["f32"], weight=2)
def matmul_n_bits_fused(g):
    """The norm, with or without a skip, and two or three products."""
    rows, depth, bits, block, small = g.integer(1, 4), g.pick([16, 32, 48, 96]), g.pick([4, 4, 8]), g.pick([16, 32]), small_number(g)
    mlp = g.op == "MatMulNBitsMlp"
    sizes = [g.integer(1, 30)] * 2 if mlp else [g.integer(1, 30), *[g.integer(1, 20)] * 2]
    x = g.tensor("f32", (rows, depth), "normal", False)
    has_norm = not mlp or g.chance(0.6)
    skip = g.tensor("f32", (rows, depth), "normal", False) if has_norm and g.chance(0.5) else None
    scale = g.tensor("f32", (depth,), "normal", True) if has_norm else None
    total = x.wide + (skip.wide if skip else 0)
    normal = total / np.sqrt((total**2).mean(-1, keepdims=True) + small) * scale.wide if has_norm else total
    inputs, products, room = [x, skip, scale], [], []
    for columns in sizes:
        packed, scales, real = blocks_of_weights(g, columns, depth, bits, block)
        bias = g.tensor("f32", (columns,), "normal", True) if g.chance(0.4) else None
        inputs += [packed, scales, bias]
        products.append(normal @ real.T + (bias.wide if bias else 0))
        room.append(abs(normal) @ abs(real).T * 2.0**-22 * (depth + 16) + 2.0**-20 * (abs(bias.wide) if bias else 0))
    while inputs[-1] is None:
        inputs.pop()
    more = [Expected(total, "f32", 1)] if skip and g.chance(0.5) else []
    common = {"K": depth, "bits": bits, "block_size": block, "epsilon": small}
    if not mlp:
        return g.case(inputs, *(Expected(p, "f32", 2, r) for p, r in zip(products, room)), *more, Nq=sizes[0], Nkv=sizes[1], **common)
    (gate, up), (gate_room, up_room) = products, room
    exact = gate * sigmoid(gate) * up
    slack = gate_room * 1.2 * abs(up) + up_room * abs(gate) + abs(exact) * 2.0**-19
    return g.case(inputs, Expected(exact, "f32", 2, slack), *more, N=sizes[0], activation="silu", **common)


@contrib("GemmaRotaryEmbedding", types=["f16"])
def gemma_rotary(g):
    batch, heads, length, size = g.integer(1, 2), g.integer(1, 3), g.integer(1, 5), g.integer(1, 9)
    angle = g.tensor("f32", (batch, length, size), "normal", False)
    q, q_turned, k, k_turned = (g.tensor("f16", (batch, heads, length, size), "normal", False) for _ in range(4))
    cos, sin = (f(angle.array.astype("f8")).astype("f2").astype("f8")[:, None] for f in (np.cos, np.sin))
    outputs = []
    for x, turned in ((q, q_turned), (k, k_turned)):
        exact = x.wide * cos + turned.wide * sin
        outputs.append(Expected(exact, "f16", 1, (abs(x.wide * cos) + abs(turned.wide * sin)) * 2.0**-10 + (abs(x.wide) + abs(turned.wide)) * 2.0**-11))
    return g.case([angle, q, q_turned, k, k_turned], *outputs)


@contrib("MRotaryEmbedding", types=with_bf16)
def m_rotary(g):
    batch, length, heads, half = g.integer(1, 2), g.integer(1, 6), g.integer(1, 3), g.integer(3, 8)
    interleaved, layout, flat = g.chance(0.4), g.integer(0, 1), g.chance(0.5)
    t = g.integer(1, half - 2)
    h = g.integer(1, half - t - 1)
    sections = [t, h, half - t - h]
    if layout:
        # Every third place belongs to each of the two.
        sections[1] = min(sections[1], (half + 1) // 3)
        sections[2] = min(sections[2], half // 3)
        sections[0] = half - sections[1] - sections[2]
    x = g.tensor(g.type, (batch, length, heads * 2 * half) if flat else (batch, heads, length, 2 * half), "normal", False)
    cosine, sine = g.tensor(g.type, (20, half), "normal", True), g.tensor(g.type, (20, half), "normal", True)
    positions = Tensor(g.random.integers(0, 20, (3, batch, length)).astype("i8"), "i64", False)
    stream = np.zeros(half, int)
    if layout:
        for which in (1, 2):
            stream[which : sections[which] * 3 : 3] = which
    else:
        stream = np.repeat([0, 1, 2], sections)
    at = positions.array[stream, :, :].transpose(1, 2, 0)
    cos, sin = (np.take_along_axis(cache.wide[None, None].repeat(batch, 0).repeat(length, 1), at[:, :, None, :], 2) for cache in (cosine, sine))
    split = x.wide.reshape(batch, length, heads, -1) if flat else x.wide.transpose(0, 2, 1, 3)
    first, second = (split[..., ::2], split[..., 1::2]) if interleaved else (split[..., :half], split[..., half:])
    join = (lambda a, b: np.stack([a, b], -1).reshape(split.shape)) if interleaved else (lambda a, b: np.concatenate([a, b], -1))
    exact = join(cos * first - sin * second, sin * first + cos * second)
    slack = join(abs(cos * first) + abs(sin * second), abs(sin * first) + abs(cos * second)) * unit(g.type) * 2
    back = (lambda r: r.reshape(batch, length, -1)) if flat else (lambda r: r.transpose(0, 2, 1, 3))
    return g.case([x, positions, cosine, sine], Expected(back(exact), g.type, 1, back(slack)), mrope_section=sections, mrope_layout=layout,
                  interleaved=int(interleaved), num_heads=heads if flat else None)


@contrib("CausalConvWithState", types=["f32"], weight=2)
def causal_conv(g):
    batch, channels, length, kernel = g.integer(1, 2), g.integer(1, 9), g.integer(1, 9), g.integer(1, 4)
    dilation = None
    reach = (kernel - 1) * (dilation or 1)
    x, weight = g.tensor("f32", (batch, channels, length), "normal", False), g.tensor("f32", (channels, 1, kernel), "normal", g.chance(0.7))
    bias = g.tensor("f32", (channels,), "normal", True) if g.chance(0.5) else None
    past = g.tensor("f32", (batch, channels, reach), "normal", False) if g.chance(0.5) and reach else None
    whole = np.concatenate([past.wide if past else np.zeros((batch, channels, reach)), x.wide], 2)
    taps = [(whole[:, :, k * (dilation or 1) : k * (dilation or 1) + length], weight.wide[:, 0, k, None]) for k in range(kernel)]
    exact = sum(part * factor for part, factor in taps) + (bias.wide[:, None] if bias else 0)
    room = sum(abs(part * factor) for part, factor in taps) + (abs(bias.wide[:, None]) if bias else 0)
    name = g.pick([None, "none", "silu", "swish"])
    slack = room * 2.0**-22 * kernel
    if name in ("silu", "swish"):
        exact, slack = exact * sigmoid(exact), slack * 1.2 + abs(exact) * 2.0**-20
    inputs = [x, weight, bias, past]
    while inputs[-1] is None:
        inputs.pop()
    present = whole[:, :, whole.shape[2] - reach :]
    return g.case(inputs, Expected(exact, "f32", 2, slack), Expected(present, "f32"), activation=name, dilation=dilation)


@contrib("LinearAttention", types=["f32"], weight=2)
def linear_attention(g):
    batch, steps, states, key_size, size = g.integer(1, 2), g.integer(1, 5), g.integer(1, 3), g.pick([2, 4, 8]), g.pick([2, 4, 8])
    heads, rule = states * g.integer(1, 2), g.pick(["linear", "gated", "delta", "gated_delta"])
    draw = lambda width, kind="normal": g.tensor("f32", (batch, steps, width), kind, False)
    query, key, value = draw(heads * key_size), draw(states * key_size), draw(states * size)
    key.array = (key.array / np.float32(np.sqrt(key_size) * 2)).astype("f4")
    decay, beta, past = None, None, g.tensor("f32", (batch, states, key_size, size), "normal", False) if g.chance(0.5) else None
    split = lambda x, count: x.wide.reshape(batch, steps, count, -1)
    q, k, v = split(query, heads), split(key, states), split(value, states)
    if "gated" in rule:
        decay = draw(states * g.pick([1, key_size]))
        decay.array = -abs(decay.array)
    if "delta" in rule:
        beta = draw(g.pick([1, states]), "positive")
        beta.array = (beta.array / (1 + beta.array)).astype("f4")
    state = past.wide.copy() if past else np.zeros((batch, states, key_size, size), np.longdouble)
    rows = []
    for t in range(steps):
        if decay:
            state = state * np.exp(split(decay, states)[:, t][..., None])
        row = v[:, t]
        if beta:
            row = split(beta, beta.shape[2])[:, t] * (row - np.einsum("bhk,bhkv->bhv", k[:, t], state))
        state = state + k[:, t][..., None] * row[:, :, None]
        rows.append(np.einsum("bhk,bhkv->bhv", q[:, t], state.repeat(heads // states, 1)).reshape(batch, -1))
    scale = g.pick([None, 0.5])
    exact = np.stack(rows, 1) * (1 / np.sqrt(np.longdouble(key_size)) if scale is None else scale)
    inputs = [query, key, value, past, decay, beta]
    while inputs[-1] is None:
        inputs.pop()
    room = 2.0**-17 * (abs(exact).max() + abs(state).max() * 4 + 1)
    return g.case(inputs, Expected(exact, "f32", 2, room), Expected(state, "f32", 2, room), q_num_heads=heads, kv_num_heads=states, update_rule=rule, scale=scale)


@contrib("GatedDeltaNet", types=["f32"], weight=2)
def gated_delta_net(g):
    """The steps of requests of one length, whose tokens have one axis or two; queries, keys and values apart or in one input; the gates as they are or raw."""
    form = g.pick(["axes", "flat", "ends", "packed"])
    batch, steps, heads, group, d, dv = 1 if form == "ends" else g.integer(1, 2), g.integer(1, 4), g.integer(1, 2), g.integer(1, 3), g.pick([2, 4, 8]), g.pick([1, 3, 8])
    states, rule = heads * group, g.pick(["linear", "gated", "delta", "gated_delta"])
    draw = lambda *shape, kind="normal": g.tensor("f32", shape, kind, False)
    own = (batch, steps) if form == "axes" else (batch * steps,)
    whole = lambda x, *shape: x.wide.reshape(batch, steps, *shape)
    if form == "packed":
        q = draw(*own, 2 * heads * d + states * dv)
        parts = np.split(whole(q, -1), [heads * d, 2 * heads * d], -1)
    else:
        q, k, v = draw(*own, heads, d), draw(*own, heads, d), draw(*own, states, dv)
        parts = [whole(x, -1) for x in (q, k, v)]
    query, key = (x.reshape(batch, steps, heads, d) for x in parts[:2])
    query, key = (x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-12) for x in (query, key))
    query, key, value = query.repeat(group, 2), key.repeat(group, 2), parts[2].reshape(batch, steps, states, dv)
    past = draw(batch, states, dv, d) if form in ("flat", "packed") or g.chance(0.5) else None
    gate, width = g.pick([None, "softplus", "kda"]), g.pick([1, d])
    inputs, decay, beta = [q, *([None, None] if form == "packed" else [k, v]), None, None, None, past, None, None], None, None
    if form == "ends":
        inputs[3] = Tensor(np.array([0, steps], "i4"), "i32", False)
    if "gated" in rule:
        inputs[4] = draw(*own, states, *([d] if width > 1 else []))
        decay = whole(inputs[4], states, width)
        if gate:
            inputs[7], inputs[8] = draw(states), draw(states, *([d] if width > 1 else []))
            rate, shifted = np.exp(inputs[7].wide)[:, None], decay + inputs[8].wide.reshape(states, width)
            decay = -rate * np.logaddexp(0, shifted) if gate == "softplus" else -5 * sigmoid(rate * shifted)
        else:
            inputs[4].array = -abs(inputs[4].array)
            decay = whole(inputs[4], states, width)
    if "delta" in rule:
        inputs[5] = draw(*own, states)
        beta = sigmoid(whole(inputs[5], states, 1))
    state = past.wide.transpose(0, 1, 3, 2).copy() if past else np.zeros((batch, states, d, dv), np.longdouble)
    exact = np.zeros((batch, steps, states, dv), np.longdouble)
    for t in range(steps):
        state = state * np.exp(decay[:, t, :, :, None]) if decay is not None else state
        row = value[:, t]
        if beta is not None:
            row = beta[:, t] * (row - np.einsum("bhk,bhkv->bhv", key[:, t], state))
        state = state + key[:, t][..., None] * row[:, :, None]
        exact[:, t] = np.einsum("bhk,bhkv->bhv", query[:, t], state)
    scale = g.pick([None, 0.5])
    exact = exact * (1 / np.sqrt(np.longdouble(d)) if scale is None else scale)
    while inputs[-1] is None:
        inputs.pop()
    room = 2.0**-17 * (abs(exact).max() + abs(state).max() * 4 + 1)
    outputs = [Expected(exact.reshape(*own, states, dv), "f32", 2, room), Expected(state.transpose(0, 1, 3, 2), "f32", 2, room)]
    return g.case(inputs, *outputs, update_rule=rule, scale=scale, qk_l2_norm=1, gate_activation=gate if "gated" in rule else None,
                  beta_activation="sigmoid" if "delta" in rule else None)
