"""Casts among all types, and the same bits as another type."""

import numpy as np
from cases import Expected, Tensor, operator
from elements import CODES, DATA, NARROW_FLOATS, NARROW_INTEGERS, TYPES, round_to




def known_types(opset):
    """Types between which opset casts."""
    types = [name for name in DATA if opset >= 13 or name != "bf16"]
    types += NARROW_FLOATS[:4] if opset >= 19 else []
    types += ["u4", "i4"] if opset >= 21 else []
    types += ["f4e2m1"] if opset >= 23 else []
    return types + (["f8e8m0"] if opset >= 24 else []) + (["u2", "i2"] if opset >= 25 else [])


def encode(values, name, saturate):
    """Numbers rounded to nearest even in a narrow float. What is too large becomes the largest number, or without saturation infinity or NaN."""
    element = TYPES[name]
    if name == "f8e8m0":
        return encode_power(values, saturate)
    wide = np.asarray(values, np.longdouble)
    with np.errstate(all="ignore"):
        rounded = np.asarray(round_to(np.where(np.isfinite(wide), wide, 0), name), np.longdouble)
        unit = np.ldexp(np.longdouble(1), np.maximum(np.frexp(np.where(wide == 0, 1, np.where(np.isfinite(wide), np.abs(wide), 1)))[1] - 1, element.lowest) - (element.digits - 1))
        unbounded = np.where(np.isfinite(wide), np.rint(wide / unit) * unit, wide)
    large = np.abs(unbounded) > element.largest
    beyond = np.inf if name == "f8e5m2" else np.nan
    # A type without infinities and NaN always saturates.
    limit = np.copysign(element.largest, wide) if saturate or name == "f4e2m1" else np.copysign(beyond, wide)
    result = np.where(large, limit, rounded)
    if name.endswith("fnuz"):
        result = np.where(result == 0, 0, result)
    if saturate and name in ("f8e5m2", "f8e4m3fn"):
        result = np.where(np.isinf(wide), np.copysign(element.largest, wide), result)
    return np.where(np.isnan(wide), np.nan if name != "f4e2m1" else element.largest, result)


def encode_power(values, saturate):
    """A power of two, rounded up by default. Only the exponent counts."""
    wide = np.abs(np.asarray(values, np.longdouble))
    with np.errstate(all="ignore"):
        power = np.exp2(np.ceil(np.log2(wide)))
    power = np.maximum(power, np.longdouble(2.0) ** -127)
    return np.where(power > 2.0**127, 2.0**127 if saturate else np.nan, np.where(np.isnan(wide), np.nan, power))


def to_integer(values, name):
    """Towards zero; what does not fit is the nearest end of the type and NaN is 0, which ONNX leaves open. Of 2 and 4 bits it is the low bits of an i32."""
    element = TYPES[name]
    results = []
    for value in np.asarray(values).reshape(-1).tolist() if np.asarray(values).dtype != np.longdouble else np.asarray(values).reshape(-1):
        if value != value:
            results.append(0)
        elif value in (np.inf, -np.inf):
            results.append(element.most if value > 0 else element.least)
        else:
            results.append(min(max(int(value), element.least), element.most))
    return np.array(results, dtype=object).astype(element.held).reshape(np.shape(values))


def wrap(values, name):
    """The low bits of integers."""
    bits, signed = TYPES[name].bits, not TYPES[name].is_unsigned
    results = [int(value) & ((1 << bits) - 1) for value in np.asarray(values).reshape(-1).tolist()]
    results = [value - (1 << bits) if signed and value >> (bits - 1) else value for value in results]
    return np.array(results, dtype=object).astype(TYPES[name].held).reshape(np.shape(values))


def converted(x, source, target, saturate):
    """Numbers of one type as those of another."""
    if TYPES[target].is_bool:
        return x != 0
    if TYPES[source].is_bool:
        x = x.astype(np.int8)
    if target in NARROW_FLOATS:
        return encode(x, target, saturate)
    if TYPES[target].is_float:
        return x.astype(np.longdouble)
    return to_integer(x.astype(np.longdouble), target) if TYPES[source].is_float else wrap(x, target)


def source_values(g, source, shape, target):
    if source in NARROW_FLOATS:
        return CODES[source][g.random.integers(len(CODES[source]), size=shape)]
    if source in NARROW_INTEGERS:
        return g.random.integers(TYPES[source].least, TYPES[source].most + 1, size=shape).astype(TYPES[source].held)
    values = g.values(source, shape)
    if TYPES[source].is_float and g.chance(0.5):
        scale = TYPES[target].largest / 2 if TYPES[target].is_float else 2.0 ** (TYPES[target].bits - 1)
        values = round_to(np.asarray(g.random.uniform(-2, 2, shape) * min(scale, 1e30)), source)
    return values


def left_open(x, source, target):
    """What the text does not say: NaN as a type without one, powers of two of what has none."""
    if not TYPES[source].is_float:
        return (np.asarray(x) <= 0) if target == "f8e8m0" and not TYPES[source].is_bool else np.asarray(x) == 0 if target == "f8e8m0" else None
    if target == "f8e8m0":
        return ~(x > 0) | np.isinf(x)
    if target == "f4e2m1":
        return np.isnan(x)
    return None


def convert(g, source, target, like=False):
    shape = g.shape()
    x = Tensor(source_values(g, source, shape, target), source)
    saturate = g.pick([None, 0, 1]) if g.opset >= 19 and target in NARROW_FLOATS[:4] else None
    array = x.array.astype(np.longdouble) if TYPES[source].is_float else x.array
    if target in NARROW_INTEGERS and TYPES[source].is_float:
        want = wrap(to_integer(array, "i32"), target)
    else:
        want = converted(array, source, target, saturate != 0)
    expected = Expected(want, target, free=left_open(array, source, target))
    if like:
        other = Tensor(np.zeros((1,), TYPES[target].held), target)
        return g.case([x, other], expected, saturate=saturate)
    return g.case([x], expected, to=TYPES[target].number, saturate=saturate)


@operator("Cast", types=known_types, since=6, weight=8)
def cast(g):
    return convert(g, g.type, g.pick(known_types(g.opset)))


@operator("CastLike", types=lambda opset: [name for name in known_types(opset) if name in DATA], since=15, weight=2)
def cast_like(g):
    return convert(g, g.type, g.pick([name for name in known_types(g.opset) if name in DATA]), like=True)


@operator("BitCast", types=[name for name in DATA if name != "bool"], since=26, weight=2)
def bit_cast(g):
    target = g.pick([name for name in DATA if name != "bool" and TYPES[name].bits == TYPES[g.type].bits])
    x = g.tensor(g.type, g.shape(), "special" if TYPES[target].is_float or not TYPES[g.type].is_float else None)
    if TYPES[g.type].is_float:
        x = Tensor(np.where(np.isnan(x.array), x.array.dtype.type(1), x.array), g.type)
    raw = (np.ascontiguousarray(x.array, "f4").view("u4") >> 16).astype("u2") if g.type == "bf16" else np.ascontiguousarray(x.array)
    if target == "bf16":
        want = (raw.view("u2").astype("u4") << 16).astype("u4").view("f4")
    else:
        want = raw.view(TYPES[target].held)
    return g.case([x], Expected(want.reshape(x.shape), target), to=TYPES[target].number)
