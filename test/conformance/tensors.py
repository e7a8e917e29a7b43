"""What the conformance runner reads: a model's signature, recorded tensors, and the comparison of two of them."""

import numpy as np
import onnx
from google.protobuf.message import DecodeError

# ONNX's number of an element type -> (how NumPy holds its bytes, the field of TensorProto that has them when raw_data has not)
TYPES = {
    1: ("f4", "float_data"), 2: ("u1", "int32_data"), 3: ("i1", "int32_data"), 4: ("u2", "int32_data"), 5: ("i2", "int32_data"),
    6: ("i4", "int32_data"), 7: ("i8", "int64_data"), 9: ("?", "int32_data"), 10: ("f2", "int32_data"), 11: ("f8", "double_data"),
    12: ("u4", "uint64_data"), 13: ("u8", "uint64_data"), 14: ("c8", "float_data"), 15: ("c16", "double_data"), 16: ("bf16", "int32_data"),
}
# Types that share bytes, the first element in the lowest bits, and floats that are held as their codes -> (bits, signed).
PACKED = {17: (8, False), 18: (8, False), 19: (8, False), 20: (8, False), 21: (4, False), 22: (4, True), 23: (4, False), 24: (8, False), 25: (2, False), 26: (2, True)}
# Operators whose numbers the standard leaves to the implementation, even with a seed.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
# One step of these types, as a part of the number.
STEPS = {"f2": 2.0**-10, "bf16": 2.0**-7}
BF16_RTOL = 2.0**-6


class Unreadable(Exception):
    pass


class Value:
    def __init__(self, proto):
        self.name = proto.name
        held = proto.type
        self.is_optional = held.HasField("optional_type")
        held = held.optional_type.elem_type if self.is_optional else held
        self.is_sequence = held.HasField("sequence_type")
        held = held.sequence_type.elem_type if self.is_sequence else held
        self.is_list = self.is_sequence or self.is_optional
        self.shape = [dim.dim_value for dim in held.tensor_type.shape.dim]
        self.has_shape = held.tensor_type.HasField("shape")
        self.element = held.tensor_type.elem_type


class Graph:
    """Inputs that a caller must give, outputs, and the operators of a model file."""

    def __init__(self, path):
        try:
            model = onnx.load(str(path), load_external_data=False)
        except DecodeError as error:
            raise Unreadable(error)
        weights = {weight.name for weight in model.graph.initializer}
        self.inputs = [Value(value) for value in model.graph.input if value.name not in weights]
        self.outputs = [Value(value) for value in model.graph.output]
        self.operators = sorted({node.op_type for node in model.graph.node})
        bodies = [model.graph.node, *(function.node for function in model.functions)]
        self.is_random = any(node.op_type in RANDOM for nodes in bodies for node in nodes)


class Tensor:
    """An array, and the name of its element type where NumPy has none of its own."""

    def __init__(self, array, kind):
        self.array, self.kind = array, kind


def widen(bits):
    return np.left_shift(bits.astype(np.uint32), np.uint32(16), dtype=np.uint32).reshape(bits.shape).view(np.float32)


def as_declared(path, value, folder):
    """The file of an input, or a copy with the right element type: older releases of the suite hold bfloat16 as uint16."""
    if path.suffix != ".pb":
        return path
    proto = onnx.TensorProto()
    try:
        proto.ParseFromString(path.read_bytes())
    except DecodeError:
        return path
    fits = len(proto.dims) == len(value.shape) and all(want in (0, have) for want, have in zip(value.shape, proto.dims))
    if value.has_shape and not fits:
        raise Unreadable(f"{path.name} has the shape {list(proto.dims)}, the model declares {value.shape} for '{value.name}'")
    if (value.element, proto.data_type) != (onnx.TensorProto.BFLOAT16, onnx.TensorProto.UINT16):
        return path
    proto.data_type = value.element
    copy = folder / path.name
    copy.write_bytes(proto.SerializeToString())
    return copy


def unpack(proto):
    """One number or code a byte, as kiln takes and gives them."""
    bits, is_signed = PACKED[proto.data_type]
    stored = np.frombuffer(proto.raw_data, np.uint8) if proto.HasField("raw_data") else np.array(proto.int32_data, np.int64).astype(np.uint8)
    parts = np.stack([(stored >> shift) & (2**bits - 1) for shift in range(0, 8, bits)], -1).reshape(-1)
    array = parts[: np.prod(proto.dims, dtype=np.int64)].reshape(tuple(proto.dims)).astype(np.int64)
    return Tensor(np.where(array >= 2 ** (bits - 1), array - 2**bits, array).astype(np.int8) if is_signed else array.astype(np.uint8), "packed")


def read(path, declared=None):
    proto = onnx.TensorProto()
    try:
        proto.ParseFromString(path.read_bytes())
    except DecodeError:
        raise Unreadable(f"{path.name} holds no tensor")
    return decode(proto, path, declared)


def read_list(path, value):
    """The tensors of a sequence or optional; None: an optional without a value."""
    try:
        if value.is_optional:
            optional = onnx.OptionalProto.FromString(path.read_bytes())
            if optional.HasField("tensor_value"):
                return [decode(optional.tensor_value, path)]
            return [decode(proto, path) for proto in optional.sequence_value.tensor_values] if optional.HasField("sequence_value") else None
        return [decode(proto, path) for proto in onnx.SequenceProto.FromString(path.read_bytes()).tensor_values]
    except DecodeError:
        raise Unreadable(f"{path.name} holds no sequence or optional")


def decode(proto, path, declared=None):
    if (declared, proto.data_type) == (onnx.TensorProto.BFLOAT16, onnx.TensorProto.UINT16):
        proto.data_type = declared
    if proto.data_type in PACKED:
        return unpack(proto)
    if proto.data_type == onnx.TensorProto.STRING:
        return Tensor(np.array([text.decode() for text in proto.string_data], str).reshape(tuple(proto.dims)), "U")
    if proto.data_type not in TYPES:
        raise Unreadable(f"{path.name} has the element type {proto.data_type}, which the runner does not know")
    kind, field = TYPES[proto.data_type]
    held = "u2" if kind in ("bf16", "f2") else kind
    if proto.HasField("raw_data"):
        array = np.frombuffer(proto.raw_data, dtype="<" + held)
    elif kind in ("c8", "c16"):
        array = np.array(getattr(proto, field), dtype=f"f{int(kind[1:]) // 2}").view(kind)
    else:
        array = np.array(getattr(proto, field), dtype=np.int64 if held == "u2" else None).astype(held)
    if array.size != np.prod(proto.dims, dtype=np.int64):
        raise Unreadable(f"{path.name} holds no tensor")
    array = array.reshape(tuple(proto.dims))
    if kind == "f2":
        array = array.view("f2")
    return Tensor(widen(array) if kind == "bf16" else array, kind)


def compare_random(actual, expected):
    """The same for numbers that the standard leaves to the implementation: types, shapes, and values that were recorded or lie between those."""
    want = expected.array
    if actual.shape != want.shape or actual.dtype != want.dtype:
        return 0.0, f"it is {actual.dtype}{list(actual.shape)}, expected {want.dtype}{list(want.shape)}"
    few = np.unique(want)
    known = np.isin(actual, few) if len(few) <= 2 else (actual >= few[0]) & (actual <= few[-1])
    return 0.0, "" if np.all(known) else f"{int(np.sum(~known))} of {want.size} values are none that such numbers have"


def compare(actual, expected, rtol, atol):
    """(largest relative error, what is wrong or ""): shapes and element types must be equal, NaN and infinities in the same places. The bounds are the
    same for all float types, as in the suite, where f16 may be off by one step; bf16 may be off by two, which is the suite's own bound for it."""
    want = expected.array
    if expected.kind == "bf16":
        rtol = max(rtol, BF16_RTOL)
    if expected.kind == "bf16" and actual.dtype.itemsize == 2:
        actual = widen(actual.view(np.uint16))
    if actual.shape != want.shape:
        return 0.0, f"its shape is {list(actual.shape)}, expected {list(want.shape)}"
    if expected.kind == "U" and actual.dtype.kind == "U":
        wrong = int(np.sum(actual != want))
        return 0.0, f"{wrong} of {want.size} strings differ" if wrong else ""
    if actual.dtype != want.dtype:
        return 0.0, f"its element type is {actual.dtype}, expected {want.dtype}"
    if want.size == 0:
        return 0.0, ""
    exact = want.dtype.kind in "bui"
    got, want = (x.astype(object if exact and want.dtype.itemsize == 8 else np.complex128 if want.dtype.kind == "c" else np.float64)
                 for x in (actual, want))
    if exact:
        off = np.abs(got - want)
        count = int(np.sum(off != 0))
        return float(np.max(off)), f"{count} of {off.size} integers differ, by {np.max(off)} at most" if count else ""
    with np.errstate(all="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        off = np.where(same, 0.0, np.abs(got - want))
        bad = ~same & ~(np.isfinite(want) & (off <= atol + rtol * np.abs(want)))
        relative = np.where(same, 0.0, off / np.maximum(np.abs(want), 1e-30))
        largest = float(np.max(np.where(np.isfinite(relative) & (off > atol), relative, 0.0)))
    if not np.any(bad):
        return largest, ""
    at = int(np.argmax(bad))
    return largest, f"{int(np.sum(bad))} of {bad.size} values are off, first at {at}: {got.flat[at]:.9g}, expected {want.flat[at]:.9g}"
