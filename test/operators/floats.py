"""Float types of operators, and how far sums in them may be from exact ones."""

import numpy as np


def floats(bf16):
    """For `types` of an operator that takes bf16 from that opset on."""
    return lambda opset: ["f32", "f32", "f16", "f64"] + (["bf16"] if opset >= bf16 else [])


def epsilon(type):
    """Half a step of 1 in the type that sums of `type` are taken in: f32 for the halves."""
    return 2.0**-53 if type == "f64" else 2.0**-24


def accumulated(type, magnitude, terms):
    """What rounding may do to a sum of `terms` terms whose absolute values add up to `magnitude`."""
    return np.asarray(magnitude, np.longdouble) * epsilon(type) * (terms + 3)


def unit(type):
    """Half a step of 1 in the type itself."""
    return {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}[type]


def rounded(type, magnitude, times=1):
    """What one more rounding of a value of that magnitude to the type may do, where the type is a half; sums of wider types have more room."""
    return np.asarray(magnitude, np.longdouble) * unit(type) * times if type in ("f16", "bf16") else 0 * np.asarray(magnitude, np.longdouble)
