"""ONNX Runtime's C API by its table of functions, whose places are fixed: a model file in, arrays out. One thread, no graph optimisation."""

import ctypes

import numpy as np
from elements import TYPES, as_bytes

# Places in the table, which only grows at its end.
ERROR_MESSAGE, CREATE_ENV, CREATE_SESSION, RUN, CREATE_OPTIONS, OPTIMIZATION, THREADS = 2, 3, 7, 9, 10, 23, 24
CREATE_STRINGS, CREATE_TENSOR, DATA, FILL_STRINGS, STRINGS_LENGTH, STRINGS = 48, 49, 51, 52, 53, 54
ELEMENT_TYPE, RANK, DIMENSIONS, TYPE_AND_SHAPE, MEMORY, ALLOCATOR, CREATE_VALUE = 60, 61, 62, 65, 69, 78, 82
#: The kind of value that a map is.
MAP = 3
NUMBERS = {element.number: element for element in TYPES.values() if element.held is not None and not element.is_narrow}


class Refused(Exception):
    """What ONNX Runtime says of a model or a run."""


class OnnxRuntime:
    """A loaded library. It aborts the process on some models, so callers run it in one of its own."""

    def __init__(self, path):
        base = ctypes.CDLL(path).OrtGetApiBase
        base.restype = ctypes.POINTER(ctypes.c_void_p)
        get_api = ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint32)(base()[0])
        self.table = get_api(20)
        self.environment = self.make(CREATE_ENV, ctypes.c_int(4), b"kiln")
        self.memory = self.make(MEMORY, ctypes.c_int(0), ctypes.c_int(0))
        self.allocator = self.make(ALLOCATOR)

    def call(self, slot, *arguments):
        status = ctypes.CFUNCTYPE(ctypes.c_void_p, *map(type, arguments))(self.table[slot])(*arguments)
        if status:
            text = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(self.table[ERROR_MESSAGE])(status)
            raise Refused(text.decode(errors="replace"))

    def make(self, slot, *arguments):
        """The object that a function returns through its last parameter."""
        made = ctypes.c_void_p()
        arguments = [ctypes.c_char_p(a) if isinstance(a, bytes) else a for a in arguments]
        self.call(slot, *arguments, ctypes.cast(ctypes.byref(made), ctypes.c_void_p))
        return made

    def tensor(self, array, type):
        """(value, the memory that it points to)"""
        dims = (ctypes.c_int64 * array.ndim)(*array.shape)
        if TYPES[type].is_string:
            return self.strings(array, dims), None
        data = np.ascontiguousarray(as_bytes(array) if type == "bf16" else array)
        value = self.make(CREATE_TENSOR, self.memory, ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.nbytes), ctypes.cast(dims, ctypes.c_void_p),
                          ctypes.c_size_t(array.ndim), ctypes.c_int(TYPES[type].number))
        return value, data

    def strings(self, array, dims):
        texts = [text.encode() for text in array.reshape(-1).tolist()]
        value = self.make(CREATE_STRINGS, self.allocator, ctypes.cast(dims, ctypes.c_void_p), ctypes.c_size_t(array.ndim), ctypes.c_int(TYPES["string"].number))
        self.call(FILL_STRINGS, value, ctypes.cast((ctypes.c_char_p * max(len(texts), 1))(*texts), ctypes.c_void_p), ctypes.c_size_t(len(texts)))
        return value

    def map(self, parts):
        """The map of a list of keys and one of values, [(array, type)] each."""
        (keys, _), (values, _) = held = [self.tensor(*part) for part in parts]
        pair = (ctypes.c_void_p * 2)(keys, values)
        return self.make(CREATE_VALUE, ctypes.cast(pair, ctypes.c_void_p), ctypes.c_size_t(2), ctypes.c_int(MAP)), held

    def texts(self, value, shape):
        """The elements of a tensor of strings."""
        count, length = int(np.prod(shape, dtype=np.int64)), self.number(STRINGS_LENGTH, value, ctypes.c_size_t)
        text, starts = ctypes.create_string_buffer(max(length, 1)), (ctypes.c_size_t * max(count, 1))()
        self.call(STRINGS, value, ctypes.cast(text, ctypes.c_void_p), ctypes.c_size_t(length), ctypes.cast(starts, ctypes.c_void_p), ctypes.c_size_t(count))
        ends = [*starts[1:count], length]
        return np.array([text.raw[start:end].decode() for start, end in zip(starts[:count], ends)], "U").reshape(shape)

    def number(self, slot, value, kind):
        got = kind()
        self.call(slot, value, ctypes.cast(ctypes.byref(got), ctypes.c_void_p))
        return got.value

    def array(self, value):
        """What `judging.difference` takes: the bits of bf16 as such."""
        about = self.make(TYPE_AND_SHAPE, value)
        element, rank = NUMBERS[self.number(ELEMENT_TYPE, about, ctypes.c_int)], self.number(RANK, about, ctypes.c_size_t)
        dims = (ctypes.c_int64 * max(rank, 1))()
        self.call(DIMENSIONS, about, ctypes.cast(dims, ctypes.c_void_p), ctypes.c_size_t(rank))
        shape, held = tuple(dims[:rank]), np.dtype("V2") if element.name == "bf16" else element.held
        if element.is_string:
            return self.texts(value, shape)
        size = int(np.prod(shape, dtype=np.int64)) * held.itemsize
        if size == 0:
            return np.zeros(shape, held)
        return np.frombuffer(ctypes.string_at(self.make(DATA, value), size), held).reshape(shape)

    def run(self, path, inputs, outputs):
        """Arrays of the named outputs for {name: (array, type)}; a map is a list of two such pairs."""
        options = self.make(CREATE_OPTIONS)
        self.call(OPTIMIZATION, options, ctypes.c_int(0))
        self.call(THREADS, options, ctypes.c_int(1))
        session = self.make(CREATE_SESSION, self.environment, str(path).encode(), options)
        tensors = [self.map(given) if isinstance(given, list) else self.tensor(*given) for given in inputs.values()]
        pointers = lambda values, kind=ctypes.c_void_p: ctypes.cast((kind * max(len(values), 1))(*values), ctypes.c_void_p)
        results = (ctypes.c_void_p * len(outputs))()
        self.call(RUN, session, ctypes.c_void_p(), pointers([name.encode() for name in inputs], ctypes.c_char_p), pointers([value for value, _ in tensors]),
                  ctypes.c_size_t(len(tensors)), pointers([name.encode() for name in outputs], ctypes.c_char_p), ctypes.c_size_t(len(outputs)),
                  ctypes.cast(results, ctypes.c_void_p))
        return [self.array(ctypes.c_void_p(result)) for result in results]
