"""Calls the kernels of a shared library and compares them with NumPy.

Usage: kernel_numbers.py LIBRARY.so DESCRIPTION.json [--rounds N]

The description is what `kiln kernels --json` prints. Sizes are random, 0, 1 and odd ones among them. Each call has a workspace of exactly the bytes that the library
asks for and results between guards, runs once on one thread and once with its tasks cut into pieces in another order, whose bits must be the same.
"""

import argparse
import ctypes
import json
import math
import sys

import numpy as np

OK, INVALID, NULL_POINTER, OUT_OF_BOUNDS, MISMATCH, INDEX = 0, 1, 2, 3, 4, 5
TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
PARALLEL_FOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, TASK, ctypes.c_void_p)


class Context(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_uint32), ("struct_size", ctypes.c_uint32), ("num_threads", ctypes.c_int32), ("reserved", ctypes.c_uint32),
                ("parallel_for", PARALLEL_FOR), ("parallel_user", ctypes.c_void_p), ("on_kernel", ctypes.c_void_p), ("on_kernel_user", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p), ("allocate_user", ctypes.c_void_p), ("decode_image", ctypes.c_void_p), ("decode_user", ctypes.c_void_p),
                ("communicator", ctypes.c_void_p)]


@PARALLEL_FOR
def pieces(user, tasks, task, argument):
    """The last tasks first, three at a time."""
    for end in range(tasks, 0, -3):
        task(argument, max(0, end - 3), end)


CONTEXT = Context(1, ctypes.sizeof(Context), 4, 0, pieces, None, None, None, None, None, None, None, None)


def bf16(array):
    """Rounded to bf16, as f32."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(np.float32).reshape(np.shape(array))


TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
         "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "bool": np.uint8}
SCALARS = {"f32": ctypes.c_float, "u8": ctypes.c_uint8, "i8": ctypes.c_int8}
# The largest difference relative to the largest result, or absolute where results are bytes.
TOLERANCE = {"f32": 2e-6, "f16": 2e-3, "bf16": 1.6e-2, "f64": 1e-13}


def store(array, type_):
    if type_ == "bf16":
        return (bf16(array).view(np.uint32) >> 16).astype(np.uint16)
    return np.ascontiguousarray(array).astype(TYPES[type_])


def load(array, type_):
    """As the numbers that they stand for."""
    if type_ == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64) if type_.startswith("f") else array


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=-1, keepdims=True)


def gelu(x, approximate):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def activate(x, name):
    return {"Identity": lambda v: v, "Relu": lambda v: np.maximum(v, 0), "Sigmoid": sigmoid, "Tanh": np.tanh, "Gelu": lambda v: gelu(v, "none")}[name](x)


def layer_norm(x, scale, bias, epsilon):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon) * scale + bias


def attention(q, k, v, causal):
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.arange(k.shape[-2]) <= np.arange(q.shape[-2])[:, None], scores, -np.inf)
    return softmax(scores) @ v


def blocks(b, scales, bits):
    numbers = np.stack([b & 15, b >> 4], -1).reshape(*b.shape[:2], 2 * b.shape[2]) if bits == 4 else b
    return ((numbers.astype(np.float64) - (1 << (bits - 1))) * scales[:, :, None]).reshape(b.shape[0], numbers.shape[1] * numbers.shape[2])


def rescale(sums, scale, zero_point):
    return np.clip(np.rint(sums.astype(np.float32) * scale.astype(np.float32)) + np.float32(zero_point), 0, 255).astype(np.uint8)


def requantize(a, a_zero_point, b, bias, scale, c_zero_point):
    sums = (a.astype(np.int32) - np.int32(a_zero_point)) @ b.astype(np.int32) + bias
    return rescale(sums, scale, c_zero_point)


def quantize(x, scale, zero_point, type_):
    info = np.iinfo(TYPES[type_])
    return np.clip(np.rint(x.astype(np.float32) / np.float32(scale)) + float(zero_point), info.min, info.max).astype(TYPES[type_])


def conv2d(p, x, w, bias):
    """Channels last, filters as ONNX has them."""
    number = {name: int(value) for name, value in p.items() if name != "activation"}
    x = np.pad(x, ((0, 0), (number["pad_top"], number["pad_bottom"]), (number["pad_left"], number["pad_right"]), (0, 0)))
    height = (x.shape[1] - number["dilation_h"] * (number["kernel_h"] - 1) - 1) // number["stride_h"] + 1
    width = (x.shape[2] - number["dilation_w"] * (number["kernel_w"] - 1) - 1) // number["stride_w"] + 1
    channels, filters = w.shape[1], w.shape[0] // number["groups"]
    sums = np.zeros((x.shape[0], height, width, w.shape[0])) + bias
    for group in range(number["groups"]):
        own, weight = x[..., group * channels:(group + 1) * channels], w[group * filters:(group + 1) * filters]
        for i in range(number["kernel_h"]):
            for j in range(number["kernel_w"]):
                top, left = i * number["dilation_h"], j * number["dilation_w"]
                pixels = own[:, top:top + (height - 1) * number["stride_h"] + 1:number["stride_h"], left:left + (width - 1) * number["stride_w"] + 1:number["stride_w"]]
                sums[..., group * filters:(group + 1) * filters] += pixels @ weight[:, :, i, j].T
    return activate(sums, p["activation"])


def conv_bytes(p, x, zero, w):
    """Exact sums; borders are the zero point."""
    parameters = {**p, "groups": "1", "activation": "Identity"}
    return conv2d(parameters, x.astype(np.int32) - np.int32(zero), w.astype(np.int32), np.zeros(w.shape[0], np.int32)).astype(np.int64).astype(np.int32)


# The reference of each kernel; packed forms have those of the plain ones: a function of its parameters (a dict of texts) and its operands.
REFERENCES = {
    "gemm_f32": lambda p, a, b: a @ b,
    "gemm_f32_bt": lambda p, a, b: a @ b.T,
    "gemm_bias_f32": lambda p, a, b, bias: activate(a @ b + bias, p["activation"]),
    "gemm_f16": lambda p, a, b: a @ b,
    "gemm_bf16": lambda p, a, b: a @ b,
    "gemm_u8s8": lambda p, a, zero, b: (a.astype(np.int32) - np.int32(zero)) @ b.astype(np.int32),
    "gemm_s8s8": lambda p, a, b: a.astype(np.int32) @ b.astype(np.int32),
    "gemm_u8s8_requantize": lambda p, *operands: requantize(*operands),
    "gemm_nbits": lambda p, a, b, scales: a @ blocks(b, scales, 4).T,
    "gemm_nbits8": lambda p, a, b, scales: a @ blocks(b, scales, 8).T,
    "conv2d_f32": conv2d,
    "conv2d_f16": conv2d,
    "conv2d_bf16": conv2d,
    "conv2d_u8s8": conv_bytes,
    "conv2d_u8s8_requantize": lambda p, x, zero, w, bias, scale, y_zero: rescale(conv_bytes(p, x, zero, w) + bias, scale, y_zero),
    "matmul_f32": lambda p, a, b: a @ b,
    "attention_f32": lambda p, q, k, v: attention(q, k, v, p["causal"] == "1"),
    "softmax": lambda p, x: softmax(x),
    "log_softmax": lambda p, x: x - x.max(-1, keepdims=True, initial=-np.inf) -
    np.log(np.exp(x - x.max(-1, keepdims=True, initial=-np.inf)).sum(-1, keepdims=True)),
    "layer_norm": lambda p, x, scale, bias: layer_norm(x, scale, bias, float(p["epsilon"])),
    "rms_norm": lambda p, x, scale: x / np.sqrt((x * x).mean(-1, keepdims=True) + float(p["epsilon"])) * scale,
    "reduce_sum": lambda p, x: x.sum(-1),
    "reduce_mean": lambda p, x: x.mean(-1),
    "reduce_max": lambda p, x: x.max(-1),
    "reduce_min": lambda p, x: x.min(-1),
    "argmax": lambda p, x: x.argmax(-1),
    "relu": lambda p, x: np.maximum(x, 0),
    "gelu": lambda p, x: gelu(x, p["approximate"]),
    "silu": lambda p, x: x * sigmoid(x),
    "sigmoid": lambda p, x: sigmoid(x),
    "tanh": lambda p, x: np.tanh(x),
    "exp": lambda p, x: np.exp(x),
    "log": lambda p, x: np.log(x),
    "erf": lambda p, x: erf(x),
    "add": lambda p, a, b: a + b,
    "mul": lambda p, a, b: a * b,
    "quantize_linear": lambda p, x, scale, zero: quantize(x, scale, zero, p["type"]),
    "dequantize_linear": lambda p, x, scale, zero: (x.astype(np.float64) - float(zero)) * float(np.float32(scale)),
    "cast_f32_to_f16": lambda p, x: x.astype(np.float32).astype(np.float16),
    "cast_f16_to_f32": lambda p, x: x,
    "cast_f32_to_bf16": lambda p, x: bf16(x),
    "cast_bf16_to_f32": lambda p, x: x,
    "transpose_2d": lambda p, x: x.T,
    "select_rows": lambda p, x, indices: x[indices],
    "select_columns": lambda p, x, indices: x[:, indices],
    # Of acme.kiln.
    "gate": lambda p, x, w: x * sigmoid(float(p["alpha"]) * w),
    "rowsum": lambda p, x: x.sum(-1),
    "outer": lambda p, x, y: np.multiply.outer(x, y),
}
# Sizes that have to be positive, because the result of none is not a number or an error.
POSITIVE = {"reduce_mean": ["columns"], "reduce_max": ["columns"], "reduce_min": ["columns"], "argmax": ["columns"], "layer_norm": ["columns"],
            "rms_norm": ["columns"], "attention_f32": ["keys"], "select_rows": ["rows"], "select_columns": ["columns"]}
# These are exact.
EXACT = {"conv2d_u8s8_packed", "conv2d_u8s8_requantize_packed", "gemm_u8s8", "gemm_s8s8", "gemm_u8s8_packed", "gemm_s8s8_packed", "gemm_u8s8_requantize_packed", "argmax", "relu", "reduce_max", "reduce_min", "add", "mul", "transpose_2d", "select_rows", "select_columns",
         "cast_f32_to_f16", "cast_f16_to_f32", "cast_f32_to_bf16", "cast_bf16_to_f32", "quantize_linear", "gemm_u8s8_requantize"}


class Kernel:
    def __init__(self, library, name, description):
        self.name, self.kernel, self.parameters = description["name"], description["kernel"], description["parameters"]
        self.sizes, self.inputs, self.outputs = description["sizes"], description["inputs"], description["outputs"]
        self.run = library[f"{name}_{self.name}"]
        self.workspace_size = library[f"{name}_{self.name}_workspace_size"]
        self.workspace_size.restype = ctypes.c_size_t
        self.workspace_size.argtypes = [ctypes.c_int64] * len(self.sizes)
        operands = [ctypes.c_void_p if tensor["dims"] else SCALARS[tensor["type"]] for tensor in self.inputs if "scales" not in tensor]
        self.run.argtypes = [ctypes.c_int64] * len(self.sizes) + operands + [ctypes.c_void_p] * (len(self.outputs) + 2)
        if any("packed" in tensor for tensor in self.inputs):
            self.find_pack_functions(library, f"{name}_{self.name}".removesuffix("_packed") + "_pack")
        self.reference = lambda *values: REFERENCES[self.kernel.removesuffix("_packed")](self.parameters, *values)

    def find_pack_functions(self, library, name):
        self.pack, self.pack_size = library[name], library[f"{name}_size"]
        self.pack_size.restype = ctypes.c_size_t
        matrix = next(tensor for tensor in self.inputs if "packed" in tensor)
        self.pack_sizes = [size for size in self.sizes if size in matrix["dims"] or (size == "channels" and "group_channels" in matrix["dims"])]
        self.has_scales = any("scales" in tensor for tensor in self.inputs)
        # Blocks have one order; a matrix, or filters, have two.
        self.other_order = None if self.has_scales else [1, 0] if len(matrix["dims"]) == 2 else [0, 2, 3, 1]
        self.pack_sizes += ["k"] * (self.has_scales and "k" in self.sizes)
        self.pack_size.argtypes = [ctypes.c_int64] * len(self.pack_sizes)
        self.pack.argtypes = [*self.pack_size.argtypes, ctypes.c_void_p, ctypes.c_void_p if self.has_scales else ctypes.c_int, ctypes.c_void_p]

    def pack_operand(self, value, sizes, reordered):
        """What the library makes of a matrix or of filters, aligned to 64 bytes, between guards. `reordered` may be the scales of a matrix instead."""
        own = [sizes[size] for size in self.pack_sizes]
        size = self.pack_size(*own)
        room = np.full(size + 192, 0xA5, np.uint8)
        start = -room.ctypes.data % 64
        given = np.ascontiguousarray(value.transpose(self.other_order) if self.other_order and reordered else value)
        status = self.pack(*own, given.ctypes.data, reordered.ctypes.data if self.has_scales else int(reordered), room.ctypes.data + start)
        assert status == OK, f"{self.name} {sizes}: packing has status {status}"
        assert (room[:start] == 0xA5).all() and (room[start + size:] == 0xA5).all(), f"{self.name} {sizes}: packing writes beyond its buffer"
        return room[start:start + size] if size else room[start:start + 1]

    def pack_operands(self, operands, sizes, reordered=False):
        """The operands as a call takes them."""
        reordered = next((value for value, tensor in zip(operands, self.inputs) if "scales" in tensor), reordered)
        return [self.pack_operand(value, sizes, reordered) if "packed" in tensor else value for value, tensor in zip(operands, self.inputs)]

    def check_pack_errors(self, operands, sizes):
        matrix = next(value for value, tensor in zip(operands, self.inputs) if "packed" in tensor)
        order = matrix.ctypes.data if self.has_scales else 0
        own, room = {size: sizes[size] for size in self.pack_sizes}, np.zeros(self.pack_size(*(sizes[s] for s in self.pack_sizes)) + 192, np.uint8)
        packed = room.ctypes.data + -room.ctypes.data % 64
        for size in self.pack_sizes:
            for wrong in (-1, 1 << 62):
                odd = {**own, size: wrong}
                assert self.pack_size(*odd.values()) == ctypes.c_size_t(-1).value, f"{self.name}: packed bytes for {odd}"
                assert self.pack(*odd.values(), matrix.ctypes.data, order, packed) == OUT_OF_BOUNDS, f"{self.name}: packs {odd}"
        assert self.pack(*own.values(), None, order, packed) == NULL_POINTER, f"{self.name}: packs nothing"
        assert self.pack(*own.values(), matrix.ctypes.data, order, None) == NULL_POINTER, f"{self.name}: packs to nowhere"
        assert self.pack(*own.values(), matrix.ctypes.data, order, packed + 1) == INVALID, f"{self.name}: packs to an unaligned buffer"
        assert not self.has_scales or self.pack(*own.values(), matrix.ctypes.data, None, packed) == NULL_POINTER, f"{self.name}: packs without scales"
        assert not room.any(), f"{self.name}: a call of pack with an error writes"

    def draw_sizes(self, random, rows):
        """Of so many rows, if any are given."""
        sizes = {}
        for size in self.sizes:
            choice = random.integers(0, 10)
            sizes[size] = int(0 if choice == 0 else 1 if choice == 1 else random.integers(2, 12) if choice < 5 else random.integers(12, 140))
            if size in POSITIVE.get(self.kernel, []):
                sizes[size] = max(sizes[size], 1)
        if rows and "m" in sizes:
            sizes["m"] = int(random.choice(rows))
        if "block" in self.parameters and "k" in self.sizes:
            sizes["k"] = sizes["k"] // 8 * int(self.parameters["block"])
        if "kernel_h" in self.parameters:
            sizes = self.draw_image(sizes, random)
        return sizes

    def draw_image(self, sizes, random):
        """Small ones, which the window fits into."""
        number = lambda name: int(self.parameters.get(name, 1))
        # Bytes have four channels at once.
        whole = {"channels": 4 if "u8s8" in self.kernel else number("groups"), "filters": number("groups")}
        most = {"batch": 3, "channels": 40, "filters": 80}
        for size, end in most.items():
            if size in sizes:
                sizes[size] = min(sizes[size], end) if size == "batch" else sizes[size] * end // 140 // whole[size] * whole[size]
        for size, axis, pads in (("height", "h", ("pad_top", "pad_bottom")), ("width", "w", ("pad_left", "pad_right"))):
            if size in sizes:
                sizes[size] = max(number(f"dilation_{axis}") * (number(f"kernel_{axis}") - 1) + 1 - sum(map(number, pads)), 1) + int(random.integers(0, 40))
        return sizes

    def draw(self, tensor, sizes, random):
        """An operand: the numbers, as they are in memory."""
        # `blocks` follows from k, and `group_channels` from channels.
        every = {**sizes, "blocks": sizes.get("k", 0) // int(self.parameters.get("block", 1)),
                 "group_channels": sizes.get("channels", 0) // int(self.parameters.get("groups", 1))}
        shape = [int(dim) if dim.isdigit() else every[dim] for dim in tensor["dims"]]
        type_ = tensor["type"]
        if tensor["name"] == "indices":
            size = self.inputs[0]["dims"][0 if self.kernel == "select_rows" else 1]
            most = int(size) if size.isdigit() else sizes[size]
            return random.integers(-most, most, shape).astype(np.int64)
        if type_[0] in "iu" and type_ != "i32":
            info = np.iinfo(TYPES[type_])
            return random.integers(info.min, info.max + 1, shape, dtype=TYPES[type_])
        if type_ == "i32":
            return random.integers(-5000, 5000, shape, dtype=np.int32)
        if tensor["name"] == "scale" and not tensor["dims"]:
            return np.float32(random.uniform(0.01, 0.1))
        values = random.standard_normal(shape)
        if tensor["name"] in ("scale", "scales"):
            values = np.abs(values) * 0.01 if self.kernel.startswith(("gemm", "quant", "conv2d_u8s8")) else values
        return store(np.abs(values) + 0.01 if self.kernel == "log" else values, type_)

    def call(self, sizes, operands, results, context=None, workspace=None):
        arguments = [value.ctypes.data if tensor["dims"] else value.item() for value, tensor in zip(operands, self.inputs) if "scales" not in tensor]
        return self.run(*sizes.values(), *arguments, *(result.ctypes.data for result in results), workspace, context)

    def check(self, random, rows):
        sizes = self.draw_sizes(random, rows)
        operands = [self.draw(tensor, sizes, random) for tensor in self.inputs]
        with np.errstate(all="ignore"):
            expected = self.reference(*(load(value, tensor["type"]) for value, tensor in zip(operands, self.inputs)))
        type_ = self.outputs[0]["type"]
        size = self.workspace_size(*sizes.values())
        runs = []
        given = self.pack_operands(operands, sizes, random.integers(0, 2))
        for context in (None, ctypes.byref(CONTEXT)):
            guarded = np.full(expected.size + 64, 0x5A, TYPES[type_])
            room = np.full(size + 256, 0xA5, np.uint8)
            start = -room.ctypes.data % 64
            status = self.call(sizes, given, [guarded[32:32 + expected.size]], context, room.ctypes.data + start if size else None)
            assert status == OK, f"{self.name} {sizes}: status {status}"
            assert (guarded[:32] == 0x5A).all() and (guarded[32 + expected.size:] == 0x5A).all(), f"{self.name} {sizes}: writes beyond its result"
            assert (room[start + size:] == 0xA5).all(), f"{self.name} {sizes}: writes beyond its workspace"
            runs.append(guarded[32:32 + expected.size].reshape(expected.shape))
        assert runs[0].tobytes() == runs[1].tobytes(), f"{self.name} {sizes}: other bits with tasks in another order"
        self.compare(sizes, load(runs[0], type_), expected, type_)

    def compare(self, sizes, values, expected, type_):
        if self.kernel in EXACT:
            wanted = load(store(expected, type_), type_) if type_ in TOLERANCE else expected
            assert np.array_equal(values, wanted), f"{self.name} {sizes}: {values} instead of {wanted}"
            return
        if not expected.size:
            return
        # Where the one that is summed over is static, it is the last of the first operand.
        dynamic = [sizes[size] for size in ("k", "columns", "keys", "channels") if size in sizes]
        depth = max([1, *(dynamic or [int(dim) for dim in self.inputs[0]["dims"][-1:] if dim.isdigit()])])
        depth *= int(self.parameters.get("kernel_h", 1)) * int(self.parameters.get("kernel_w", 1))
        allowed = TOLERANCE[type_] * max(np.abs(expected).max(), 1) * (math.sqrt(depth) if type_ != "bf16" else 1)
        error = np.abs(values - expected).max()
        assert error <= allowed, f"{self.name} {sizes}: off by {error}, allowed are {allowed}"

    def check_errors(self, random):
        sizes = {size: 2 if size == "batch" and "kernel_h" in self.parameters else 32 for size in self.sizes}
        if "block" in self.parameters and "k" in self.sizes:
            sizes["k"] = int(self.parameters["block"])
        operands = [self.draw(tensor, sizes, random) for tensor in self.inputs]
        with np.errstate(all="ignore"):
            expected = self.reference(*(load(value, tensor["type"]) for value, tensor in zip(operands, self.inputs)))
        result = np.zeros(expected.size, TYPES[self.outputs[0]["type"]])
        if hasattr(self, "pack"):
            self.check_pack_errors(operands, sizes)
            operands = self.pack_operands(operands, sizes)
        for size in self.sizes:
            for wrong in (-1, 1 << 62):
                odd = {**sizes, size: wrong}
                assert self.workspace_size(*odd.values()) == ctypes.c_size_t(-1).value, f"{self.name}: a workspace for {odd}"
                status = self.call(odd, operands, [result], None, None)
                assert status == OUT_OF_BOUNDS, f"{self.name}: status {status} for {odd}"
        bytes_ = self.workspace_size(*sizes.values())
        room = np.zeros(bytes_ + 128, np.uint8)
        workspace = room.ctypes.data + -room.ctypes.data % 64
        if bytes_:
            assert self.call(sizes, operands, [result], None, None) == NULL_POINTER, f"{self.name}: runs without a workspace"
            assert self.call(sizes, operands, [result], None, workspace + 1) == 6, f"{self.name}: runs with an unaligned workspace"
        nothing = [None] * len(self.outputs)
        arguments = [value.ctypes.data if tensor["dims"] else value.item() for value, tensor in zip(operands, self.inputs) if "scales" not in tensor]
        assert self.run(*sizes.values(), *arguments, *nothing, workspace, None) == NULL_POINTER, f"{self.name}: runs without a result"
        # Scales are not among the arguments, and stand behind all that are.
        for i, tensor in enumerate(tensor for tensor in self.inputs if "scales" not in tensor):
            if tensor["dims"]:
                if "packed" in tensor:
                    odd = [argument + 1 if j == i else argument for j, argument in enumerate(arguments)]
                    assert self.run(*sizes.values(), *odd, result.ctypes.data, workspace, None) == INVALID, f"{self.name}: runs with an unaligned packed operand"
                missing = [None if j == i else argument for j, argument in enumerate(arguments)]
                assert self.run(*sizes.values(), *missing, result.ctypes.data, workspace, None) == NULL_POINTER, f"{self.name}: runs without {tensor['name']}"
            if tensor["name"] == "indices":
                outside = np.full_like(operands[i], 1000)
                status = self.call(sizes, [outside if j == i else value for j, value in enumerate(operands)], [result], None, workspace)
                assert status == INDEX, f"{self.name}: status {status} for an index outside"
        if "block" in self.parameters and "k" in self.sizes:
            status = self.call({**sizes, "k": sizes["k"] + 1}, operands, [result], None, workspace)
            assert status == MISMATCH, f"{self.name}: status {status} for part of a block"
        for size in {"channels", "filters"} & sizes.keys() if int(self.parameters.get("groups", 1)) > 1 else ():
            odd = {**sizes, size: sizes[size] + 1}
            status = self.call(odd, operands, [result], None, workspace)
            assert status == MISMATCH, f"{self.name}: status {status} for {odd}"
            assert self.pack_size(*(odd[size] for size in self.pack_sizes)) == ctypes.c_size_t(-1).value, f"{self.name}: packed bytes for {odd}"
        if self.kernel.startswith("conv2d_u8s8") and "channels" in sizes:
            status = self.call({**sizes, "channels": sizes["channels"] - 1}, operands, [result], None, workspace)
            assert status == MISMATCH, f"{self.name}: status {status} for channels that are no multiple of four"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("description")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, nargs="+", help="numbers of rows m of products (default: any)")
    options = parser.parse_args()
    with open(options.description) as file:
        description = json.load(file)
    library = ctypes.CDLL(options.library)
    faults = []
    for one in description["kernels"]:
        kernel = Kernel(library, description["name"], one)
        random = np.random.default_rng(options.seed)
        try:
            for _ in range(options.rounds):
                kernel.check(random, options.rows)
            kernel.check_errors(random)
        except AssertionError as fault:
            faults.append(str(fault))
    for fault in faults:
        print(fault)
    print(f"{len(description['kernels'])} kernels, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
