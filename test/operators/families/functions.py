"""Functions of one number that ONNX takes from mathematics; bounds in ulp are those that docs/Runtime.md promises."""

import math

import numpy as np
from arithmetic import all_numbers
from cases import Expected, Tensor, operator
from elements import FLOATS, TYPES, round_to

OLD = ["f32", "f16", "f64"]


def since13(opset):
    return FLOATS if opset >= 13 else OLD


def since22(opset):
    return FLOATS if opset >= 22 else OLD


def erf(x):
    return np.vectorize(math.erf, otypes=[np.longdouble])(x.astype("f8")) if x.size else x


def erfc(x):
    """For wide numbers: of the nearest double, then along the derivative."""
    if not x.size:
        return x
    near = x.astype("f8")
    rest = np.where(np.isfinite(x), x - near, 0)
    with np.errstate(all="ignore"):
        return np.vectorize(math.erfc, otypes=[np.longdouble])(near) - rest * 2 / np.sqrt(np.longdouble(np.pi)) * np.exp(-np.longdouble(1) * near * near)


REFERENCES = {
    "Exp": np.exp, "Log": np.log, "Sqrt": np.sqrt, "Reciprocal": np.reciprocal, "Ceil": np.ceil, "Floor": np.floor, "Round": np.rint,
    "Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan,
    "Sinh": np.sinh, "Cosh": np.cosh, "Tanh": np.tanh, "Asinh": np.arcsinh, "Acosh": np.arccosh, "Atanh": np.arctanh,
}
EXACT = {"Sqrt", "Reciprocal", "Ceil", "Floor", "Round"}
SHORT = {"Asin", "Acos", "Atanh"}  # defined between -1 and 1


def argument(g):
    x = g.tensor(g.type, g.shape())
    if g.op in SHORT and g.chance(0.7):
        x = Tensor(round_to(np.clip(x.wide / 4, -1, 1), g.type), g.type)
    elif g.op in ("Exp", "Sinh", "Cosh", "Tanh", "Erf", "Sin", "Cos", "Tan") and g.chance(0.6):
        scale = g.pick([1, 4, 30, 120, 800])
        x = Tensor(round_to(np.asarray(g.random.uniform(-scale, scale, x.shape)), g.type), g.type)
    elif g.op in ("Log", "Sqrt", "Acosh") and g.chance(0.7):
        x = Tensor(np.abs(x.array) + x.array.dtype.type(1 if g.op == "Acosh" else 0), g.type)
        x = Tensor(round_to(x.array, g.type), g.type)
    return x


def apply(g):
    x = argument(g)
    # A root or quotient that is rounded twice may differ from one that is rounded once.
    wide = x.array if g.type == "f64" and g.op in EXACT else x.wide
    ulps = 0 if g.op in EXACT else {"f32": 2.6, "f64": 4, "other": 0.51}
    with np.errstate(all="ignore"):
        return g.case([x], Expected(REFERENCES[g.op](wide), g.type, ulps))


operator("Exp", "Log", "Sqrt", "Reciprocal", "Ceil", "Floor", "Tanh", types=since13)(apply)
operator("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", types=since22, since=7)(apply)
operator("Sinh", "Cosh", "Asinh", "Acosh", "Atanh", types=since22, since=9)(apply)
operator("Round", types=since22, since=11)(apply)


@operator("Erf", types=all_numbers, since=9)
def error_function(g):
    """Of integers it is computed as a real number and truncated."""
    x = argument(g)
    if TYPES[g.type].is_integer:
        return g.case([x], Expected(np.trunc(erf(x.array)), g.type))
    return g.case([x], Expected(erf(x.wide), g.type, {"f32": 2, "f64": 4, "other": 0.51}))
