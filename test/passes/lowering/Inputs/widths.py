#!/usr/bin/env python3
"""Runs kernels on elements of 8, 16 and 64 bits with `kiln run` and compares with numpy: widths.py FOLDER TARGET...

What only converts, moves, compares or rounds once has the same bits as numpy's result; sums of halves are taken in f32 or wider.
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

HALVES = {"f16": 2.0**-11, "bf16": 2.0**-8}
INTEGERS = {"i8": "i1", "ui8": "u1", "i16": "i2", "ui16": "u2", "i64": "i8", "ui64": "u8"}
HELD = {"f32": "f4", "f64": "f8", "i32": "i4", "i1": "?", **INTEGERS}


def to_bf16(values):
    """The words of floats, rounded to the nearest, halves to even."""
    bits = np.ascontiguousarray(values, "f4").view("u4").astype("u8")
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), bits >> 16 | 0x40, rounded).astype("u2")


def store(values, kind):
    """Numbers as they lie in memory: halves as words."""
    if kind == "f16":
        with np.errstate(over="ignore"):
            return np.asarray(values, "f4").astype("f2").view("u2")
    return to_bf16(values) if kind == "bf16" else np.asarray(values, HELD[kind])


def read(words, kind):
    if kind == "f16":
        return words.view("f2").astype("f4")
    return (words.astype("u4") << 16).view("f4") if kind == "bf16" else words


class Module:
    """One function with an output for each case. A case's check gets the words of the output."""

    def __init__(self):
        self.random = np.random.default_rng(5)
        self.inputs, self.lines, self.outputs = {}, [], []

    def numbers(self, kind, *shape):
        if kind in INTEGERS:
            limits = np.iinfo(INTEGERS[kind])
            return self.random.integers(limits.min, limits.max, shape, INTEGERS[kind], endpoint=True)
        return read(store(self.random.standard_normal(shape), kind), kind)

    def input(self, words, kind):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = (words, kind)
        return f"%{name}"

    def constant(self, words, kind):
        return self.op(f'nn.constant dense<"0x{words.tobytes().hex().upper()}"> : {tensor(words.shape, kind)}')

    def op(self, text):
        self.lines.append(f"    %v{len(self.lines)} = {text}")
        return f"%v{len(self.lines) - 1}"

    def expect(self, value, shape, kind, what, check):
        self.outputs.append((value, tensor(shape, kind), kind, what, check))

    def exactly(self, value, words, kind, what):
        self.expect(value, words.shape, kind, what, lambda got: got.tobytes() == words.tobytes())

    def nearly(self, value, exact, kind, what, bound):
        """`bound` is the error beside that of rounding the result."""
        allowed = (2 * HALVES[kind]) * np.abs(exact) + bound
        self.expect(value, exact.shape, kind, what, lambda got: bool(np.all(np.abs(read(got, kind) - exact) <= allowed)))

    def text(self):
        arguments = ", ".join(f'%{name}: {tensor(words.shape, kind)} {{nn.name = "{name}"}}' for name, (words, kind) in self.inputs.items())
        results = ", ".join(f'{type_} {{nn.name = "y{i}"}}' for i, (_, type_, *_) in enumerate(self.outputs))
        names, types = ", ".join(value for value, *_ in self.outputs), ", ".join(type_ for _, type_, *_ in self.outputs)
        body = "\n".join(self.lines)
        return f'module attributes {{nn.model = "widths"}} {{\n  func.func @main({arguments}) -> ({results}) {{\n{body}\n    return {names} : {types}\n  }}\n}}\n'


def tensor(shape, kind):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{kind}>"


def cast(module, value, shape, source, target):
    return module.op(f"nn.cast {value} : {tensor(shape, source)} -> {tensor(shape, target)}")


def add_casts(module):
    every = np.arange(65536, dtype="u2")[:-3]  # no whole number of vectors
    for kind in HALVES:
        wide = read(every, kind).view("u4")
        if kind == "f16":
            wide = np.where(np.isnan(read(every, kind)), wide | 0x400000, wide)
        module.exactly(cast(module, module.input(every, kind), every.shape, kind, "f32"), wide.view("f4"), "f32", f"{kind} to f32")
    # Each half, what lies half-way to the next one, and both neighbours of that.
    for kind, step in (("f16", 13), ("bf16", 16)):
        grid = read(every, kind).view("u4").astype("u8")
        bits = np.concatenate([grid, *(grid + ((1 << (step - 1)) + d) for d in (-1, 0, 1))]).astype("u4")
        floats = bits[~np.isnan(bits.view("f4"))].view("f4")
        module.exactly(cast(module, module.input(floats, "f32"), floats.shape, "f32", kind), store(floats, kind), kind, f"f32 to {kind}")
        strange = np.array([0x7F800001, 0xFFC12345, 0x7FFFFFFF, 0x7FC00000, 1, 0x80000001, 0x7FFFFF] * 9, "u4").view("f4")
        module.expect(cast(module, module.input(strange, "f32"), strange.shape, "f32", kind), strange.shape, kind, f"NaN and subnormals to {kind}",
                      lambda got, kind=kind, strange=strange: np.array_equal(np.isnan(read(got, kind)), np.isnan(strange)) and
                      np.array_equal(np.signbit(read(got, kind)), np.signbit(strange)))
    with np.errstate(invalid="ignore"):
        numbers = np.round(module.random.uniform(-120, 120, 1001) * 8).astype("f4") / 8
        for kind in ("i8", "i16", "i64"):
            module.exactly(cast(module, module.input(numbers, "f32"), numbers.shape, "f32", kind), numbers.astype(HELD[kind]), kind, f"f32 to {kind}")
            for half in HALVES:
                words = store(numbers, half)
                module.exactly(cast(module, module.input(words, half), words.shape, half, kind), read(words, half).astype(HELD[kind]), kind, f"{half} to {kind}")
    for source in INTEGERS:
        x = module.numbers(source, 203)
        for target in ("i8", "ui16", "i32", "i64", "f32", "f64"):
            if target != source:
                module.exactly(cast(module, module.input(x, source), x.shape, source, target), x.astype(HELD[target]), target, f"{source} to {target}")


def add_elementwise(module):
    functions = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum}
    for kind in [*HALVES, *INTEGERS, "f64"]:
        for count in (7, 1031):
            x, y = module.numbers(kind, count), module.numbers(kind, count)
            names = [module.input(store(array, kind), kind) for array in (x, y)]
            for name, function in functions.items():
                exact = function(x, y) if kind in INTEGERS or kind == "f64" else function(x.astype("f4"), y.astype("f4"))
                module.exactly(module.op(f"nn.{name} {', '.join(names)} : {tensor(x.shape, kind)}"), store(exact, kind), kind, f"{name} of {count} {kind}")
            less = module.op(f"nn.less {', '.join(names)} : {tensor(x.shape, kind)} -> {tensor(x.shape, 'i1')}")
            module.exactly(less, x < y, "i1", f"less of {count} {kind}")
            picked = module.op(f"nn.select {less}, {names[1]}, {names[0]} : {tensor(x.shape, 'i1')}, {tensor(x.shape, kind)}")
            module.exactly(picked, store(np.where(x < y, y, x), kind), kind, f"select of {count} {kind}")
        # A value of another width in one kernel with f32.
        x, y = module.numbers(kind, 77), module.numbers("f32", 77)
        total = module.op(f"nn.add {cast(module, module.input(store(x, kind), kind), x.shape, kind, 'f32')}, {module.input(y, 'f32')} : {tensor(y.shape, 'f32')}")
        module.exactly(total, x.astype("f4") + y, "f32", f"{kind} and f32")


def add_movement(module):
    for kind in [*HALVES, *INTEGERS, "i1", "f64"]:
        bits = 8 if kind == "i1" else 16 if kind in HALVES else 8 * np.dtype(HELD[kind]).itemsize

        def draw(*shape):
            words = module.random.integers(0, 1 << min(bits, 63), shape, "u8")
            return words % 2 == 1 if kind == "i1" else words.astype("f8") if kind == "f64" else words.astype(f"u{bits // 8}").view("u2" if kind in HALVES else HELD[kind])

        for shape, order in (((33, 70), (1, 0)), ((2, 45), (1, 0)), ((2, 19, 7, 31), (0, 2, 3, 1))):
            x = draw(*shape)
            turned = np.ascontiguousarray(np.transpose(x, order))
            module.exactly(module.op(f"nn.transpose {module.input(x, kind)} {list(order)} : {tensor(shape, kind)} -> {tensor(turned.shape, kind)}"), turned, kind,
                           f"transpose of {shape} {kind}")
        a, b = draw(5, 37), draw(5, 9)
        joined = module.op(f"nn.concat {module.input(a, kind)}, {module.input(b, kind)} axis 1 : ({tensor(a.shape, kind)}, {tensor(b.shape, kind)}) -> {tensor((5, 46), kind)}")
        module.exactly(joined, np.concatenate([a, b], 1), kind, f"concat of {kind}")


def add_reductions(module):
    functions = {"sum": np.sum, "max": np.max, "min": np.min}
    for kind in [*HALVES, *INTEGERS]:
        for shape, axis in (((3, 133), 1), ((133, 21), 0)):
            x = module.numbers(kind, *shape)
            value, kept = module.input(store(x, kind), kind), tuple(1 if i == axis else size for i, size in enumerate(shape))
            for name, function in functions.items():
                reduced, what = module.op(f"nn.reduce {name} {value} [{axis}] : {tensor(shape, kind)} -> {tensor(kept, kind)}"), f"{name} of {shape} {kind}"
                if kind in HALVES and name == "sum":
                    module.nearly(reduced, x.astype("f8").sum(axis, keepdims=True), kind, what, 1e-5 * np.abs(x).sum())
                    continue
                exact = function(x, axis=axis, keepdims=True, **({"dtype": INTEGERS[kind]} if name == "sum" else {}))
                module.exactly(reduced, store(exact, kind), kind, what)


def add_rows(module):
    for kind, unit in HALVES.items():
        for shape, axis in (((5, 33), 1), ((3, 128), 1), ((2, 1000), 1), ((1, 5003), 1), ((2, 19, 37), 1)):
            x = module.numbers(kind, *shape)
            doubled = module.op(f"nn.add {(value := module.input(store(x, kind), kind))}, {value} : {tensor(shape, kind)}")
            for source, numbers in ((value, x), (doubled, 2 * x)):
                e = np.exp((numbers - numbers.max(axis, keepdims=True)).astype("f8"))
                # A row that is too long for the stack holds halves between its passes.
                module.nearly(module.op(f"nn.softmax {source} axis {axis} : {tensor(shape, kind)}"), e / e.sum(axis, keepdims=True), kind, f"softmax of {shape} {kind}",
                              2 * unit / e.sum(axis).min())
            if axis + 1 < len(shape):
                continue
            scale, bias = module.numbers(kind, shape[-1]), module.numbers(kind, shape[-1])
            factors = ", ".join(module.constant(store(array, kind), kind) for array in (scale, bias))
            types = ", ".join(tensor((size,), kind) for size in (shape[-1],) * 2)
            wide = x.astype("f8")
            exact = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5) * scale + bias
            module.nearly(module.op(f"nn.layer_norm {value}, {factors} axis 1 epsilon 1.0e-5 : {tensor(shape, kind)}, {types}"), exact, kind,
                          f"layer_norm of {shape} {kind}", 4e-5)


def finish(module, value, exact, kind, what, size):
    """A bias and a relu behind the sums; `size` is that of the largest sum of magnitudes."""
    bias = module.numbers(kind, exact.shape[-1])
    spread = module.op(f"nn.broadcast_to {module.constant(store(bias, kind), kind)} : {tensor(bias.shape, kind)} -> {tensor(exact.shape, kind)}")
    total = module.op(f"nn.add {value}, {spread} : {tensor(exact.shape, kind)}")
    module.nearly(module.op(f"nn.relu {total} : {tensor(exact.shape, kind)}"), np.maximum(exact + bias, 0), kind, what, 4e-7 * size + HALVES[kind] * 1e-3)


def add_products(module):
    for kind in HALVES:
        for rows, columns, depth, constant in ((1, 96, 70, True), (5, 33, 47, True), (70, 64, 129, True), (33, 1, 65, True), (40, 50, 33, False), (3, 40, 64, False)):
            a, b = module.numbers(kind, rows, depth), module.numbers(kind, depth, columns)
            right = (module.constant if constant else module.input)(store(b, kind), kind)
            product = module.op(f"nn.matmul {module.input(store(a, kind), kind)}, {right} : {tensor(a.shape, kind)}, {tensor(b.shape, kind)} -> {tensor((rows, columns), kind)}")
            finish(module, product, a.astype("f8") @ b.astype("f8"), kind, f"matmul {rows}x{columns}x{depth} {kind}", depth * 9)


def convolve(x, weight, stride, pad, groups):
    x = np.pad(x.astype("f8"), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    out, kernel = weight.shape[0], weight.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (2, 3))[:, :, ::stride, ::stride]
    parts = np.split(windows, groups, 1), np.split(weight.astype("f8"), groups, 0)
    return np.concatenate([np.einsum("nchwij,ocij->nohw", part, filters) for part, filters in zip(*parts)], 1).reshape(x.shape[0], out, *windows.shape[2:4])


def add_convolutions(module):
    # Channels, size, filters, kernel, stride, pad, groups: pointwise, strided, grouped, depthwise, for Winograd.
    for kind in HALVES:
        for channels, size, filters, kernel, stride, pad, groups in ((24, 9, 40, 1, 1, 0, 1), (5, 11, 33, 3, 2, 1, 1), (12, 7, 20, 3, 1, 1, 2), (37, 11, 37, 3, 1, 1, 37),
                                                                     (19, 9, 19, 3, 2, 1, 19), (64, 26, 64, 3, 1, 1, 1)):
            x, weight = module.numbers(kind, 1, channels, size, size), module.numbers(kind, filters, channels // groups, kernel, kernel)
            exact = convolve(x, weight, stride, pad, groups)
            result = module.op(f"nn.conv {module.input(store(x, kind), kind)}, {module.constant(store(weight, kind), kind)} strides [{stride}, {stride}] dilations [1, 1] "
                               f"pads [{pad}, {pad}, {pad}, {pad}] groups {groups} layout channels_first : {tensor(x.shape, kind)}, {tensor(weight.shape, kind)} -> {tensor(exact.shape, kind)}")
            last = module.op(f"nn.transpose {result} [0, 2, 3, 1] : {tensor(exact.shape, kind)} -> {tensor(np.moveaxis(exact, 1, 3).shape, kind)}")
            finish(module, last, np.moveaxis(exact, 1, 3), kind, f"conv {channels, size, filters, kernel, stride, groups} {kind}", channels // groups * kernel**2 * 40)
        x = module.numbers(kind, 1, 21, 9, 9)
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::2, ::2]
        exact = np.ascontiguousarray(windows.max((4, 5)))
        pooled = module.op(f"nn.max_pool {module.input(store(x, kind), kind)} kernel [3, 3] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first : "
                           f"{tensor(x.shape, kind)} -> {tensor(exact.shape, kind)}")
        module.exactly(pooled, store(exact, kind), kind, f"max_pool {kind}")


PARTS = {"casts": add_casts, "elementwise": add_elementwise, "movement": add_movement, "reductions": add_reductions, "rows": add_rows, "products": add_products,
         "convolutions": add_convolutions}


def run(module, source, target, folder):
    arguments = []
    for name, (words, kind) in module.inputs.items():
        np.save(folder / f"{name}.npy", words.view("f2") if kind == "f16" else words.view("V2") if kind == "bf16" else words)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    kiln_calls.run("run", source, "--target", target, "--output-dir", folder, *arguments)
    wrong = []
    for i, (_, _, kind, what, check) in enumerate(module.outputs):
        got = np.load(folder / f"y{i}.npy")
        if not check(got.view("u2") if kind in HALVES else got):
            wrong.append(what)
    return wrong


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    for part, add in PARTS.items():
        module = Module()
        add(module)
        source = folder / f"{part}.mlir"
        source.write_text(module.text())
        for target in targets:
            if wrong := run(module, source, target, folder):
                sys.exit(f"{part} on {target}: {len(wrong)} of {len(module.outputs)} differ: {', '.join(wrong)}")
        print(f"{part}: {len(module.outputs)} cases right on {len(targets)} targets")


if __name__ == "__main__":
    main()
