"""Arithmetic of two operands and its corners."""

import numpy as np
from cases import Expected, operator
from elements import NUMBERS, TYPES


def numbers_of(opset):
    """Integers of 8 and 16 bits came with opset 14, bf16 with 13."""
    return [name for name in NUMBERS if (opset >= 14 or TYPES[name].is_float or TYPES[name].bits > 16) and (opset >= 13 or name != "bf16")]


@operator("Add", "Sub", "Mul", types=numbers_of, since=7)
def add(g):
    a, b = (g.tensor(g.type, shape) for shape in g.shapes_that_broadcast(2))
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[g.op]
    with np.errstate(all="ignore"):
        return g.case([a, b], Expected(function(a.wide, b.wide), g.type))
