"""Element types: how numbers of them are held while they are computed with, in ONNX's tensors and in what kiln writes.

Numbers of a type without a NumPy type of its own are held in a wider one: bf16 and the narrow floats in f4, integers of 2 and 4 bits in 8.
"""

import numpy as np
import onnx


class Element:
    """A type: ONNX's number, the NumPy type that holds its numbers, its bits; of a float the digits, the least exponent and the largest number."""

    def __init__(self, name, number, held, bits, digits=0, lowest=0, largest=None):
        self.name, self.number, self.held, self.bits = name, number, np.dtype(held) if held else None, bits
        self.digits, self.lowest, self.largest = digits, lowest, largest

    def __repr__(self):
        return self.name

    is_float = property(lambda self: self.digits > 0)
    is_integer = property(lambda self: self.name[0] in "iu")
    is_unsigned = property(lambda self: self.name[0] == "u")
    is_string = property(lambda self: self.name == "string")
    is_bool = property(lambda self: self.name == "bool")
    is_narrow = property(lambda self: self.number >= 17)
    least = property(lambda self: 0 if self.is_unsigned else -(1 << (self.bits - 1)))
    most = property(lambda self: (1 << (self.bits if self.is_unsigned else self.bits - 1)) - 1)


TYPES = {element.name: element for element in [
    Element("f32", 1, "f4", 32, 24, -126, float(np.finfo("f4").max)),
    Element("f64", 11, "f8", 64, 53, -1022, float(np.finfo("f8").max)),
    Element("f16", 10, "f2", 16, 11, -14, 65504.0),
    Element("bf16", 16, "f4", 16, 8, -126, 255 * 2.0**120),
    Element("u8", 2, "u1", 8), Element("i8", 3, "i1", 8), Element("u16", 4, "u2", 16), Element("i16", 5, "i2", 16),
    Element("i32", 6, "i4", 32), Element("u32", 12, "u4", 32), Element("i64", 7, "i8", 64), Element("u64", 13, "u8", 64),
    Element("bool", 9, "?", 8), Element("string", 8, "U", 0),
    Element("f8e4m3fn", 17, "f4", 8, 4, -6, 448.0), Element("f8e4m3fnuz", 18, "f4", 8, 4, -7, 240.0),
    Element("f8e5m2", 19, "f4", 8, 3, -14, 57344.0), Element("f8e5m2fnuz", 20, "f4", 8, 3, -15, 57344.0),
    Element("u4", 21, "u1", 4), Element("i4", 22, "i1", 4), Element("f4e2m1", 23, "f4", 4, 2, 0, 6.0),
    Element("f8e8m0", 24, "f4", 8, 1, -127, 2.0**127), Element("u2", 25, "u1", 2), Element("i2", 26, "i1", 2),
]}
FLOATS = ["f32", "f16", "bf16", "f64"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
DATA = NUMBERS + ["bool"]
NARROW_FLOATS = ["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f4e2m1", "f8e8m0"]
NARROW_INTEGERS = ["u4", "i4", "u2", "i2"]


def decode_codes(name):
    """The number that each code of a narrow float means."""
    element = TYPES[name]
    codes = np.arange(1 << element.bits)
    if name == "f8e8m0":
        return np.where(codes == 255, np.nan, np.ldexp(1.0, codes - 127)).astype("f4")
    bits = element.digits - 1
    sign, exponent, mantissa = codes >> (element.bits - 1), (codes >> bits) & ((1 << (element.bits - 1 - bits)) - 1), codes & ((1 << bits) - 1)
    power = np.maximum(exponent, 1) - 1 + element.lowest
    values = np.ldexp((mantissa + np.where(exponent > 0, 1 << bits, 0)).astype("f8"), power - bits) * np.where(sign, -1, 1)
    if name == "f8e4m3fn":
        values[[0x7F, 0xFF]] = np.nan
    elif name == "f8e5m2":
        values[[0x7C, 0xFC]] = np.inf, -np.inf
        values[[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]] = np.nan
    elif name.endswith("fnuz"):
        values[0x80] = np.nan
    return values.astype("f4")


CODES = {name: decode_codes(name) for name in NARROW_FLOATS}


def round_to(values, name):
    """Numbers rounded to nearest even in a type, as it is held; beyond its range infinity, or the largest where there is none."""
    element = TYPES[name]
    if not element.is_float:
        return np.asarray(values).astype(element.held)
    values = np.asarray(values)
    wide = values.astype(np.longdouble)
    if name in ("f32", "f64", "f16"):
        with np.errstate(all="ignore"):
            return wide.astype(element.held)
    with np.errstate(all="ignore"):
        unit = step(wide, name)
        rounded = np.rint(wide / unit) * unit
        limit = np.inf if name in ("bf16", "f8e5m2") else element.largest
        rounded = np.where(np.isfinite(wide) & (np.abs(rounded) > element.largest), np.copysign(limit, wide), np.where(np.isfinite(wide), rounded, wide))
        return rounded.astype("f4")


def step(values, name):
    """The distance of a type's numbers around values."""
    element = TYPES[name]
    magnitude = np.abs(np.asarray(values, np.longdouble))
    exponent = np.frexp(np.where(np.isfinite(magnitude) & (magnitude > 0), magnitude, 1))[1] - 1
    exponent = np.where(magnitude > 0, np.maximum(exponent, element.lowest), element.lowest)
    return np.ldexp(np.longdouble(1), exponent - (element.digits - 1))


def to_codes(array, name):
    """The nearest codes of a narrow float; array holds its numbers."""
    table = CODES[name]
    codes = np.zeros(array.shape, np.uint8)
    for code in range(len(table) - 1, -1, -1):
        same = np.isnan(array) if np.isnan(table[code]) else (array == table[code]) & (np.signbit(array) == np.signbit(table[code]))
        codes[same] = code
    return codes


def as_bytes(array):
    """bf16 numbers as the upper halves of f32."""
    return (np.ascontiguousarray(array, "<f4").view("<u4") >> 16).astype("<u2").reshape(array.shape)


def to_proto(array, name, label=""):
    """A TensorProto with raw bytes."""
    element = TYPES[name]
    proto = onnx.TensorProto(data_type=element.number, name=label, dims=array.shape)
    if element.is_string:
        proto.string_data.extend(text.encode() for text in array.reshape(-1).tolist())
        return proto
    if name == "bf16":
        array = as_bytes(array)
    elif name in NARROW_FLOATS:
        array = to_codes(array, name)
    if element.bits < 8:
        per, mask = 8 // element.bits, (1 << element.bits) - 1
        flat = np.resize(array.reshape(-1).astype(np.uint8) & mask, -(-array.size // per) * per) if array.size else np.zeros(0, np.uint8)
        array = np.bitwise_or.reduce(flat.reshape(-1, per) << (np.arange(per) * element.bits).astype(np.uint8), axis=1).astype(np.uint8)
    proto.raw_data = np.ascontiguousarray(array).tobytes()
    return proto


def from_output(array, name):
    """What kiln wrote, as numbers of the type are held; None where it is of another type."""
    element = TYPES[name]
    if name == "bf16":
        return np.ascontiguousarray(array).view("<u2").astype("<u4").__lshift__(16).astype("<u4").view("<f4").reshape(array.shape) if array.dtype.kind == "V" else None
    if name in NARROW_FLOATS:
        return CODES[name][array] if array.dtype == np.uint8 else None
    if element.is_string:
        return array if array.dtype.kind == "U" else None
    return array if array.dtype == element.held else None
