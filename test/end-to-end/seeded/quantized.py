"""Small quantised models, as quantisers write them: one statically, one when it runs.

A value that lies between two integers may be rounded to either by a compiler that sums in another order. `record` measures how close any value comes,
and refuses a reference that rounding could change; the seeds are chosen so that none does.
"""

import numpy as np

from .graph import Graph
from .transformers import encode


def rounded(weights, axes):
    """Signed bytes and their scales, one for each slice along the axes that are left out."""
    scales = np.max(np.abs(weights), axis=axes) / 127
    shape = [1 if axis in axes else size for axis, size in enumerate(weights.shape)]
    return np.round(weights / scales.reshape(shape)).astype(np.int8), scales.astype(np.float32)


class StaticCnn:
    """Activations are unsigned bytes with a zero point, weights signed bytes with a scale for each channel, biases 32 bits."""

    def __init__(self, seed):
        self.g, self.scales = Graph(seed), {}

    def quantize(self, x, scale, zero):
        """A pair of QuantizeLinear and DequantizeLinear."""
        g = self.g
        parameters = g.constant(np.float32(scale)), g.constant(np.uint8(zero))
        y = g.add("DequantizeLinear", g.add("QuantizeLinear", x, *parameters), *parameters)
        self.scales[y] = np.float32(scale)
        return y

    def weights(self, x, *shape):
        """Dequantised weights and bias of a layer that reads x."""
        g = self.g
        axes = tuple(range(1, len(shape)))
        values, scales = rounded(g.draw(*shape, scale=(2.0 / np.prod(shape[1:])) ** 0.5), axes)
        weight = g.add("DequantizeLinear", g.constant(values), g.constant(scales), g.constant(np.zeros(shape[0], np.int8)), axis=0)
        steps = (self.scales[x] * scales).astype(np.float32)
        bias = np.round(g.draw(shape[0], scale=0.2) / steps).astype(np.int32)
        return weight, g.add("DequantizeLinear", g.constant(bias), g.constant(steps), g.constant(np.zeros(shape[0], np.int32)), axis=0)

    def conv(self, x, inputs, outputs, kernel, stride=1, group=1):
        weights = self.weights(x, outputs, inputs // group, kernel, kernel)
        return self.g.add("Conv", x, *weights, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, strides=[stride] * 2, group=group)

    def block(self, x, inputs, outputs, stride):
        g = self.g
        y = self.quantize(g.add("Relu", self.conv(x, inputs, outputs, 3, stride)), 0.0231, 0)
        y = self.quantize(self.conv(y, outputs, outputs, 3, group=outputs), 0.0397, 121)
        if stride != 1:
            x = self.quantize(self.conv(x, inputs, outputs, 1, stride), 0.0353, 127)
        return self.quantize(g.add("Relu", g.add("Add", x, y)), 0.0263, 0)

    def model(self):
        g = self.g
        x = self.quantize(g.input("image", np.float32, [1, 3, 24, 24]), 0.0314, 128)
        x = self.quantize(g.add("Relu", self.conv(x, 3, 16, 3, 2)), 0.0241, 0)
        x = g.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        self.scales[x] = np.float32(0.0241)
        x = self.block(x, 16, 16, 1)
        x = self.block(x, 16, 32, 2)
        x = self.quantize(g.add("Flatten", g.add("GlobalAveragePool", x)), 0.0119, 0)
        weight, bias = self.weights(x, 20, 32)
        g.output("logits", self.quantize(g.add("Gemm", x, weight, bias, transB=1), 0.0271, 119), shape=[1, 20])
        return g.model("quantized_cnn", 13)


def quantized_cnn():
    return StaticCnn(403).model()


def dynamic_linear(g, x, inputs, outputs):
    """A product whose left side is quantised by what it holds."""
    values, scale = rounded(g.draw(inputs, outputs, scale=inputs ** -0.5), (0, 1))
    bytes_, step, zero = g.add("DynamicQuantizeLinear", x, outputs=3)
    sums = g.add("Cast", g.add("MatMulInteger", bytes_, g.constant(values), zero, g.constant(np.int8(0))), to=1)
    return g.add("Add", g.add("Mul", sums, g.add("Mul", step, g.constant(scale))), g.weight(outputs, scale=0.1))


def quantized_encoder():
    g = Graph(568)
    hidden, pooled = encode(g, 2, 32, 2, 64, dynamic_linear)
    g.output("hidden", hidden, shape=["batch", "seq", 32])
    g.output("pooled", pooled, shape=["batch", 32])
    return g.model("quantized_encoder", 13)


MODELS = [quantized_cnn, quantized_encoder]
