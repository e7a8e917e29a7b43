"""Small networks of convolutions: residual blocks, inverted residuals, and a pyramid of features."""

import numpy as np

from .graph import Graph


def conv(g, x, inputs, outputs, kernel, stride=1, group=1, bias=True):
    """Padded so that only the stride changes the size; weights keep the variance under a ReLU."""
    pad = kernel // 2
    weights = [g.weight(outputs, inputs // group, kernel, kernel, scale=(2.0 / (inputs // group * kernel * kernel)) ** 0.5)]
    weights += [g.weight(outputs, scale=0.1)] if bias else []
    return g.add("Conv", x, *weights, kernel_shape=[kernel, kernel], pads=[pad] * 4, strides=[stride, stride], group=group)


def norm(g, x, channels):
    mean, variance = g.weight(channels, scale=0.1), g.constant((0.5 + g.random.random_sample(channels)).astype(g.dtype))
    return g.add("BatchNormalization", x, g.weight(channels, scale=0.1, offset=1.0), g.weight(channels, scale=0.1), mean, variance)


def residual_block(g, x, inputs, outputs, stride):
    y = g.add("Relu", norm(g, conv(g, x, inputs, outputs, 3, stride, bias=False), outputs))
    y = norm(g, conv(g, y, outputs, outputs, 3, bias=False), outputs)
    if stride != 1 or inputs != outputs:
        x = norm(g, conv(g, x, inputs, outputs, 1, stride, bias=False), outputs)
    return g.add("Relu", g.add("Add", y, x))


def residual_layers(g, x):
    """As in ResNet-18: convolutions of 3 x 3 with stride 1 that Winograd's transforms suit, and strides that they do not."""
    x = g.add("Relu", norm(g, conv(g, x, 3, 32, 7, 2, bias=False), 32))
    x = g.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for inputs, outputs, stride in ((32, 32, 1), (32, 64, 2), (64, 64, 1)):
        x = residual_block(g, x, inputs, outputs, stride)
    x = g.add("Flatten", g.add("GlobalAveragePool", x))
    return g.add("Gemm", x, g.weight(40, 64, scale=0.2), g.weight(40, scale=0.1), transB=1)


def residual_cnn():
    g = Graph(101)
    g.output("logits", residual_layers(g, g.input("image", np.float32, ["batch", 3, 96, 96])), shape=["batch", 40])
    return g.model("residual_cnn", 13)


def half_cnn():
    """The same layers with weights and activations in f16, between casts."""
    g = Graph(102, np.float16)
    x = g.add("Cast", g.input("image", np.float32, [1, 3, 96, 96]), to=10)
    g.output("logits", g.add("Cast", residual_layers(g, x), to=1), shape=[1, 40])
    return g.model("half_cnn", 13)


def hard_swish(g, x):
    gate = g.add("Clip", g.add("Add", x, g.scalar(3)), g.scalar(0), g.scalar(6))
    return g.add("Div", g.add("Mul", x, gate), g.scalar(6))


def squeeze_and_excite(g, x, channels):
    y = g.add("Relu", conv(g, g.add("GlobalAveragePool", x), channels, channels // 4, 1))
    return g.add("Mul", x, g.add("HardSigmoid", conv(g, y, channels // 4, channels, 1), alpha=1 / 6, beta=0.5))


def inverted_residual(g, x, inputs, outputs, kernel, stride, modern):
    """MobileNetV2's block, or with `modern` MobileNetV3's."""
    wide = 4 * inputs

    def active(x):
        return hard_swish(g, x) if modern else g.add("Clip", x, g.scalar(0), g.scalar(6))

    y = active(conv(g, x, inputs, wide, 1))
    y = active(conv(g, y, wide, wide, kernel, stride, group=wide))
    y = conv(g, squeeze_and_excite(g, y, wide) if modern else y, wide, outputs, 1)
    return g.add("Add", x, y) if stride == 1 and inputs == outputs else y


def inverted_residuals():
    g = Graph(103)
    x = g.input("image", np.float32, ["batch", 3, 65, 57])
    x = hard_swish(g, conv(g, x, 3, 16, 3, 2))
    for inputs, outputs, kernel, stride, modern in ((16, 16, 3, 1, False), (16, 24, 3, 2, False), (24, 24, 5, 1, True), (24, 40, 5, 2, True)):
        x = inverted_residual(g, x, inputs, outputs, kernel, stride, modern)
    x = g.add("ReduceMean", hard_swish(g, conv(g, x, 40, 96, 1)), axes=[2, 3], keepdims=0)
    g.output("logits", g.add("Gemm", x, g.weight(50, 96, scale=0.2), g.weight(50), transB=1), shape=["batch", 50])
    return g.model("inverted_residuals", 13)


def feature_pyramid():
    """A detector's or segmenter's shape: concatenated skips, nearest and linear resizing, a transposed convolution, heads of different sizes."""
    g = Graph(104)
    x = g.input("image", np.float32, [1, 3, "height", "width"])
    levels = []
    for inputs, outputs in ((3, 16), (16, 24), (24, 32)):
        x = g.add("LeakyRelu", conv(g, x, inputs, outputs, 3, 2), alpha=0.1)
        y = conv(g, x, outputs, outputs, 3)
        x = g.add("Add", x, g.add("Mul", y, g.add("Sigmoid", y)))
        levels.append(x)
    scales = g.constant(np.array([1, 1, 2, 2], np.float32))
    x = g.add("Concat", g.add("Resize", levels[2], "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"), levels[1], axis=1)
    x = g.add("Relu", conv(g, x, 56, 24, 1))
    up = g.add("ConvTranspose", x, g.weight(24, 16, 2, 2, scale=0.2), g.weight(16), kernel_shape=[2, 2], strides=[2, 2])
    x = g.add("Relu", conv(g, g.add("Concat", levels[0], up, axis=1), 32, 16, 3))
    mask = g.add("Sigmoid", g.add("Resize", conv(g, x, 16, 1, 1), "", scales, mode="linear", coordinate_transformation_mode="half_pixel"))
    heads = [g.add("Reshape", conv(g, level, channels, 6, 1), g.integers(1, 6, -1)) for level, channels in zip(levels[1:], (24, 32))]
    g.output("mask", mask, shape=[1, 1, None, None])
    g.output("boxes", g.add("Transpose", g.add("Concat", *heads, axis=2), perm=[0, 2, 1]), shape=[1, None, 6])
    return g.model("feature_pyramid", 13)


MODELS = [residual_cnn, half_cnn, inverted_residuals, feature_pyramid]
