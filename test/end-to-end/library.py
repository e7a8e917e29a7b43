"""A model as a shared library, made by `kiln compile --emit=so` and called through its C interface, or under an emulator."""

import ctypes
import functools
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kiln_calls  # noqa: E402

TYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}
ALIGNMENT = 64
POINTER = ctypes.c_void_p


class SymbolInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("min", ctypes.c_int64), ("max", ctypes.c_int64)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("field", ctypes.c_char_p), ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("dim_texts", ctypes.POINTER(ctypes.c_char_p)), ("dim_symbols", ctypes.POINTER(ctypes.c_int32)), ("byte_size", ctypes.c_int64),
                ("element_type", ctypes.c_int32), ("rank", ctypes.c_int32)]


class ModelInfo(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_uint32), ("struct_size", ctypes.c_uint32), ("name", ctypes.c_char_p), ("target", ctypes.c_char_p),
                ("inputs", ctypes.POINTER(TensorInfo)), ("outputs", ctypes.POINTER(TensorInfo)), ("symbols", ctypes.POINTER(SymbolInfo)),
                ("weights_file", ctypes.c_char_p), ("num_inputs", ctypes.c_int32), ("num_outputs", ctypes.c_int32), ("num_symbols", ctypes.c_int32),
                ("num_kernels", ctypes.c_int32), ("workspace_size", ctypes.c_int64), ("weights_size", ctypes.c_int64),
                ("weights_checksum", ctypes.c_uint64), ("output_bounds", ctypes.POINTER(ctypes.c_char_p)),
                ("symbol_bounds", ctypes.POINTER(ctypes.c_char_p)), ("num_computed", ctypes.c_int32), ("reserved", ctypes.c_uint32)]


class Context(ctypes.Structure):
    _fields_ = [("header", ctypes.c_uint32 * 4)] + [(name, POINTER) for name in (
        "parallel_for", "user", "on_kernel", "on_user", "allocate", "allocate_user", "decode_image", "decode_user", "communicator")]


@functools.lru_cache
def runtime():
    """The runtime of the build that has `kiln`, as a shared library."""
    archive = pathlib.Path(shutil.which(kiln())).resolve().parents[1] / "runtime/libkiln_runtime.a"
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/runtime.so"
        subprocess.run(["g++", "-shared", "-o", path, "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive", "-pthread"], check=True)
        return ctypes.CDLL(path)


def kiln():
    return os.environ.get("KILN", "kiln")


class Library:
    def __init__(self, model, options, folder):
        kiln_calls.Kiln(kiln()).run("compile", model, "--name=model", "--emit=so", "-q", "-o", folder, *options)
        self.code = ctypes.CDLL(str(pathlib.Path(folder) / "libmodel.so"))
        self.info = ModelInfo.in_dll(self.code, "model_info")

    def bind(self, inputs):
        """The values of the dynamic dimensions, and the inputs in the model's order."""
        tensors = self.info.inputs[:self.info.num_inputs]
        arrays = [np.asarray(inputs[tensor.name.decode()], order="C") for tensor in tensors]
        sizes = {}
        for tensor, array in zip(tensors, arrays):
            assert TYPES[tensor.element_type] == array.dtype.str[1:].replace("b1", "?") and tensor.rank == array.ndim, tensor.name
            for axis, size in enumerate(array.shape):
                if tensor.dims[axis] < 0:
                    sizes.setdefault(tensor.dim_texts[axis].decode(), size)
        names = self.symbols()
        given = len(names) - self.info.num_computed
        # A run writes the last ones, and raises bounds that no input has.
        return [sizes.get(name, 0) if index < given else 0 for index, name in enumerate(names)], arrays

    def symbols(self):
        """As the texts of dimensions spell them."""
        return [re.sub(r"[^A-Za-z0-9_]", "_", symbol.name.decode()) for symbol in self.info.symbols[:self.info.num_symbols]]

    def run(self, inputs, threads):
        """[(name, array)] of the outputs."""
        dims, arrays = self.bind(inputs)
        given = len(dims) - self.info.num_computed
        while True:
            rooms = [np.empty(room, TYPES[tensor.element_type]) for tensor, room in zip(self.info.outputs, self.rooms(dims))]
            values = np.array(dims, np.int64)
            try:
                self.call(values, arrays, rooms, threads)
                break
            except RuntimeError:
                raised = values[:given].tolist()
                if raised == dims[:given] or any(size > symbol.max for size, symbol in zip(raised, self.info.symbols)):
                    raise
                dims[:given] = raised
        sizes = dict(zip(self.symbols(), values.tolist()))
        shapes = [[evaluate(tensor, axis, sizes) for axis in range(tensor.rank)] for tensor in self.info.outputs[:self.info.num_outputs]]
        return [(tensor.name.decode(), room[:int(np.prod(shape))].reshape(shape)) for tensor, room, shape in zip(self.info.outputs, rooms, shapes)]

    def rooms(self, dims):
        """The elements that each output needs room for."""
        sizes = dict(zip(self.symbols(), dims))
        if self.info.num_computed:
            return [compute(text, sizes) for text in self.info.output_bounds[:self.info.num_outputs]]
        return [int(np.prod([evaluate(tensor, axis, sizes) for axis in range(tensor.rank)])) for tensor in self.info.outputs[:self.info.num_outputs]]

    def call(self, dims, arrays, outputs, threads):
        dynamic = [dims.ctypes.data_as(POINTER)] if dims.size else []
        measure = self.code.model_workspace_size
        measure.restype = ctypes.c_size_t
        # A run of dimensions that no workspace fits ends with a status before it touches any.
        size = measure(*dynamic)
        memory = np.full((0 if size == ctypes.c_size_t(-1).value else size) + 2 * ALIGNMENT, 0xAB, np.uint8)
        workspace = memory[-memory.ctypes.data % ALIGNMENT:]
        pool, context = POINTER(), Context()
        assert runtime().kiln_pool_create(threads, ctypes.byref(pool)) == 0
        runtime().kiln_pool_context(pool, ctypes.byref(context))
        places = [(POINTER * (len(tensors) + 1))(*[tensor.ctypes.data for tensor in tensors]) for tensors in (arrays, outputs)]
        status = self.code.model_run(*dynamic, *places, workspace.ctypes.data_as(POINTER), ctypes.byref(context))
        runtime().kiln_pool_destroy(pool)
        if status:
            raise RuntimeError(f"the model ended with status {status}")


class Program:
    """The same by `kiln run`, for targets whose code only an emulator runs; on one thread."""
    def __init__(self, model, options, folder):
        self.words = ["run", model, "--json", "--output-dir", f"{folder}/out", *options]
        self.folder = folder
        self.bound = {option.split("=")[1] for option in options if option.startswith("--bind=")}

    def run(self, inputs, threads):
        arguments = []
        for index, (name, array) in enumerate((name, array) for name, array in inputs.items() if name not in self.bound):
            np.save(f"{self.folder}/{index}.npy", array)
            arguments += ["--input", f"{name}={self.folder}/{index}.npy"]
        done = kiln_calls.Kiln(kiln()).run(*self.words, *arguments)
        return [(output["name"], np.load(f"{self.folder}/out/{output['file']}")) for output in json.loads(done.stdout)["outputs"]]


@functools.lru_cache
def foreign_targets():
    """The named targets whose architecture is not this machine's."""
    listed = kiln_calls.Kiln(kiln()).run("--target=list", "--json").stdout
    return {target["name"] for target in json.loads(listed)["targets"] if target["triple"].split("-")[0] != platform.machine()}


def evaluate(tensor, axis, sizes):
    """An output's size, from texts such as `(batch + 1) floordiv 2`."""
    if tensor.dims[axis] >= 0:
        return tensor.dims[axis]
    return compute(tensor.dim_texts[axis], sizes)


def compute(text, sizes):
    return eval(re.sub(r"floordiv|/", "//", text.decode()).replace("mod", "%"), {"__builtins__": {}, "max": max}, sizes)
