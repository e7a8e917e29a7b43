"""Sixty definitions beside what NumPy computes: activations, norms, resampling, losses, parts of attention.

Usage: sixty.py FOLDER
Compiles a model that calls all of them, runs it, and compares. A result may differ by 4 units in the last place, or by twice what NumPy itself differs in the same
precision, with inputs that are moved by one unit, from what it computes in double precision: the condition of the formula. Integers must be equal.
"""

import sys

import numpy as np
from definitions import compare_all

rng = np.random.default_rng(7)


def real(*shape, low=-4.0, high=4.0):
    return rng.uniform(low, high, shape).astype(np.float32)


def shifted(x, by):
    y = np.zeros_like(x)
    y[:, by:] = x[:, : x.shape[1] - by]
    return y


def windows(x, size, step=1):
    return np.stack([x[:, i : i + size] for i in range(0, x.shape[1] - size + 1, step)], 1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erf(x):
    from math import erf as scalar

    return np.vectorize(scalar, otypes=[float])(x.astype(np.float64)).astype(x.dtype)


X, IMAGE, ROWS, MATRIX = real(3, 37), real(2, 3, 6, 8), real(5, 19), real(7, 19)
PLUS, PROBABILITY = real(3, 37, low=0.1, high=5.0), real(5, 19, low=0.01, high=0.99)
Q, K, V = real(2, 3, 5, 8), real(2, 3, 7, 8), real(2, 3, 7, 8)
CHANNEL = real(3)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# Text, operands, attributes, NumPy.
CASES = [
    # Activations
    ("relu4(x)[n, c, h, w] = max(0, x[n, c, h, w])", [IMAGE], {}, lambda x: np.maximum(x, 0)),
    ("leaky(x; alpha = 0.01)[...] = select(x[...] < 0, alpha * x[...], x[...])", [X], {"alpha": 0.25}, lambda x: np.where(x < 0, x.dtype.type(0.25) * x, x)),
    ("elu(x; alpha = 1.0)[...] = select(x[...] > 0, x[...], alpha * (exp(x[...]) - 1))", [X], {}, lambda x: np.where(x > 0, x, np.exp(x) - 1)),
    ("selu(x)[...] = 1.0507009873554805 * select(x[...] > 0, x[...], 1.6732632423543772 * (exp(x[...]) - 1))", [X], {},
     lambda x: x.dtype.type(1.0507009873554805) * np.where(x > 0, x, x.dtype.type(1.6732632423543772) * (np.exp(x) - 1))),
    ("swish(x; beta = 1.0)[...] = x[...] * sigmoid(beta * x[...])", [X], {"beta": 1.5}, lambda x: x * sigmoid(x.dtype.type(1.5) * x)),
    ("gate(x, w; alpha = 1.0)[...] = x[...] * sigmoid(alpha * w[...])", [X, PLUS], {}, lambda x, w: x * sigmoid(w)),
    ("mish(x)[...] = x[...] * tanh(softplus(x[...]))", [X], {}, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    ("gelu(x)[...] = 0.5 * x[...] * (1 + erf(x[...] * 0.7071067811865476))", [X], {}, lambda x: x.dtype.type(0.5) * x * (1 + erf(x * x.dtype.type(0.7071067811865476)))),
    ("fast_gelu(x)[...] = 0.5 * x[...] * (1 + tanh(0.7978845608028654 * (x[...] + 0.044715 * x[...] * x[...] * x[...])))", [X], {},
     lambda x: x.dtype.type(0.5) * x * (1 + np.tanh(x.dtype.type(0.7978845608028654) * (x + x.dtype.type(0.044715) * x * x * x)))),
    ("hard_sigmoid(x)[...] = max(0, min(1, 0.2 * x[...] + 0.5))", [X], {}, lambda x: np.clip(x.dtype.type(0.2) * x + x.dtype.type(0.5), 0, 1)),
    ("hard_swish(x)[...] = x[...] * hard_sigmoid(x[...])", [X], {}, lambda x: x * np.clip(x.dtype.type(0.2) * x + x.dtype.type(0.5), 0, 1)),
    ("softsign(x)[...] = x[...] / (1 + abs(x[...]))", [X], {}, lambda x: x / (1 + np.abs(x))),
    ("hard_shrink(x; lambd = 0.5)[...] = select(abs(x[...]) > lambd, x[...], 0)", [X], {}, lambda x: np.where(np.abs(x) > 0.5, x, 0)),
    ("soft_shrink(x; lambd = 0.5)[...] = sign(x[...]) * max(abs(x[...]) - lambd, 0)", [X], {}, lambda x: np.sign(x) * np.maximum(np.abs(x) - x.dtype.type(0.5), 0)),
    ("tanh_shrink(x)[...] = x[...] - tanh(x[...])", [X], {}, lambda x: x - np.tanh(x)),
    ("prelu(x, slope)[n, c, ...] = select(x[n, c, ...] < 0, slope[c] * x[n, c, ...], x[n, c, ...])", [IMAGE, CHANNEL], {},
     lambda x, s: np.where(x < 0, s[:, None, None] * x, x)),
    ("squared_relu(x)[...] = relu(x[...]) * relu(x[...])", [X], {}, lambda x: np.maximum(x, 0) ** 2),
    ("snake(x; a = 1.0)[...] = x[...] + sin(a * x[...]) * sin(a * x[...]) / a", [X], {}, lambda x: x + np.sin(x) ** 2),
    ("log_sigmoid(x)[...] = -softplus(-x[...])", [X], {}, lambda x: -np.log1p(np.exp(-x))),
    ("glu(x)[n, k < dim(x, 1) // 2] = x[n, k] * sigmoid(x[n, k + dim(x, 1) // 2])", [real(3, 12)], {}, lambda x: x[:, :6] * sigmoid(x[:, 6:])),
    # Arithmetic
    ("lerp(a, b; t = 0.5)[...] = a[...] + t * (b[...] - a[...])", [X, PLUS], {"t": 0.25}, lambda a, b: a + a.dtype.type(0.25) * (b - a)),
    ("hypot(a, b)[...] = sqrt(a[...] * a[...] + b[...] * b[...])", [X, PLUS], {}, lambda a, b: np.sqrt(a * a + b * b)),
    ("power(x; p = 1.5)[...] = pow(x[...], p)", [PLUS], {}, lambda x: np.power(x, x.dtype.type(1.5))),
    ("remainder(a, b)[...] = fmod(a[...], b[...])", [X, PLUS], {}, lambda a, b: np.fmod(a, b)),
    ("waves(x)[...] = cos(x[...]) + atan(x[...]) + asinh(x[...])", [X], {}, lambda x: np.cos(x) + np.arctan(x) + np.arcsinh(x)),
    ("clip(x; low = -1.0, high = 1.0)[...] = max(low, min(high, x[...]))", [X], {}, lambda x: np.clip(x, -1, 1)),
    ("ramp(x)[n, t] = x[n, t] + t", [X], {}, lambda x: x + np.arange(37, dtype=x.dtype)),
    ("outer(a, b)[i, j] = a[i] * b[j]", [CHANNEL, real(5)], {}, lambda a, b: a[:, None] * b),
    # Reductions
    ("rowsum(x)[n] += x[n, k]", [X], {}, lambda x: x.sum(1)),
    ("rowproduct(x)[n] *= x[n, k]", [PLUS], {}, lambda x: x.prod(1)),
    ("rowmax(x)[...] max= x[..., k]", [IMAGE], {}, lambda x: x.max(-1)),
    ("rowmin(x)[...] min= x[..., k]", [IMAGE], {}, lambda x: x.min(-1)),
    ("sumsquare(x)[...] += x[..., k] * x[..., k]", [X], {}, lambda x: (x * x).sum(-1)),
    ("mean(x)[...] += x[..., k] / 37", [X], {}, lambda x: (x / 37).sum(-1)),
    ("trace(x)[] += x[i, i]", [real(6, 6)], {}, lambda x: np.trace(x)),
    ("matmul(a, b)[i, j] += a[i, k] * b[j, k]", [ROWS, MATRIX], {}, lambda a, b: a @ b.T),
    ("distance(a, b)[i, j] += abs(a[i, k] - b[j, k])", [ROWS, MATRIX], {}, lambda a, b: np.abs(a[:, None] - b[None]).sum(-1)),
    # Norms
    ("l2_norm(x)[..., c] = x[..., c] / sqrt(sumsquare(x)[...])", [X], {}, lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True))),
    ("rms_norm(x, g; epsilon = 0.00001)[..., c] = g[c] * x[..., c] / sqrt(sumsquare(x)[...] / 37 + epsilon)", [X, real(37)], {},
     lambda x, g: g * x / np.sqrt((x * x).sum(-1, keepdims=True) / 37 + x.dtype.type(1e-5))),
    ("centred(x)[..., c] = x[..., c] - mean(x)[...]", [X], {}, lambda x: x - (x / 37).sum(-1, keepdims=True)),
    ("layer_norm(x; epsilon = 0.00001)[..., c] = centred(x)[..., c] / sqrt(sumsquare(centred(x))[...] / 37 + epsilon)", [X], {},
     lambda x: (x - (x / 37).sum(-1, keepdims=True)) / np.sqrt(((x - (x / 37).sum(-1, keepdims=True)) ** 2).sum(-1, keepdims=True) / 37 + x.dtype.type(1e-5))),
    ("affine(x, scale, shift)[n, c, ...] = x[n, c, ...] * scale[c] + shift[c]", [IMAGE, CHANNEL, CHANNEL], {},
     lambda x, s, b: x * s[:, None, None] + b[:, None, None]),
    # Moving and resampling
    ("shift(x; by = 1)[n, t] = x[n, t - by] else 0", [X], {"by": 2}, lambda x: shifted(x, 2)),
    ("flip(x)[n, t] = x[n, dim(x, 1) - 1 - t]", [X], {}, lambda x: x[:, ::-1]),
    ("odd(x)[n, t] = x[n, 2 * t + 1]", [X], {}, lambda x: x[:, 1::2]),
    ("nearest(x)[n, c, h < 2 * dim(x, 2), w < 2 * dim(x, 3)] = x[n, c, h // 2, w // 2]", [IMAGE], {}, lambda x: x.repeat(2, 2).repeat(2, 3)),
    ("halve(x)[n, c, h, w] = (x[n, c, 2 * h, 2 * w] + x[n, c, 2 * h + 1, 2 * w] + x[n, c, 2 * h, 2 * w + 1] + x[n, c, 2 * h + 1, 2 * w + 1]) / 4", [IMAGE], {},
     lambda x: (x[..., ::2, ::2] + x[..., 1::2, ::2] + x[..., ::2, 1::2] + x[..., 1::2, 1::2]) / 4),
    ("difference(x)[n, t] = x[n, t + 1] - x[n, t]", [X], {}, lambda x: np.diff(x, axis=1)),
    ("smooth(x)[n, t] = (x[n, t - 1] else 0) / 4 + x[n, t] / 2 + (x[n, t + 1] else 0) / 4", [X], {},
     lambda x: shifted(x, 1) / 4 + x / 2 + shifted(x[:, ::-1], 1)[:, ::-1] / 4),
    ("filter(x, w)[n, t] += x[n, t + k] * w[k]", [X, real(3)], {}, lambda x, w: (windows(x, 3) * w).sum(-1)),
    ("max_pool(x)[n, t] max= x[n, 2 * t + k] for k < 3", [X], {}, lambda x: windows(x, 3, 2).max(-1)),
    ("swap(x)[..., a, b] = x[..., b, a]", [IMAGE], {}, lambda x: x.swapaxes(-1, -2)),
    ("diagonal(x)[n] = x[n, n]", [real(6, 6)], {}, lambda x: np.diag(x)),
    # Losses
    ("squared_error(a, b)[n] += (a[n, k] - b[n, k]) * (a[n, k] - b[n, k])", [ROWS, PROBABILITY], {}, lambda a, b: ((a - b) ** 2).sum(1)),
    ("huber(a, b; delta = 1.0)[...] = select(abs(a[...] - b[...]) <= delta, 0.5 * (a[...] - b[...]) * (a[...] - b[...]), "
     "delta * (abs(a[...] - b[...]) - 0.5 * delta))", [ROWS, PROBABILITY], {},
     lambda a, b: np.where(np.abs(a - b) <= 1, a.dtype.type(0.5) * (a - b) * (a - b), np.abs(a - b) - a.dtype.type(0.5))),
    ("cross_entropy(p, y)[n] += -(y[n, k] * log(p[n, k]))", [PROBABILITY, PROBABILITY], {}, lambda p, y: -(y * np.log(p)).sum(1)),
    ("hinge(x, y)[...] = max(0, 1 - x[...] * y[...])", [ROWS, PROBABILITY], {}, lambda x, y: np.maximum(0, 1 - x * y)),
    ("divergence(p, q)[n] += p[n, k] * log(p[n, k] / q[n, k])", [PROBABILITY, PROBABILITY[::-1].copy()], {}, lambda p, q: (p * np.log(p / q)).sum(1)),
    # Parts of attention
    ("scores(q, k)[b, h, i, j] += q[b, h, i, d] * k[b, h, j, d]", [Q, K], {}, lambda q, k: np.einsum("bhid,bhjd->bhij", q, k)),
    ("causal(s)[b, h, i, j] = select(j <= i, s[b, h, i, j], -inf)", [real(2, 3, 5, 5)], {}, lambda s: np.where(np.tri(5, dtype=bool), s, -np.inf).astype(s.dtype)),
    ("alibi(s, slope)[b, h, i, j] = s[b, h, i, j] + slope[h] * (j - i)", [real(2, 3, 5, 7), CHANNEL], {},
     lambda s, m: s + m[:, None, None] * (np.arange(7, dtype=s.dtype)[None] - np.arange(5, dtype=s.dtype)[:, None])),
    ("exps(x)[..., c] = exp(x[..., c] - rowmax(x)[...])", [ROWS], {}, lambda x: np.exp(x - x.max(-1, keepdims=True))),
    ("total(x)[...] += x[..., k]", [ROWS], {}, lambda x: x.sum(-1)),
    ("softmax(x)[..., c] = exps(x)[..., c] / total(exps(x))[...]", [ROWS], {}, softmax),
    ("attend(p, v)[b, h, i, d] += p[b, h, i, j] * v[b, h, j, d]", [real(2, 3, 5, 7), V], {}, lambda p, v: np.einsum("bhij,bhjd->bhid", p, v)),
    ("half_rotated(x)[..., c < 8] = select(c < 4, -x[..., (c + 4) % 8], x[..., (c + 4) % 8])", [Q], {}, lambda x: np.concatenate([-x[..., 4:], x[..., :4]], -1)),
]
TEXT = "domain \"acme\" version 1\nrelu(x)[...] = max(0, x[...])\n" + "".join(case[0] + "\n" for case in CASES)

if __name__ == "__main__":
    compare_all(sys.argv[1], TEXT, CASES)
    print(len(CASES), "definitions agree")
