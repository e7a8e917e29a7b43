"""Runs a model that `kiln model.onnx --emit=so -o out` has made, with numpy arrays. Nothing is built: the library describes itself.

    from kiln_model import Model
    net = Model("out/libnet.so")
    result = net(image=picture)["logits"]

Shapes and types are checked and dynamic dimensions follow from the inputs' shapes; what no shape says is given as dims={"name": 3}. Sizes that the model
cannot take are an error that names the ONNX node, and net.explain(height=33) says the same without a run. Several threads may use one Model. A library of
several models has Model(path, graph="encoder"). Of a weights file, the length is checked, and the checksum if it has at most 32 MB: Python reads about 50 MB in
a second. check=True checks files of any size, check=False none.
"""
import ast
import ctypes
import mmap
import operator
import pathlib
import re
import threading

import numpy

ALIGNMENT = 64
MOST_CHECKED = 32 << 20
ABI_VERSION = 1
OUT_OF_BOUNDS, MISMATCH = 3, 4
# kiln_element_type. bf16 and the 8-bit floats have no type in numpy and are their bits.
TYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8", 16: "u2", 17: "u1", 18: "u1",
         19: "u1", 20: "u1", 21: "u1", 22: "i1", 23: "u1", 24: "u1"}
STATUSES = {1: "invalid argument", 2: "a required pointer is NULL", 3: "a dimension is outside the bounds the model was compiled for",
            4: "dimensions do not fit each other", 5: "an index in the input data is out of bounds",
            9: "the CPU lacks instructions that the model was compiled for, or the system refuses the registers for tiles (AMX)",
            21: "dimensions make a tensor or the workspace too large"}


class KilnError(ValueError):
    """A call that the model does not allow, or a run that failed; then `status` is its kiln_status."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


class _Symbol(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("min", ctypes.c_int64), ("max", ctypes.c_int64)]


class _Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("field", ctypes.c_char_p), ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("dim_texts", ctypes.POINTER(ctypes.c_char_p)), ("dim_symbols", ctypes.POINTER(ctypes.c_int32)), ("byte_size", ctypes.c_int64),
                ("element_type", ctypes.c_int32), ("rank", ctypes.c_int32)]


class _Demand(ctypes.Structure):
    _fields_ = [("number", ctypes.c_char_p), ("words", ctypes.c_char_p), ("symbols", ctypes.POINTER(ctypes.c_int32)), ("num_symbols", ctypes.c_int32),
                ("status", ctypes.c_int32), ("is_least", ctypes.c_uint8), ("reserved", ctypes.c_uint8 * 7)]


class _Info(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_uint32), ("struct_size", ctypes.c_uint32), ("name", ctypes.c_char_p), ("target", ctypes.c_char_p),
                ("inputs", ctypes.POINTER(_Tensor)), ("outputs", ctypes.POINTER(_Tensor)), ("symbols", ctypes.POINTER(_Symbol)),
                ("weights_file", ctypes.c_char_p), ("num_inputs", ctypes.c_int32), ("num_outputs", ctypes.c_int32), ("num_symbols", ctypes.c_int32),
                ("num_kernels", ctypes.c_int32), ("workspace_size", ctypes.c_int64), ("weights_size", ctypes.c_int64),
                ("weights_checksum", ctypes.c_uint64), ("output_bounds", ctypes.POINTER(ctypes.c_char_p)),
                ("symbol_bounds", ctypes.POINTER(ctypes.c_char_p)), ("num_computed", ctypes.c_int32), ("num_sequences", ctypes.c_int32),
                ("unused", ctypes.c_void_p * 6), ("metadata", ctypes.POINTER(ctypes.c_char_p)),
                ("num_metadata", ctypes.c_int64), ("demands", ctypes.POINTER(_Demand)), ("num_demands", ctypes.c_int64)]


OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod, ast.Div: operator.floordiv}


def _evaluate(text, names):
    """A size such as `2 * n + 1`: the library's expressions have C's operators on numbers that are not negative, and max()."""

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return names[node.id.removeprefix("name_")]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.Call) and node.func.id == "max":
            return max(value(argument) for argument in node.args)
        if isinstance(node, ast.BinOp):
            left, right = value(node.left), value(node.right)
            return OPERATORS[type(node.op)](left, max(right, 1) if isinstance(node.op, (ast.Div, ast.Mod)) else right)
        raise KilnError(f"the size '{text}' of the library is of an unknown form")

    # A name may be a keyword of Python.
    return value(ast.parse(re.sub(r"[A-Za-z_]\w*(?!\w*\()", r"name_\g<0>", text.strip()), mode="eval").body)


class Tensor:
    """An input or output: its name, numpy type, and shape with a name or an expression for each dynamic dimension."""

    def __init__(self, row):
        self.name = row.name.decode()
        if row.element_type not in TYPES:
            raise KilnError(f"'{self.name}' has elements of type {row.element_type} (kiln_element_type), which numpy has no type for")
        self.dtype = numpy.dtype(TYPES[row.element_type])
        self.shape = tuple(row.dims[i] if row.dims[i] >= 0 else row.dim_texts[i].decode() for i in range(row.rank))
        self._symbols = [row.dim_symbols[i] if row.dim_symbols else -1 for i in range(row.rank)]

    def __repr__(self):
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"

    def _extents(self, names):
        return tuple(size if isinstance(size, int) else _evaluate(size, names) for size in self.shape)


def _aligned(size):
    memory = numpy.empty(size + ALIGNMENT, numpy.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start:start + size]


def _checksum(data):
    """kiln_checksum() of an array of bytes."""
    golden, other, mask = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, (1 << 64) - 1
    stir = lambda state, word: (mixed := (state ^ word) * golden & mask) ^ mixed >> 29
    whole, piece = data.size // 32 * 32, 1 << 20
    tail = numpy.zeros(32, numpy.uint8)
    tail[:data.size - whole] = data[whole:]
    a, b, c, d = other, ~other & mask, golden, ~golden & mask
    # stir() written out: calls would take most of the time.
    for start in range(0, whole, piece):
        for i, j, k, l in data[start:min(start + piece, whole)].view("<u8").reshape(-1, 4).tolist():
            a = (a ^ i) * golden & mask
            a ^= a >> 29
            b = (b ^ j) * golden & mask
            b ^= b >> 29
            c = (c ^ k) * golden & mask
            c ^= c >> 29
            d = (d ^ l) * golden & mask
            d ^= d >> 29
    result = data.size * other & mask
    for lane, word in zip((a, b, c, d), tail.view("<u8").tolist()):
        result = stir(result, stir(lane, word))
    return (result ^ result >> 32) * other & mask or 1


class Model:
    def __init__(self, path, graph=None, check=None):
        path = pathlib.Path(path).resolve()
        self._library = ctypes.CDLL(str(path))
        stem = path.name.removeprefix("lib").split(".")[0]
        name = f"{stem}_{graph}" if graph else stem
        try:
            self._info = info = _Info.in_dll(self._library, f"{name}_info")
        except ValueError:
            raise KilnError(f"{path} has no model '{name}'; a library keeps the name it was made with, and one of several models needs graph=") from None
        if info.abi_version != ABI_VERSION or info.struct_size < ctypes.sizeof(_Info):
            raise KilnError(f"{path} is of another version of Kiln's ABI")
        self.name = info.name.decode()
        self.inputs = [Tensor(info.inputs[i]) for i in range(info.num_inputs)]
        self.outputs = [Tensor(info.outputs[i]) for i in range(info.num_outputs)]
        self.dims = {info.symbols[i].name.decode(): (info.symbols[i].min, info.symbols[i].max) for i in range(info.num_symbols - info.num_computed)}
        # Bounds of sizes that data decide, which a run raises.
        keys = {info.metadata[2 * i].decode(errors="replace") for i in range(info.num_metadata)}
        self._raised = {name for name in self.dims if f"kiln.raised.{name}" in keys}
        self._run, self._size = getattr(self._library, f"{name}_run"), getattr(self._library, f"{name}_workspace_size")
        self._size.restype = ctypes.c_size_t
        self._own = threading.local()
        self._names = self._find_names()
        self._weights = self._map_weights(path, check) if info.weights_file else None

    def _find_names(self):
        """The names of dimensions in expressions: where a dimension of a tensor stands alone, its text is one; others are their names as identifiers."""
        info = self._info
        names = ["".join(c if c.isascii() and c.isalnum() else "_" for c in info.symbols[i].name.decode()) for i in range(info.num_symbols)]
        for tensor in self.inputs + self.outputs:
            for size, symbol in zip(tensor.shape, tensor._symbols):
                if symbol >= 0:
                    names[symbol] = size
        return names

    def _map_weights(self, path, check):
        file = path.parent / self._info.weights_file.decode()
        if not file.is_file():
            raise KilnError(f"{file} is no file")
        if (size := file.stat().st_size) != self._info.weights_size:
            raise KilnError(f"{file} has {size} bytes, expected {self._info.weights_size}")
        with open(file, "rb") as opened:
            weights = numpy.frombuffer(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ), numpy.uint8)
        is_checked = size <= MOST_CHECKED if check is None else check
        if is_checked and _checksum(weights) != self._info.weights_checksum:
            raise KilnError(f"{file} is damaged, or of another compile: its checksum is not the model's")
        return weights

    def _read_inputs(self, given):
        unknown = set(given) - {tensor.name for tensor in self.inputs}
        if unknown:
            raise KilnError(f"{self.name}: there is no input '{min(unknown)}', it has {', '.join(map(repr, (t.name for t in self.inputs)))}")
        arrays = []
        for tensor in self.inputs:
            if tensor.name not in given:
                raise KilnError(f"{self.name}: input '{tensor.name}' is missing")
            if numpy.ma.is_masked(given[tensor.name]):
                raise KilnError(f"{self.name}: input '{tensor.name}' has masked elements; fill them first, as filled() does")
            array = numpy.asarray(given[tensor.name])
            if array.dtype != tensor.dtype:
                raise KilnError(f"{self.name}: input '{tensor.name}' is {array.dtype}, expected {tensor.dtype}")
            if array.ndim != len(tensor.shape):
                raise KilnError(f"{self.name}: input '{tensor.name}' has {array.ndim} dimensions, expected {len(tensor.shape)}")
            # In the machine's order of bytes, as the types are equal, and where the CPU loads elements from.
            arrays.append(numpy.require(array, requirements=["C", "ALIGNED"]))
        return arrays

    def _find_dims(self, arrays, asked, kept):
        unknown = set(asked) - set(self.dims)
        if unknown:
            raise KilnError(f"{self.name}: there is no dimension '{min(unknown)}'")
        values = [asked.get(name, kept.get(name, 0) if name in self._raised else None) for name in self.dims]
        for tensor, array in zip(self.inputs, arrays):
            for size, symbol in zip(array.shape, tensor._symbols):
                if 0 <= symbol < len(values) and values[symbol] is None:
                    values[symbol] = size
        for name, value in zip(self.dims, values):
            if value is None:
                raise KilnError(f"{self.name}: dimension '{name}' follows from no input's shape; give dims={{'{name}': ...}}")
        self._check(values, OUT_OF_BOUNDS)
        return values + [0] * self._info.num_computed

    def _find_fault(self, values, status=None):
        """The first demand that these sizes do not meet, of those with a status if one is given: that status and a text; None if they meet all."""
        names = dict(zip(self._names, values))
        for i in range(self._info.num_demands):
            demand = self._info.demands[i]
            number = _evaluate(demand.number.decode(), names) if demand.status == (status or demand.status) else 0
            if number < 0 or number and not demand.is_least:
                sizes = ", ".join(f"{self._names[k]} {values[k]}" for k in demand.symbols[:demand.num_symbols])
                return demand.status, f"{sizes}: {demand.words.decode()}"
        return None

    def _check(self, values, status):
        if fault := self._find_fault(values, status):
            raise KilnError(f"{self.name}: {STATUSES[fault[0]]}: {fault[1]}", fault[0])

    def explain(self, dims=None, **named):
        """What is wrong with these sizes of all dimensions, and the ONNX node that demands it, as a text that is empty if nothing is. A call raises it, too."""
        sizes = {**(dims or {}), **named}
        if sizes.keys() != self.dims.keys():
            raise KilnError(f"{self.name}: expected a size for each of {', '.join(map(repr, self.dims))}")
        fault = self._find_fault([sizes[name] for name in self.dims])
        return fault[1] if fault else ""

    def __call__(self, inputs=None, dims=None, **named):
        """The outputs by their names. Inputs are given by name; a dict as the first argument holds those whose names are no identifiers."""
        arrays = self._read_inputs({**(inputs or {}), **named})
        # As the workspace, the bounds that a call of this thread has raised are the next one's.
        kept, self._own.raised = getattr(self._own, "raised", {}), {}
        try:
            return self._repeat(arrays, dims or {}, kept)
        except (KilnError, MemoryError):
            # They may leave no room together with those of this call, which starts again without them.
            if not kept:
                raise
        return self._repeat(arrays, dims or {}, {})

    def _repeat(self, arrays, asked, kept):
        """Runs until no bound has to be raised. `kept` are the bounds to begin with; others are 0."""
        values = self._find_dims(arrays, asked, kept)
        names = dict(zip(self._names, values))
        for tensor, array in zip(self.inputs, arrays):
            if array.shape != (expected := tensor._extents(names)):
                raise KilnError(f"{self.name}: input '{tensor.name}' has the shape {list(array.shape)}, expected {list(expected)}")
        self._check(values, MISMATCH)
        while True:
            numbers = (ctypes.c_int64 * max(len(values), 1))(*values)
            try:
                results = self._call(arrays, numbers, bool(values))
                self._own.raised = {name: value for name, value in zip(self.dims, values) if name in self._raised and name not in asked}
                return results
            except KilnError as error:
                raised = [max(old, new) for old, new in zip(values, numbers[:len(self.dims)])]
                if error.status != OUT_OF_BOUNDS or raised == values[:len(self.dims)]:
                    raise
                values[:len(self.dims)] = raised
                self._check(values, OUT_OF_BOUNDS)

    def _call(self, arrays, numbers, has_dims):
        names = dict(zip(self._names, numbers))
        bytes_ = self._size(ctypes.byref(numbers)) if has_dims else self._size()
        if bytes_ == ctypes.c_size_t(-1).value:
            raise KilnError(f"{self.name}: {STATUSES[21]}", 21)
        if getattr(self._own, "workspace", None) is None or self._own.workspace.size < bytes_:
            self._own.workspace = _aligned(max(bytes_, 1))
        bounds = self._info.output_bounds
        rooms = [_evaluate(bounds[i].decode(), names) if bounds else int(numpy.prod(tensor._extents(names), dtype=numpy.int64))
                 for i, tensor in enumerate(self.outputs)]
        results = [numpy.empty(max(room, 1), tensor.dtype) for tensor, room in zip(self.outputs, rooms)]
        self._launch(numbers if has_dims else None, arrays, results)
        names = dict(zip(self._names, numbers))
        shapes = [tensor._extents(names) for tensor in self.outputs]
        return {tensor.name: result[:int(numpy.prod(shape, dtype=numpy.int64))].reshape(shape)
                for tensor, result, shape in zip(self.outputs, results, shapes)}

    def _launch(self, dims, arrays, results):
        # An array without elements may have no memory.
        arrays = [array if array.size else numpy.empty(1, array.dtype) for array in arrays]
        pointers = lambda list_: (ctypes.c_void_p * max(len(list_), 1))(*(array.ctypes.data for array in list_))
        arguments = [ctypes.byref(dims)] if dims is not None else []
        arguments += [ctypes.byref(pointers(arrays)), ctypes.byref(pointers(results))]
        if self._weights is not None:
            arguments.append(ctypes.c_void_p(self._weights.ctypes.data))
        status = self._run(*arguments, ctypes.c_void_p(self._own.workspace.ctypes.data), None)
        if status:
            demands = [self._info.demands[i] for i in range(self._info.num_demands)] if status == MISMATCH else []
            details = "".join(f"; {demand.words.decode()}" for demand in demands if not demand.num_symbols)
            raise KilnError(f"{self.name}: the model did not run: {STATUSES.get(status, f'status {status} of kiln_status')}{details}", status)
