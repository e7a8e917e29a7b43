#!/usr/bin/env python3
"""Products between QuantizeLinear and DequantizeLinear in the forms that exporters write, against the exact integer sums: quantized_forms.py FOLDER TARGET...

Scales are powers of two where a form is computed in real numbers, so that every rounding is a tie or exact; else any numbers, and the result is what
one rounding of (sum + bias) * (scales of both sides / scale of the result) gives.
"""
import pathlib
import re
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

random = np.random.default_rng(11)
LIMITS = {"u1": (0, 255), "i1": (-128, 127)}
f32 = np.float32


def convolve(padded, taps, stride, dilation, group):
    """Of integers, in any number of dimensions."""
    spatial, inside = padded.ndim - 2, padded.shape[1] // group
    reach = [(size - 1) * dilation + 1 for size in taps.shape[2:]]
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, tuple(range(2, 2 + spatial)))
    windows = windows[(slice(None), slice(None), *[slice(None, None, stride)] * spatial, *[slice(None, None, dilation)] * spatial)]
    places, window = "xyz"[:spatial], "ijk"[:spatial]
    return np.concatenate([np.einsum(f"nc{places}{window},fc{window}->nf{places}", windows[:, g * inside:(g + 1) * inside], part)
                           for g, part in enumerate(np.split(taps, group))], 1)


class Forms:
    def __init__(self):
        self.model, self.recognized, self.depthwise = Model(), {"nn.quantized_conv": 0, "nn.quantized_matmul": 0}, 0

    def node(self, op, inputs, **attributes):
        name = f"n{len(self.model.nodes)}"
        self.model.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def dequantize(self, values, kind, scale, zero, **attributes):
        weights = [self.model.weight(np.asarray(scale)), self.model.weight(np.asarray(zero), kind)]
        return self.node("DequantizeLinear", [values, *weights], **attributes)

    def weights(self, shape, axis, columns, kind, zero, exact):
        """(dequantised, integers without zero points, a scale for each column)"""
        values = random.integers(-100, 100, shape) + zero
        size = columns if axis is not None else ()
        scales = f32(2.0) ** random.integers(-9, -6, size) if exact else random.uniform(0.002, 0.006, size)
        name = self.model.weight(values, kind)
        attributes = {} if axis is None else {"axis": axis}
        zeros = np.full(size, zero)
        return self.dequantize(name, kind, scales, zeros, **attributes), values - zero, np.broadcast_to(np.asarray(scales, "f4"), columns)

    def left(self, shape, kind, exact):
        values = random.integers(*LIMITS[kind], shape, endpoint=True)
        zero = 128 if kind == "u1" else -3
        scale = f32(2.0 ** -6 if exact else 0.0137)
        return self.dequantize(self.model.input(values, kind), kind, scale, zero), values - zero, scale

    def bias(self, form, scales, columns):
        """(operand or none, in units of the scales)"""
        if form is None:
            return [], np.zeros(columns)
        units = random.integers(-20000, 20000, columns) + (0.5 if form == "real" else 0.0)
        if form == "real":
            return [self.model.weight((units * scales).astype("f4"))], units
        zeros = self.model.weight(np.zeros(columns), "i4")
        return [self.node("DequantizeLinear", [self.model.weight(units, "i4"), self.model.weight(scales), zeros], axis=0)], units

    def finish(self, label, product, sums, units, factor, kind, relu, exact):
        """Quantises the product; `factor` has the scales of both sides, in the shape of the sums."""
        total = sums + units
        scale = f32(2.0 ** np.ceil(np.log2(np.abs(total * factor).max() / 110))) if exact else f32(np.abs(total * factor).max() / 110)
        zero = 0 if relu and kind == "u1" else 119 if kind == "u1" else 5
        real = total.astype("f4") * (factor / scale)
        product = self.node("Relu", [product]) if relu else product
        expected = np.clip(np.rint(np.maximum(real, 0) if relu else real) + zero, *LIMITS[kind])
        self.model.case(label, "QuantizeLinear", [product, self.model.weight(scale), self.model.weight(np.array(zero), kind)], expected, kind)

    def conv(self, channels, filters, kernel, size, kind="u1", weight="i1", zero=0, axis=0, stride=1, dilation=1, group=1, bias="whole", relu=True,
             pad=None, exact=False, spatial=2):
        alone = group == channels and group != 1
        exact |= bias == "real"
        x, values, scale = self.left((1, channels, *[size] * (spatial - 1), size + 1), kind, exact)
        w, taps, scales = self.weights((filters, channels // group, *[kernel] * spatial), axis, filters, weight, zero, exact)
        pad = kernel // 2 * dilation if pad is None else pad
        steps = (scale * scales).astype("f4")
        operand, units = self.bias(bias, steps, filters)
        options = {"strides": [stride] * spatial, "dilations": [dilation] * spatial, "pads": [pad] * 2 * spatial, "group": group}
        product = self.node("Conv", [x, w, *operand], **options)
        sums = convolve(np.pad(values, ((0, 0), (0, 0), *[(pad, pad)] * spatial)), taps, stride, dilation, group)
        wide = (1, filters, *[1] * spatial)
        self.recognized["nn.quantized_conv"] += 1
        self.depthwise += alone
        self.finish(f"conv {channels} {filters} {kernel}", product, sums, units.reshape(wide), steps.reshape(wide), kind, relu, exact)

    def transposed(self, channels, filters, kernel, size, kind="u1", stride=2, group=1, axis=1, weight="i1", zero=0, spatial=2):
        """ConvTranspose: its weight has the columns along the second dimension."""
        x, values, scale = self.left((1, channels, *[size] * spatial), kind, False)
        w, taps, scales = self.weights((channels, filters // group, *[kernel] * spatial), axis if group == 1 else None, filters, weight, zero, False)
        pad = (kernel - 1) // 2 if kernel > stride else 0
        steps = (scale * scales).astype("f4")
        operand, units = self.bias("whole", steps, filters)
        product = self.node("ConvTranspose", [x, w, *operand], strides=[stride] * spatial, pads=[pad] * 2 * spatial, group=group)
        spread = np.zeros((1, channels, *[(size - 1) * stride + 1] * spatial), values.dtype)
        spread[(slice(None), slice(None), *[slice(None, None, stride)] * spatial)] = values
        around = kernel - 1 - pad
        turned = np.concatenate([np.swapaxes(part, 0, 1) for part in np.split(np.flip(taps, tuple(range(2, 2 + spatial))), group)])
        sums = convolve(np.pad(spread, ((0, 0), (0, 0), *[(around, around)] * spatial)), turned, 1, 1, group)
        wide = (1, filters, *[1] * spatial)
        # One convolution for each phase that has an element of the kernel more than others, or that is depthwise, and one for all others.
        one_by_one = stride if group == channels and group != 1 else kernel % stride
        convolutions = (one_by_one + (one_by_one < stride)) ** spatial
        self.recognized["nn.quantized_conv"] += convolutions
        self.depthwise += convolutions * (group == channels and group != 1)
        # Where kernels do not overlap, the bias follows the movement of results.
        self.finish(f"transposed {channels} {filters} {kernel}", product, sums, units.reshape(wide), steps.reshape(wide), kind, False, False)

    def product(self, rows, depth, columns, kind="u1", weight="i1", zero=0, per_column=True, transposed=False, flat=False, bias="whole", relu=False):
        exact = bias == "real"
        x, values, scale = self.left((rows, depth // 4, 2, 2) if flat else (rows, depth), kind, exact)
        if flat:
            x, values = self.node("Flatten", [x]), values.reshape(rows, depth)
        axis = (0 if transposed else 1) if per_column else None
        w, matrix, scales = self.weights((columns, depth) if transposed else (depth, columns), axis, columns, weight, zero, exact)
        steps = (scale * scales).astype("f4")
        operand, units = self.bias(bias, steps, columns)
        if transposed or operand:
            result = self.node("Gemm", [x, w, *operand], transB=int(transposed))
        else:
            result = self.node("MatMul", [x, w])
        self.recognized["nn.quantized_matmul"] += 1
        self.finish(f"product {rows} {depth} {columns}", result, values @ (matrix.T if transposed else matrix), units, steps, kind, relu, exact)


def build():
    forms = Forms()
    for kind in ("u1", "i1"):
        for options in ({}, {"bias": None}, {"bias": "real"}, {"axis": None}, {"stride": 2}, {"dilation": 2}, {"relu": False}, {"weight": "u1", "zero": 128},
                        {"zero": 3}):
            forms.conv(8, 20, 3, 9, kind, **options)
        forms.conv(3, 16, 7, 12, kind, stride=2)
        forms.conv(6, 40, 1, 5, kind)
        forms.conv(16, 3, 1, 7, kind)
        forms.conv(16, 16, 3, 6, kind, group=2)
        forms.conv(16, 16, 3, 6, kind, group=16)
        forms.conv(6, 12, 3, 6, kind, group=2)
        for channels, kernel, options in ((67, 3, {}), (128, 5, {"stride": 2}), (31, 1, {}), (40, 7, {}), (24, 3, {"dilation": 2}), (104, 3, {"stride": 3}),
                                          (9, 4, {"pad": 1}), (64, 3, {"bias": None, "axis": None}), (32, 3, {"bias": "real"})):
            forms.conv(channels, channels, kernel, 11, kind, group=channels, **options)
        forms.conv(12, 100, 1, 1, kind)
        # Groups of few channels, several results for each channel, and other numbers of dimensions.
        for channels, filters, group, kernel, options in ((6, 9, 3, 3, {}), (10, 10, 2, 1, {}), (14, 28, 7, 3, {"dilation": 2}), (8, 16, 8, 3, {}), (20, 60, 20, 5, {"stride": 2}),
                                                          (33, 66, 33, 3, {"dilation": 2, "axis": None})):
            forms.conv(channels, filters, kernel, 8, kind, group=group, **options)
        for channels, filters, group, kernel, options in ((67, 67, 67, 5, {}), (32, 32, 32, 3, {"stride": 2}), (16, 48, 16, 9, {"dilation": 2}), (6, 10, 1, 3, {}),
                                                          (12, 8, 4, 3, {"bias": None})):
            forms.conv(channels, filters, kernel, 21, kind, group=group, spatial=1, **options)
        for channels, filters, group, kernel, options in ((20, 20, 20, 3, {}), (18, 18, 18, 3, {"stride": 2, "dilation": 2}), (5, 10, 5, 2, {}), (3, 8, 1, 3, {}), (6, 6, 2, 3, {})):
            forms.conv(channels, filters, kernel, 6, kind, group=group, spatial=3, **options)
        for channels, filters, kernel, options in ((8, 12, 3, {}), (5, 7, 4, {}), (6, 8, 3, {"group": 2}), (16, 16, 3, {"group": 16}), (8, 6, 5, {"stride": 3, "spatial": 1}),
                                                   (4, 4, 3, {"spatial": 3}), (9, 5, 3, {"weight": "u1", "zero": 128, "stride": 1})):
            forms.transposed(channels, filters, kernel, 5, kind, **options)
        for options in ({}, {"transposed": True}, {"flat": True, "transposed": True}, {"per_column": False}, {"bias": None}, {"bias": "real"}, {"relu": True}, {"weight": "u1", "zero": 127}):
            forms.product(9, 36, 50, kind, **options)
        for rows, depth, columns in ((1, 200, 33), (1, 9, 1), (3, 10, 100), (40, 64, 7), (2, 1024, 16)):
            forms.product(rows, depth, columns, kind)
    return forms


def main():
    folder, faults = pathlib.Path(sys.argv[1]), []
    forms = build()
    model = forms.model
    model.save(folder / "forms.onnx", 13)
    text = kiln(folder / "forms.onnx", "--stop-after=graph", "-o", "-")
    for name, count in forms.recognized.items():
        if (found := len(re.findall(rf"= {name} ", text))) != count:
            faults.append(f"{found} of {count} {name}")
    text = kiln(folder / "forms.onnx", "--target", sys.argv[2], "--stop-after=target", "-o", "-")
    convolutions, products = forms.recognized.values()
    kernels = {"conv_bytes": convolutions - forms.depthwise, "depthwise_bytes": forms.depthwise, "gemm_bytes": products}
    for name, count in kernels.items():
        if (found := len(re.findall(rf'kernel = "{name}"', text))) != count:
            faults.append(f"{found} of {count} {name}")
    inputs = model.save_inputs(folder)
    for target in sys.argv[2:]:
        kiln("run", folder / "forms.onnx", "--target", target, "--output-dir", folder / target, *inputs)
        faults += model.compare(folder / target, {}, f", {target}")
    finish(faults, len(model.expected) * len(sys.argv[2:]))


if __name__ == "__main__":
    main()
