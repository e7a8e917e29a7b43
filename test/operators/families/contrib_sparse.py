"""Attention of com.microsoft that sees some of the keys, from the text of ONNX Runtime's ContribOperators.md."""

import numpy as np
from attention import softmax
from cases import Expected, Tensor
from contrib import HALVES, apart, attend, contrib, with_bf16
from contrib_caches import rotated
from elements import round_to
from floats import accumulated, unit


def draw_layouts(g, layouts, blocks):
    """Lower triangles of blocks with their diagonals: [layouts, blocks, blocks] of bool, and their compressed rows, padded with -1."""
    seen = np.tril(g.random.random((layouts, blocks, blocks)) < g.pick([0.4, 1.1])) | np.eye(blocks, dtype=bool)
    counts = seen.sum(-1)
    starts = np.concatenate([np.zeros((layouts, 1), int), counts.cumsum(-1)], -1)
    columns = np.full((layouts, int(counts.sum(-1).max())), -1)
    for layout, rows in enumerate(seen):
        found = np.nonzero(rows)[1]
        columns[layout, : len(found)] = found
    return seen, starts.astype("i4"), columns.astype("i4")


@contrib("SparseAttention", types=with_bf16, weight=3)
def sparse_attention(g):
    block, batch, cache_heads, layouts = g.pick([1, 2, 4]), g.integer(1, 3), g.integer(1, 3), g.integer(1, 2)
    heads, size = cache_heads * layouts * g.integer(1, 2), 16
    is_first, length = g.chance(0.5), g.integer(1, 6)
    past = np.zeros(batch, int) if is_first else g.random.integers(1, 9, batch)
    total = int(past.max()) + length
    counts = past + length
    buffer, blocks = total + g.integer(0, 5), -(-total // block) + g.integer(0, 2)
    seen, starts, columns = draw_layouts(g, layouts, blocks)
    draw = lambda *shape: g.tensor(g.type, shape, "normal", False)
    packed = g.chance(0.4)
    widths = [heads * size, cache_heads * size, cache_heads * size]
    given = [draw(batch, length, sum(widths)), None, None] if packed else [draw(batch, length, width) for width in widths]
    parts = np.split(given[0].wide, np.cumsum(widths)[:2], -1) if packed else [tensor.wide for tensor in given]
    query, key, value = (part.reshape(batch, length, -1, size) for part in parts)
    at = past[:, None] + np.arange(length)
    rotary, interleaved, cosine, sine = g.chance(0.5), g.chance(0.3), None, None
    if rotary:
        angle = g.random.standard_normal((20, 8))
        cosine, sine = (Tensor(round_to(f(angle), g.type), g.type, g.chance(0.7)) for f in (np.cos, np.sin))
        query, key = (rotated(x, cosine.wide, sine.wide, at, interleaved) for x in (query, key))
    caches = [draw(batch, cache_heads, buffer, size) for _ in range(2)]
    present = [cache.wide.copy() for cache in caches]
    for whole, new in zip(present, (key, value)):
        for b in range(batch):
            whole[b, :, past[b] : past[b] + length] = new[b].transpose(1, 0, 2)
    key, value = (x.repeat(heads // cache_heads, 1) for x in present)
    query = query.transpose(0, 2, 1, 3)
    scale = float(np.float32(g.pick([0.1, 0.5]))) if g.chance(0.3) else None
    scores = query @ key.swapaxes(2, 3) * (np.longdouble(1) / 4 if scale is None else np.longdouble(scale))
    column = np.arange(buffer)
    allowed = seen[np.arange(heads) % layouts][:, at // block][:, :, :, np.minimum(column // block, blocks - 1)].transpose(1, 0, 2, 3)
    hidden = (column > at[:, None, :, None]) | ~allowed
    weights = softmax(np.where(hidden, -np.inf, scores))
    join = lambda x: x.transpose(0, 2, 1, 3).reshape(batch, length, -1)
    # Queries and keys are rounded to halves when they are turned, and so may the scores be.
    coarse = unit(g.type) if g.type != "f32" else 0
    off = (abs(query) @ abs(key).swapaxes(2, 3) * (8 * 2.0**-22 + 4 * coarse) + 2 * 2.0**-22).max(-1, keepdims=True)
    room = weights @ abs(value) * (2 * off + 2.0**-20 + 2 * coarse) + accumulated(g.type, weights @ abs(value), buffer + 8)
    inputs = [*given, *caches, Tensor(starts, "i32"), Tensor(columns, "i32"), Tensor(np.array([total], "i4"), "i32"), Tensor(counts.astype("i4"), "i32", False), cosine, sine]
    while inputs[-1] is None:
        inputs.pop()
    outputs = [Expected(join(weights @ value), g.type, 2, join(room))] + [Expected(x, g.type, 1, abs(x).max() * unit(g.type) * 4) for x in present]
    return g.case(inputs, *outputs, num_heads=heads, kv_num_heads=cache_heads, sparse_block_size=block, scale=scale, do_rotary=int(rotary) if rotary else None,
                  rotary_interleaved=int(interleaved) if rotary else None)


@contrib("LongformerAttention", types=HALVES, weight=2)
def longformer_attention(g):
    window, batch, heads, size = g.integer(1, 3), g.integer(1, 2), g.integer(1, 3), g.pick([1, 4, 8])
    length, width = 2 * window * g.integer(1, 3), heads * size
    x = g.tensor(g.type, (batch, length, width), "normal", False)
    weights, biases = zip(*((g.tensor(g.type, (width, 3 * width), "normal"), g.tensor(g.type, (3 * width,), "normal")) for _ in range(2)))
    mask = Tensor(round_to(np.where(g.random.random((batch, length)) < 0.2, -100.0, 0.0), g.type), g.type, False)
    flags = Tensor((g.random.random((batch, length)) < 0.3).astype("i4"), "i32", False)
    is_global, place = flags.array > 0, np.arange(length)
    is_near = abs(place[:, None] - place) <= window
    results = []
    for weight, bias, seen in zip(weights, biases, (is_near | is_global[:, None], np.ones((batch, 1, length), bool))):
        projected, magnitude = x.wide @ weight.wide + bias.wide, abs(x.wide) @ abs(weight.wide) + abs(bias.wide)
        query, key, value = (apart(part, heads) for part in np.split(projected, 3, -1))
        room = (width + 8) * (1 + magnitude.max() / max(abs(projected).max(), 1e-3))
        added = np.where(seen, 0, -np.inf)[:, None] + mask.wide[:, None, None]
        exact, slack = attend(g, query, key, value, added, 1 / np.sqrt(np.longdouble(size)), 0, False, room)
        results.append((exact, slack + magnitude.max() * 2.0**-24 * (width + 8)))
    (near, near_slack), (far, far_slack) = results
    pick = is_global[:, :, None]
    return g.case([x, weights[0], biases[0], mask, weights[1], biases[1], flags],
                  Expected(np.where(pick, far, near), g.type, 2, np.where(pick, far_slack, near_slack)), num_heads=heads, window=window)
