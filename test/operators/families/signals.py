"""Windows, Fourier transforms, and weights of the mel scale."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import TYPES
from floats import rounded
from movement import ints


@operator("HannWindow", "HammingWindow", "BlackmanWindow", types=["f32", "f64", "f16", "i32"], since=17)
def window(g):
    size, periodic = g.integer(1, 40), g.chance(0.5)
    length = size if periodic else size - 1
    angle = 2 * np.pi * np.arange(size) / max(length, 1)
    first, second, third = {"HannWindow": (0.5, 0.5, 0), "HammingWindow": (25 / 46, 21 / 46, 0), "BlackmanWindow": (0.42, 0.5, 0.08)}[g.op]
    exact = first - second * np.cos(angle) + third * np.cos(2 * angle)
    attributes = {"output_datatype": TYPES[g.type].number if g.type != "f32" or g.chance(0.5) else None, "periodic": int(periodic) if not periodic or g.chance(0.5) else None}
    if g.type == "i32":
        # What is nearly whole may be cut to either side.
        return g.case([ints([size])], Expected(np.trunc(exact).astype("i4"), "i32", free=abs(exact - np.rint(exact)) < 1e-6), **attributes)
    inputs = [Tensor(np.array(size), g.pick(["i64", "i32"]), True)]
    inputs[0].array = inputs[0].array.astype(TYPES[inputs[0].type].held)
    return g.case(inputs, Expected(exact, g.type, 1, 1e-7 if g.type != "f64" else 1e-15), **attributes)


def dft_matrix(length, inverse):
    turn = 2 * np.longdouble("3.14159265358979323846264338327950288") * (np.outer(np.arange(length), np.arange(length)) % length) / length
    return (np.cos(turn) + (1j if inverse else -1j) * np.sin(turn)) / (length if inverse else 1)


def fourier(x, length, inverse, onesided):
    """[..., n, 1 or 2] along the last but one dimension."""
    x = x.astype(np.longdouble)
    values = x[..., 0] + (1j * x[..., 1] if x.shape[-1] == 2 else 0)
    kept = values[..., :length]
    kept = np.concatenate([kept, np.zeros((*kept.shape[:-1], length - kept.shape[-1]))], -1)
    result = kept @ dft_matrix(length, inverse)
    result = result[..., : length // 2 + 1] if onesided else result
    return np.stack([result.real, result.imag], -1)


@operator("DFT", types=["f32", "f64", "f16"], since=17, weight=3)
def dft(g):
    outer, n = g.shape(1, 3, zero=False, elements=40, size=6), g.pick([1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 30, 32])
    complex_, inverse = g.chance(0.5), g.chance(0.4)
    onesided = not inverse and not complex_ and g.chance(0.5)
    shape = list(outer)
    # Before opset 20 the axis is an attribute, 1 by default; the batch comes first.
    axis = g.integer(1, len(shape))
    shape.insert(axis, n)
    x = g.tensor(g.type, (*shape, 2 if complex_ else 1), "normal")
    length = g.pick([None, n, n + 3, max(n - 1, 1)])
    moved = np.moveaxis(x.array, axis, -2)
    exact = np.moveaxis(fourier(moved, length or n, inverse, onesided), -2, axis)
    size = np.moveaxis(abs(moved.astype("f8")).sum(axis=(-2, -1), keepdims=True), -2, axis) / ((length or n) if inverse else 1)
    rank = len(shape) + 1
    spelled = axis - rank if g.chance(0.4) else axis
    attributes = {"inverse": int(inverse) if inverse or g.chance(0.4) else None, "onesided": int(onesided) if onesided or g.chance(0.4) else None}
    inputs = [x, Tensor(np.array(length), "i64", True) if length else None]
    if g.opset >= 20:
        if axis != rank - 2 or g.chance(0.5):
            inputs.append(Tensor(np.array(spelled), "i64", True))
    elif axis != 1 or g.chance(0.5):
        attributes["axis"] = axis
    while inputs[-1] is None:
        inputs.pop()
    slack = np.broadcast_to(size, exact.shape) * (2.0**-21 if g.type != "f64" else 2.0**-50) + rounded(g.type, np.broadcast_to(size, exact.shape))
    return g.case(inputs, Expected(exact, g.type, 1, slack), **attributes)


@operator("STFT", types=["f32", "f64"], since=17, weight=2)
def stft(g):
    n, length, step = g.integer(1, 2), g.pick([1, 2, 4, 5, 8, 16]), g.integer(1, 6)
    samples = length + g.integer(0, 20)
    complex_ = g.chance(0.3)
    onesided = not complex_ and g.chance(0.7)
    signal = g.tensor(g.type, (n, samples, 2 if complex_ else 1), "normal")
    window = g.tensor(g.type, (length,), "positive") if g.chance(0.6) else None
    frames = (samples - length) // step + 1
    framed = np.stack([signal.array[:, f * step : f * step + length] for f in range(frames)], 1).astype(np.longdouble)
    framed = framed * (window.wide[:, None] if window else 1)
    exact = fourier(framed, length, False, onesided)
    size = abs(framed).sum(axis=(-2, -1), keepdims=True)
    slack = np.broadcast_to(size, exact.shape) * (2.0**-21 if g.type != "f64" else 2.0**-50)
    inputs = [signal, Tensor(np.array(step), "i64", True), window, Tensor(np.array(length), "i64", True) if not window or g.chance(0.5) else None]
    while inputs[-1] is None:
        inputs.pop()
    return g.case(inputs, Expected(exact, g.type, 1, slack), onesided=int(onesided) if not onesided or g.chance(0.5) else None)


@operator("MelWeightMatrix", types=["f32", "f64"], since=17)
def mel_weights(g):
    bands, length, rate = g.integer(1, 12), g.pick([8, 16, 32, 64, 100]), g.pick([8000, 8192, 16000])
    low, high = float(g.integer(0, 300)), float(g.integer(1000, rate // 2))
    mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)
    points = np.arange(bands + 2) * ((mel(high) - mel(low)) / (bands + 2)) + mel(low)
    edges = (length + 1) * (700 * (10 ** (points / 2595) - 1)) / rate
    free = bool((abs(edges - np.rint(edges)) < 1e-6).any())
    edges = np.floor(edges).astype(int)
    matrix = np.zeros((length // 2 + 1, bands))
    for band in range(bands):
        first, peak, last = edges[band : band + 3]
        for bin in range(len(matrix)):
            if first <= bin < peak:
                matrix[bin, band] = (bin - first) / (peak - first)
            elif bin == peak:
                matrix[bin, band] = 1
            elif peak < bin < last:
                matrix[bin, band] = (last - bin) / (last - peak)
    inputs = [Tensor(np.array(value), "i64", True) for value in (bands, length, rate)] + [Tensor(np.array(value, "f4"), "f32", True) for value in (low, high)]
    return g.case(inputs, Expected(matrix, g.type, 1, free=np.full(matrix.shape, free)), output_datatype=TYPES[g.type].number if g.type != "f32" or g.chance(0.5) else None)
