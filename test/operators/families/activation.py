"""Activation functions, with their tails: every one is compared in ulp with its formula in a wide type."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import FLOATS, SIGNED, TYPES, round_to
from functions import OLD, erfc, since13, since22

# Below it a sigmoid, and what is made of one, may be 0: e^-x is infinite there. Mish loses the digits that e^x has lost.
LEAST_NORMAL = {False: np.longdouble(2.0) ** -126, True: np.longdouble(2.0) ** -1022}
# Steps of the result's type. Those of a half are a rounding more than half a step.
ULPS = {"f32": 4, "f64": 6, "other": 0.52}


def argument(g, shape=None):
    """Numbers in which the tails of activations lie."""
    shape = g.shape() if shape is None else shape
    if g.chance(0.3):
        return g.tensor(g.type, shape)
    scale = g.pick([0.001, 1, 6, 20, 90, 110, 700])
    return Tensor(round_to(np.asarray(g.random.uniform(-scale, scale, shape)), g.type), g.type)


def number(g, *choices):
    """An attribute as ONNX holds it, in f32; None leaves it at its default."""
    choice = g.pick([None, *choices])
    return None if choice is None else float(np.float32(choice))


def given(value, default):
    return np.longdouble(float(np.float32(default)) if value is None else value)


def softplus(x):
    return np.where(np.isnan(x), x, np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def tail(g, factor, exponent, exact):
    """What rounding the exponent of a sigmoid costs, and where it may be 0, times a factor."""
    relative = np.minimum(np.abs(np.nan_to_num(exponent)), 2000) * np.longdouble(2.0) ** -(53 if g.type == "f64" else 24)
    return np.nan_to_num(np.abs(exact) * relative, posinf=0) + np.abs(np.nan_to_num(factor)) * LEAST_NORMAL[g.type == "f64"]


PLAIN = {
    "Sigmoid": sigmoid, "Softplus": softplus, "Softsign": lambda x: x / (1 + np.abs(x)),
    "Mish": lambda x: x * np.tanh(softplus(x)), "HardSwish": lambda x: x * np.clip(x / 6 + np.longdouble(0.5), 0, 1),
}


@operator("Sigmoid", types=since13)
@operator("Softplus", "Softsign", types=since22)
@operator("Mish", types=since22, since=18)
@operator("HardSwish", types=since22, since=14)
def plain(g):
    x = argument(g)
    with np.errstate(all="ignore"):
        wide = x.wide
        exact = PLAIN[g.op](wide)
        # 0 * -infinity is NaN in the formula and 0 in the limit: the text leaves it open.
        free = np.isneginf(wide) if g.op in ("Mish", "HardSwish") else None
        return g.case([x], Expected(exact, g.type, ULPS, slack_of(g, x), free))


def slack_of(g, x):
    """HardSwish rounds x / 6 + 0.5 before it is clipped: of what cancels, an ulp of 0.5 times x is left."""
    least = LEAST_NORMAL[g.type == "f64"] * (1 if g.op == "Sigmoid" else np.abs(np.nan_to_num(x.wide)) if g.op == "Mish" else 0)
    return np.abs(np.nan_to_num(x.wide)) * np.longdouble(2.0) ** -(53 if g.type == "f64" else 24) if g.op == "HardSwish" else least


@operator("Relu", types=lambda opset: since13(opset) + (SIGNED if opset >= 14 else []))
def relu(g):
    x = argument(g) if TYPES[g.type].is_float else g.tensor(g.type, g.shape())
    return g.case([x], Expected(np.maximum(x.array, x.array.dtype.type(0)), g.type))


@operator("LeakyRelu", types=lambda opset: FLOATS if opset >= 16 else OLD)
def leaky(g):
    x, alpha = argument(g), number(g, 0.1, -0.5, 2)
    with np.errstate(all="ignore"):
        return g.case([x], Expected(np.where(x.wide < 0, x.wide * given(alpha, 0.01), x.wide), g.type, 1), alpha=alpha)


@operator("ThresholdedRelu", types=since22, since=7)
def thresholded(g):
    x, alpha = argument(g), number(g, 0, 0.5, -2)
    return g.case([x], Expected(np.where(np.isnan(x.wide) | (x.wide > given(alpha, 1)), np.where(np.isnan(x.wide), 0, x.wide), 0), g.type), alpha=alpha)


@operator("Elu", types=since22)
def elu(g):
    x, alpha = argument(g), number(g, 0.5, 2, 0.01)
    with np.errstate(all="ignore"):
        return g.case([x], Expected(np.where(x.wide < 0, given(alpha, 1) * np.expm1(x.wide), x.wide), g.type, ULPS), alpha=alpha)


@operator("Celu", types=["f32"], since=12)
def celu(g):
    x, alpha = argument(g), number(g, 0.5, 2, 0.1)
    a = given(alpha, 1)
    with np.errstate(all="ignore"):
        return g.case([x], Expected(np.maximum(x.wide, 0) + np.minimum(0, a * np.expm1(x.wide / a)), g.type, ULPS), alpha=alpha)


@operator("Selu", types=since22, since=6)
def selu(g):
    x, alpha, gamma = argument(g), number(g, 1.5), number(g, 0.5, 2)
    a, factor = given(alpha, 1.67326319217681884765625), given(gamma, 1.05070102214813232421875)
    with np.errstate(all="ignore"):
        return g.case([x], Expected(factor * np.where(x.wide > 0, x.wide, a * np.expm1(x.wide)), g.type, ULPS), alpha=alpha, gamma=gamma)


@operator("HardSigmoid", types=since22, since=6)
def hard_sigmoid(g):
    x, alpha, beta = argument(g), number(g, 0.25, 1), number(g, 0, 0.25)
    with np.errstate(all="ignore"):
        line = x.wide * given(alpha, 0.2) + given(beta, 0.5)
        slack = (np.abs(np.nan_to_num(x.wide)) + 1) * np.longdouble(2.0) ** -(53 if g.type == "f64" else 24)
        return g.case([x], Expected(np.clip(line, 0, 1), g.type, 1, slack), alpha=alpha, beta=beta)


@operator("Gelu", types=FLOATS, since=20)
def gelu(g):
    x, approximate = argument(g), g.pick([None, "none", "tanh"])
    wide = x.wide
    with np.errstate(all="ignore"):
        if approximate == "tanh":
            inner = np.sqrt(2 / np.arccos(np.longdouble(-1))) * (wide + np.longdouble("0.044715") * wide**3)
            exact = wide * sigmoid(2 * inner)
        else:
            exact = wide * erfc(-wide / np.sqrt(np.longdouble(2))) / 2
        # The exponent of the tail is x^2 / 2; it is rounded, and so is the number before it is squared.
        digits = 53 if g.type == "f64" else 24
        slack = np.nan_to_num(np.abs(exact) * (np.minimum(wide**2 * 3, 2000) + (80 if digits == 53 else 8)) * np.longdouble(2.0) ** -digits, posinf=0)
        slack = slack + np.abs(np.nan_to_num(wide)) * LEAST_NORMAL[digits == 53]
    return g.case([x], Expected(exact, g.type, {"f32": 2, "f64": 2, "other": 0.51}, slack, np.isneginf(wide)), approximate=approximate)


@operator("Swish", types=FLOATS, since=24)
def swish(g):
    x, alpha = argument(g), number(g, 0.5, 1.702, 2)
    with np.errstate(all="ignore"):
        exponent = x.wide * given(alpha, 1)
        exact = x.wide * sigmoid(exponent)
        return g.case([x], Expected(exact, g.type, ULPS, tail(g, x.wide, exponent, exact), np.isneginf(x.wide)), alpha=alpha)


@operator("Shrink", types=["f32", "f16", "f64"] + SIGNED, since=9)
def shrink(g):
    x = argument(g) if TYPES[g.type].is_float else g.tensor(g.type, g.shape(), "normal")
    lambd, bias = (number(g, 1, 1.5, 0.25), number(g, 0.5, 2)) if TYPES[g.type].is_float else (number(g, 1, 5), number(g, 2, 3))
    limit, distance = given(lambd, 0.5), given(bias, 0)
    wide = x.array.astype(np.longdouble)
    exact = np.where(wide < -limit, wide + distance, np.where(wide > limit, wide - distance, 0))
    return g.case([x], Expected(exact, g.type), lambd=lambd, bias=bias)


def along_rows(g, x, axis, exact):
    """Before opset 13 all dimensions from the axis on count as one row."""
    if g.opset >= 13:
        return exact(x, axis)
    axis = axis % len(x.shape)
    rows = x.reshape(int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:])))
    return exact(rows, 1).reshape(x.shape)


def softmax(x, axis):
    if x.size == 0:
        return x
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x, axis):
    if x.size == 0:
        return x
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def hardmax(x, axis):
    """1 at the first of the largest."""
    if x.size == 0:
        return x
    places = np.expand_dims(np.argmax(x, axis=axis), axis)
    result = np.zeros(x.shape)
    np.put_along_axis(result, places, 1, axis)
    return result


@operator("Softmax", "LogSoftmax", "Hardmax", types=since13, weight=3)
def along_axis(g):
    x = g.tensor(g.type, g.shape(1, 4, zero=g.opset >= 13, elements=6000, size=300), g.pick(["normal", "small"]))
    if g.chance(0.3) and g.op != "Hardmax":
        x = Tensor(round_to(x.wide * g.pick([0.01, 20, 90]), g.type), g.type)
    axis = g.axis(len(x.shape), negative=g.opset >= 11)
    default = -1 if g.opset >= 13 else 1
    exact = {"Softmax": softmax, "LogSoftmax": log_softmax, "Hardmax": hardmax}[g.op]
    with np.errstate(all="ignore"):
        want = along_rows(g, x.wide, axis, exact)
    # Long rows keep their powers in the result, so halves are rounded twice.
    ulps = 0 if g.op == "Hardmax" else {"f32": 6, "f64": 6, "other": 1.6}
    # The sum of n powers, and the rounding of what is subtracted, which is their exponent.
    unit = np.longdouble(2.0) ** -(53 if g.type == "f64" else 24)
    slack = 0 if g.op == "Hardmax" else unit * (8 + 2 * np.max(np.abs(x.wide), initial=0)) * (np.abs(want) if g.op == "Softmax" else 1)
    same = axis % len(x.shape) == default % len(x.shape) if len(x.shape) > 1 or g.opset >= 13 else False
    return g.case([x], Expected(want, g.type, ulps, slack), axis=None if same and g.chance(0.5) else axis)


@operator("SwiGLU", types=FLOATS, since=28)
def swiglu(g):
    shape = g.shape()
    x, y, alpha = argument(g, shape), g.tensor(g.type, shape, "normal"), number(g, 0.5, 1.702)
    with np.errstate(all="ignore"):
        gate = x.wide * sigmoid(x.wide * given(alpha, 1))
        exact = gate * y.wide
    return g.case([x, y], Expected(exact, g.type, {"f32": 6, "f64": 8, "other": 0.55}, tail(g, x.wide * y.wide, x.wide * given(alpha, 1), exact), np.isneginf(x.wide)), alpha=alpha)
