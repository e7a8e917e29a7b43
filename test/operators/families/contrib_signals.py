"""Complex numbers, distances and hashes of com.microsoft, from the text of ONNX Runtime's ContribOperators.md."""

import numpy as np
from cases import Expected, Tensor
from contrib import contrib
from floats import unit


@contrib("ComplexMul", "ComplexMulConj", types=["f32", "f64"])
def complex_mul(g):
    shapes = g.shapes_that_broadcast(2, 3)
    a, b = (g.tensor(g.type, (*shape, 2), "normal") for shape in shapes)
    ar, ai, br, bi = a.wide[..., 0], a.wide[..., 1], b.wide[..., 0], b.wide[..., 1] * (-1 if g.op == "ComplexMulConj" else 1)
    room = np.stack([abs(ar * br) + abs(ai * bi), abs(ar * bi) + abs(ai * br)], -1)
    return g.case([a, b], Expected(np.stack([ar * br - ai * bi, ar * bi + ai * br], -1), g.type, 1, room * unit(g.type) * 2))


@contrib("Rfft", "Irfft", types=["f32", "f64"])
def real_fourier(g):
    shape, length = g.shape(0, 2, zero=False, elements=60), 2 * g.integer(1, 20)
    if g.op == "Rfft":
        x = g.tensor(g.type, (*shape, length), "normal")
        exact = np.fft.rfft(x.array.astype("f8"))
        exact = np.stack([exact.real, exact.imag], -1)
        return g.case([x], Expected(exact, g.type, 2, abs(x.wide).sum(-1, keepdims=True)[..., None] * unit(g.type) * 16 + 1e-13), onesided=1, normalized=0, signal_ndim=1)
    x = g.tensor(g.type, (*shape, length // 2 + 1, 2), "normal")
    # The first and the last have no imaginary part.
    x.array[..., 0, 1] = x.array[..., -1, 1] = 0
    wide = x.array.astype("f8")
    exact = np.fft.irfft(wide[..., 0] + 1j * wide[..., 1], length)
    return g.case([x], Expected(exact, g.type, 2, abs(x.wide).sum((-1, -2))[..., None] * unit(g.type) * 16 + 1e-13), onesided=1, normalized=0, signal_ndim=1)


@contrib("CDist", types=["f32", "f64"])
def distances(g):
    rows, columns, depth = g.pick([g.integer(1, 9), g.integer(8, 40)]), g.pick([g.integer(1, 9), g.integer(8, 80)]), g.pick([g.integer(1, 12), g.integer(500, 1100)])
    metric = g.pick(["euclidean", "sqeuclidean"])
    a, b = g.tensor(g.type, (rows, depth), "normal"), g.tensor(g.type, (columns, depth), "normal")
    squares = ((a.wide[:, None] - b.wide) ** 2).sum(-1)
    # ONNX Runtime subtracts products from the sums of squares.
    room = ((abs(a.wide)[:, None] + abs(b.wide)) ** 2).sum(-1) * unit(g.type) * (depth + 8) * 4
    if metric == "sqeuclidean":
        return g.case([a, b], Expected(squares, g.type, 1, room), metric=metric)
    root = np.sqrt(squares)
    return g.case([a, b], Expected(root, g.type, 2, np.where(squares > room, room / np.maximum(root, 1e-30), np.sqrt(room))), metric=metric)


@contrib("DynamicTimeWarping", types=["f32"])
def dynamic_time_warping(g):
    shape = (g.integer(1, 9), g.integer(1, 9))
    x = g.tensor("f32", (1, *shape) if g.chance(0.4) else shape, g.pick(["normal", "small", "special"]))
    costs, numbers = np.full((shape[0] + 1, shape[1] + 1), np.inf, "f4"), x.array.reshape(shape).astype("f4")
    costs[0, 0], trace = 0, {}
    for i, j in np.ndindex(*shape):
        both, above, before = costs[i, j], costs[i, j + 1], costs[i + 1, j]
        trace[i, j] = (1, 1) if both < above and both < before else (1, 0) if above < both and above < before else (0, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            costs[i + 1, j + 1] = {(1, 1): both, (1, 0): above, (0, 1): before}[trace[i, j]] + numbers[i, j]
    path, at = [], (shape[0] - 1, shape[1] - 1)
    while min(at) >= 0:
        path.insert(0, at)
        at = at[0] - trace[at][0], at[1] - trace[at][1]
    return g.case([x], Expected(np.array(path, "i4").T, "i32"))


@contrib("IsAllFinite", types=["f32", "f16", "f64"])
def is_all_finite(g):
    inputs = [g.tensor(g.type, g.shape(0, 2, zero=False), g.pick(["normal", "normal", "special"])) for _ in range(g.integer(1, 3))]
    which = g.pick([{}, {}, {"isinf_only": 1}, {"isnan_only": 1}])
    bad = np.isinf if "isinf_only" in which else np.isnan if "isnan_only" in which else lambda x: ~np.isfinite(x)
    return g.case(inputs, Expected(np.array(not any(bad(x.array).any() for x in inputs)), "bool"), **which)


@contrib("NGramRepeatBlock", types=["f32"])
def ngram_repeat_block(g):
    batch, length, words, size = g.integer(1, 3), g.integer(1, 20), g.integer(2, 6), g.integer(1, 4)
    ids = g.random.integers(0, words, (batch, length))
    scores = g.tensor("f32", (batch, words), "normal", False)
    exact = scores.array.copy()
    for b in range(batch):
        for at in range(length - size + 1):
            if list(ids[b, at : at + size - 1]) == list(ids[b, length - size + 1 : length]):
                exact[b, ids[b, at + size - 1]] = -np.inf
    return g.case([Tensor(ids.astype("i8"), "i64", False), scores], Expected(exact, "f32"), ngram_size=size)


@contrib("NGramHashMapping", types=["i32", "i64"])
def ngram_hash_mapping(g):
    batch, length, longest, heads = g.integer(1, 3), g.integer(1, 6), g.integer(2, 4), g.integer(1, 3)
    kind, padding = "i4" if g.type == "i32" else "i8", g.pick([0, 2, 7])
    whole = lambda shape, low, high, fixed=False: Tensor(g.random.integers(low, high, shape).astype(kind), g.type, fixed)
    ids, past = whole((batch, length), 0, 5000), whole((batch, longest - 1), 0, 5000) if g.chance(0.5) else None
    factors, sizes = whole((longest,), -(2**30), 2**30, g.chance(0.6)), whole(((longest - 1) * heads,), 1, 1000, g.chance(0.6))
    before = past.array if past else np.full((batch, longest - 1), padding, kind)
    everything = np.concatenate([before, ids.array], 1)
    with np.errstate(over="ignore"):
        shifted = [everything[:, longest - 1 - back : longest - 1 - back + length] * factors.array[back] for back in range(longest)]
    hashes = []
    for n in range(2, longest + 1):
        mix = np.bitwise_xor.reduce(shifted[:n], 0)
        hashes += [mix % sizes.array[(n - 2) * heads + head] for head in range(heads)]
    return g.case([ids, factors, sizes, past] if past else [ids, factors, sizes], Expected(np.stack(hashes, -1), g.type), Expected(everything[:, length:], g.type),
                  max_ngram_size=longest, n_head_per_ngram=heads, pad_id=padding)


@contrib("BifurcationDetector", types=["i64"])
def bifurcation_detector(g):
    words = g.integer(1, 4)
    source = list(g.random.integers(0, words, g.integer(1, 12)))
    current = list(g.random.integers(0, words, g.integer(1, 8)))
    start, least = g.integer(0, len(source)), g.integer(1, 2)
    most = least + g.integer(0, 3)
    tokens, given = list(current), [source, current, [start]]
    if g.chance(0.7):
        predicted = [*source[start:], 0]
        for at in range(len(predicted)):
            predicted[at] = predicted[at] if g.chance(0.7) else g.integer(0, words)
        same = next((at for at in range(len(predicted) - 1) if predicted[at] != source[start + at]), len(predicted) - 1)
        tokens += predicted[: same + 1]
        given.append(predicted)
    found = -1
    for size in range(least, most + 1):
        if size > len(tokens):
            break
        places = [at for at in range(len(source) - size + 1) if source[at : at + size] == tokens[-size:]]
        if not places:
            break
        found = places[0] + size
        if found >= len(source):
            break
        if len(places) > 1:
            found = -1
    inputs = [Tensor(np.array(each, "i8"), "i64", False) for each in given]
    return g.case(inputs, Expected(np.array(tokens, "i8"), "i64"), Expected(np.array([found], "i8"), "i64"), min_ngram_size=least, max_ngram_size=most)


def murmur3(data, seed):
    """MurmurHash3_x86_32 of bytes whose number is a multiple of four."""
    mask, state = 0xFFFFFFFF, seed
    rotate = lambda x, by: ((x << by) | (x >> (32 - by))) & mask
    for at in range(0, len(data), 4):
        word = int.from_bytes(data[at : at + 4], "little") * 0xCC9E2D51 & mask
        state = (rotate(state ^ (rotate(word, 15) * 0x1B873593 & mask), 13) * 5 + 0xE6546B64) & mask
    state ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = (state ^ (state >> shift)) * factor & mask
    return state ^ (state >> 16)


@contrib("MurmurHash3", types=["i32", "u32", "i64", "u64", "f32", "f64"])
def murmur_hash(g):
    x, seed, positive = g.tensor(g.type, g.shape(0, 2, elements=200), "wide"), g.pick([None, 0, 1, 42]), g.pick([None, 0, 1])
    words = np.array([murmur3(number.tobytes(), seed or 0) for number in x.array.reshape(-1)], "u4").reshape(x.shape)
    return g.case([x], Expected(words.view("i4") if positive == 0 else words, "i32" if positive == 0 else "u32"), seed=seed, positive=positive)
