"""Attention of com.microsoft for sequences without their padding, and for one token, from the text of ONNX Runtime's ContribOperators.md."""

import numpy as np
from cases import Expected, Tensor
from contrib import apart, attend, contrib, score


def packed_places(g):
    """(batch, length, tokens of each sequence, offsets [batch, length], cumulative lengths)"""
    batch, length = g.integer(1, 3), g.integer(1, 6)
    counts = g.random.integers(1, length + 1, batch)
    real = [b * length + t for b in range(batch) for t in range(counts[b])]
    padding = [b * length + t for b in range(batch) for t in range(counts[b], length)]
    offsets = Tensor(np.array(real + padding, "i4").reshape(batch, length), "i32", False)
    ends = Tensor(np.concatenate([[0], np.cumsum(counts)]).astype("i4"), "i32", False)
    return batch, length, counts, offsets, ends


@contrib("RemovePadding", types=["f32", "f16"])
def remove_padding(g):
    batch, length, counts, offsets, ends = packed_places(g)
    padded = g.tensor(g.type, (batch, length, g.integer(1, 9)), "normal", False)
    places = offsets.array.reshape(-1)[: int(counts.sum())]
    rows = padded.array.reshape(batch * length, -1)[places]
    numbers = Tensor(counts.astype("i4"), "i32", False)
    return g.case([padded, numbers], Expected(rows, g.type), Expected(offsets.array, "i32"), Expected(ends.array, "i32"), Expected(counts.max(keepdims=True).astype("i4"), "i32"))


@contrib("RestorePadding", types=["f32", "f16"])
def restore_padding(g):
    batch, length, counts, offsets, _ = packed_places(g)
    rows = g.tensor(g.type, (int(counts.sum()), g.integer(1, 9)), "normal", False)
    padded = np.zeros((batch * length, rows.shape[1]), rows.array.dtype)
    padded[offsets.array.reshape(-1)[: len(rows.array)]] = rows.array
    return g.case([rows, offsets], Expected(padded.reshape(batch, length, -1), g.type))


@contrib("PackedAttention", "PackedMultiHeadAttention", types=["f32"], weight=2)
def packed_attention(g):
    batch, length, counts, offsets, ends = packed_places(g)
    heads, size, tokens = g.integer(1, 3), g.pick([1, 4, 8]), int(counts.sum())
    width = heads * size
    bias = g.tensor("f32", (3 * width,), "normal", True) if g.op == "PackedAttention" or g.chance(0.5) else None
    if g.op == "PackedAttention":
        hidden = g.integer(1, 20)
        x, weights = g.tensor("f32", (tokens, hidden), "normal", False), g.tensor("f32", (hidden, 3 * width), "normal", True)
        inputs, projected, room = [x, weights, bias], x.wide @ weights.wide, (abs(x.wide) @ abs(weights.wide)).max() * (hidden + 8)
    else:
        form = g.chance(0.5)
        given = [g.tensor("f32", (tokens, heads, 3, size), "normal", False), None, None] if form else [g.tensor("f32", (tokens, width), "normal", False) for _ in range(3)]
        parts = [given[0].wide[:, :, at].reshape(tokens, -1) for at in range(3)] if form else [tensor.wide for tensor in given]
        inputs, projected, room = [*given, bias], np.concatenate(parts, 1), 8
    projected = projected + (bias.wide if bias else 0)
    padded = np.zeros((batch * length, 3 * width), np.longdouble)
    places = offsets.array.reshape(-1)[:tokens]
    padded[places] = projected
    query, key, value = (apart(part, heads) for part in np.split(padded.reshape(batch, length, -1), 3, -1))
    hidden_keys = np.where(np.arange(length) < counts[:, None], 0, -np.inf)[:, None, None]
    more = g.tensor("f32", (g.pick([1, batch]), g.pick([1, heads]), length, length), "normal", False) if g.chance(0.3) else None
    exact, slack = attend(g, query, key, value, hidden_keys + (more.wide if more else 0), 1 / np.sqrt(np.longdouble(size)), 0, False, room)
    rows = lambda t: t.reshape(batch * length, -1)[places]
    return g.case([*inputs, offsets, ends] + ([more] if more else []), Expected(rows(exact), "f32", 2, rows(slack) * 2 + room * 2.0**-22), num_heads=heads)


@contrib("DecoderMaskedMultiHeadAttention", "MultiHeadAttention", types=["f32"], weight=2)
def decoder_attention(g):
    """One token behind a past; MultiHeadAttention with a buffer that past and present share."""
    is_decoder = g.op.startswith("Decoder")
    batch, heads, size = g.integer(1, 3), g.integer(1, 3), g.pick([1, 4, 8, 16])
    form = g.pick(["packed", "self", "cross"]) if is_decoder else "self"
    draw = lambda *shape: g.tensor("f32", shape, "normal", False)
    past = g.integer(1, 6) if form != "cross" else 0
    bias = g.tensor("f32", (3 * heads * size,), "normal", True) if g.chance(0.4) and form != "cross" else None
    if form == "packed":
        given = [draw(batch, 1, 3 * heads * size), None, None]
        flat = np.split(given[0].wide, 3, -1)
    else:
        given = [draw(batch, 1, heads * size), *((draw(batch, heads, g.integer(1, 6), size) for _ in range(1)) if form == "cross" else (draw(batch, 1, heads * size),))]
        given.append(draw(*given[1].shape))
        flat = [tensor.wide for tensor in given]
    if bias:
        flat = [part + more for part, more in zip(flat, np.split(bias.wide, 3))]
    query = apart(flat[0], heads)
    key, value = flat[1:] if form == "cross" else (apart(part, heads) for part in flat[1:])
    caches = [None, None]
    # A buffer that past and present share: ONNX Runtime's CPU has that only.
    room = g.integer(1, 4) if past and (g.chance(0.6) or not is_decoder) else 0
    beams = indirection = None
    present = (key, value)
    if past and room:
        caches = [draw(batch, heads, past + room, size) for _ in range(2)]
        present = [np.concatenate([cache.wide[:, :, :past], x], 2) for cache, x in zip(caches, (key, value))]
        if g.chance(0.4):
            # Of the rows of an entry, each reads places of the past from a beam's.
            beams = g.pick([1, batch])
            indirection = Tensor(g.random.integers(0, beams, (batch // beams, beams, past + room)).astype("i4"), "i32", False)
        rows = np.arange(batch)[:, None] if beams is None else (np.arange(batch) // beams * beams)[:, None] + indirection.array.reshape(batch, -1)[:, :past]
        read = lambda cache: cache.wide[rows, :, np.arange(past)].transpose(0, 2, 1, 3)
        key, value = (np.concatenate([read(cache), x], 2) for cache, x in zip(caches, (key, value)))
    elif past:
        caches = [draw(batch, heads, past, size) for _ in range(2)]
        key, value = present = [np.concatenate([cache.wide, x], 2) for cache, x in zip(caches, (key, value))]
    keys = key.shape[2]
    mask, added = None, np.zeros((1, 1, 1, 1))
    if form != "cross" and g.chance(0.4):
        keep = g.random.random((batch, keys)) < 0.7
        keep[:, 0] = True
        mask, added = Tensor(keep.astype("i4"), "i32", False), np.where(keep, 0, -10000.0)[:, None, None]
    # ONNX Runtime mixes up the biases of beams.
    more = draw(1 if indirection else g.pick([1, batch]), g.pick([1, heads]), 1, keys) if form != "cross" and g.chance(0.3) else None
    exact, slack = attend(g, query, key, value, added + (more.wide if more else 0), 1 / np.sqrt(np.longdouble(size)), past, False, 8)
    length = Tensor(np.array([past], "i4"), "i32", False) if room else None
    width = Tensor(np.array([beams], "i4"), "i32") if beams else None
    inputs = [*given, mask, more, *caches, length, width, indirection, bias] if is_decoder else [*given, bias, mask, more, *caches, length, indirection]
    while inputs[-1] is None:
        inputs.pop()
    outputs = [Expected(exact, "f32", 2, slack)]
    if past:
        behind = [cache.wide[:, :, past + 1 :] if room else cache.wide[:, :, :0] for cache in caches]
        free = np.broadcast_to(np.arange(keys + behind[0].shape[2])[:, None] > past, (batch, heads, keys + behind[0].shape[2], size)) if room else None
        outputs += [Expected(np.concatenate(pair, 2), "f32", 1, 0, free) for pair in zip(present, behind)]
    scored = not room and g.chance(0.4)
    if scored:
        scores, slack = score(query, key, added + (more.wide if more else 0), 1 / np.sqrt(np.longdouble(size)), past, False)
        outputs += [None] * (3 - len(outputs)) + [Expected(scores, "f32", 1, slack)]
    return g.case(inputs, *outputs, num_heads=heads, past_present_share_buffer=1 if room and is_decoder else None, output_qk=1 if scored and is_decoder else None)
