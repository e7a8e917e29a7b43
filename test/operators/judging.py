"""Compares what kiln computed with what a case expects."""

import numpy as np
from elements import TYPES, from_output, round_to, step


def mark_right(got, expected):
    """Which elements of a float result are right."""
    with np.errstate(all="ignore"):
        want = np.asarray(expected.array, np.longdouble)
        rounded = round_to(want, expected.type)
        wide = got.astype(np.longdouble)
        same = (wide == rounded) | (np.isnan(wide) & np.isnan(want))
        allowed = expected.ulps * step(want, expected.type) + np.asarray(expected.slack, np.longdouble)
        near = np.isfinite(want) & (np.abs(wide - want) <= allowed)
        # What is allowed to be as large as the type's infinity begins may be that.
        beyond = np.isfinite(want) & (np.abs(want) + allowed >= TYPES[expected.type].largest) & (allowed > 0)
        return same | near | (beyond & np.isinf(wide) & (np.sign(wide) == np.sign(want)))


def distance(got, expected, at):
    """How far an element is off, in steps of its type."""
    want = np.asarray(expected.array, np.longdouble)[at]
    with np.errstate(all="ignore"):
        return abs(np.longdouble(got[at]) - want) / step(want, expected.type)


def difference(array, expected):
    """What is wrong with an output, "" when nothing is."""
    element = TYPES[expected.type]
    got = from_output(array, expected.type)
    if got is None:
        return f"its type is {array.dtype}, expected {expected.type}"
    if got.shape != expected.array.shape:
        return f"its shape is {list(got.shape)}, expected {list(expected.array.shape)}"
    if element.is_float:
        right = mark_right(got, expected)
    else:
        right = np.asarray(got == expected.array.astype(got.dtype))
    if expected.free is not None:
        right = right | expected.free
    if right.all():
        return ""
    at = np.unravel_index(int(np.argmin(right)), right.shape)
    if not element.is_float:
        return f"{int(np.sum(~right))} of {right.size} differ, first at {list(map(int, at))}: {got[at]}, expected {expected.array[at]}"
    wrong = np.argwhere(~right)
    worst = max((tuple(place) for place in wrong), key=lambda place: np.nan_to_num(distance(got, expected, place), nan=np.inf))
    place = ", ".join(str(int(i)) for i in worst)
    return (f"{len(wrong)} of {right.size} differ, worst at [{place}]: {got[worst]:.9g}, expected {expected.array[worst]:.9g}"
            f" ({distance(got, expected, worst):.3g} ulp, {expected.ulps} allowed)")
