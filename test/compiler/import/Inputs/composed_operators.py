#!/usr/bin/env python3
"""Runs operators that import writes with others and compares them with numpy: composed_operators.py FOLDER. All cases are outputs of one model."""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, finish, kiln

BOUNDS = {"f2": (0, 0), "f4": (1e-4, 2e-5), "f8": (1e-11, 1e-12)}
random = np.random.default_rng(3)


def normal(*shape):
    return random.standard_normal(shape).astype("f4").astype("f8")


def integers(model, *values):
    return model.weight(np.array(values), "i8")


def add_signal_cases(model):
    """Windows, and transforms of even and odd lengths, cut and padded."""
    n = np.arange(10)
    for op, exact in (("HannWindow", np.sin(np.pi * n / 10) ** 2), ("HammingWindow", 25 / 46 - 21 / 46 * np.cos(2 * np.pi * n / 10)),
                      ("BlackmanWindow", np.blackman(11)[:10])):
        model.case(op, op, [model.weight(np.array(10), "i8")], exact)
    model.case("HannWindow symmetric", "HannWindow", [model.weight(np.array(9), "i8")], np.hanning(9), periodic=0)
    axis = model.weight(np.array(1), "i8")
    parts = lambda z: np.stack([z.real, z.imag], -1)
    for length, size in ((8, 8), (7, 7), (9, 6), (5, 8)):
        real, both = normal(3, length, 4, 1), normal(3, length, 4, 2)
        complex_ = both[..., 0] + 1j * both[..., 1]
        points = model.weight(np.array(size), "i8")
        model.case("DFT real", "DFT", [model.input(real), points, axis], parts(np.fft.fft(real[..., 0], size, 1)))
        model.case("DFT onesided", "DFT", [model.input(real), points, axis], parts(np.fft.rfft(real[..., 0], size, 1)), onesided=1)
        model.case("DFT complex", "DFT", [model.input(both), points, axis], parts(np.fft.fft(complex_, size, 1)))
        model.case("DFT inverse", "DFT", [model.input(both), points, axis], parts(np.fft.ifft(complex_, size, 1)), inverse=1)
        spectrum = np.fft.rfft(normal(3, size, 4), size, 1)
        model.case("DFT to real", "DFT", [model.input(parts(spectrum)), points, axis], np.fft.irfft(spectrum, size, 1)[..., None], inverse=1, onesided=1)
    signal, window = normal(2, 40, 1), np.hanning(16).astype("f4").astype("f8")
    frames = np.stack([signal[:, 6 * i:6 * i + 16, 0] * window for i in range(5)], 1)
    model.case("STFT", "STFT", [model.input(signal), model.weight(np.array(6), "i8"), model.weight(window)], parts(np.fft.rfft(frames, 16, 2)))


def sample(image, y, x, padding):
    """Bilinear, align_corners = 1, one channel image at real places."""
    h, w = image.shape
    if padding == "border":
        y, x = np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)
    total = 0.0
    for row in (int(np.floor(y)), int(np.floor(y)) + 1):
        for column in (int(np.floor(x)), int(np.floor(x)) + 1):
            inside = 0 <= row < h and 0 <= column < w
            total += (1 - abs(y - row)) * (1 - abs(x - column)) * (image[row, column] if inside else 0)
    return total


def add_sampling_cases(model):
    image, grid = normal(2, 3, 5, 6), random.uniform(-1.3, 1.3, (2, 4, 7, 2)).astype("f4").astype("f8")
    for padding in ("zeros", "border"):
        exact = np.array([[[[sample(image[b, c], (grid[b, i, j, 1] + 1) / 2 * 4, (grid[b, i, j, 0] + 1) / 2 * 5, padding) for j in range(7)]
                            for i in range(4)] for c in range(3)] for b in range(2)])
        for dims in (None, ["N", 3, "H", "W"]):
            model.case(f"GridSample {padding}", "GridSample", [model.input(image, dims=dims), model.input(grid, dims=dims and ["N", "P", "Q", 2])],
                       exact, dims=dims and ["N", 3, "P", "Q"], align_corners=1, padding_mode=padding, mode="linear")
    theta = normal(2, 2, 3)
    ys, xs = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 5), indexing="ij")
    base = np.stack([xs, ys, np.ones_like(xs)], -1)
    model.case("AffineGrid", "AffineGrid", [model.input(theta), integers(model, 2, 3, 4, 5)], np.einsum("hwk,njk->nhwj", base, theta), align_corners=1)
    x = normal(1, 2, 8, 9)
    model.case("Resize antialias", "Resize", [model.input(x), "", model.weight(np.array([1, 1, 0.5, 1 / 3]))],
               resize_antialiased(resize_antialiased(x, 2, 4), 3, 3), mode="linear", antialias=1)
    # 9 * 0.6 = 5.4: the last of the 5 results lies before the last input, as the backend cases have it, not on it.
    places = np.arange(5) * 8 / (9 * np.float64(np.float32(0.6)) - 1)
    expected = np.stack([np.interp(places, np.arange(9), row) for row in x.reshape(-1, 9)]).reshape(1, 2, 8, 5)
    model.case("Resize align_corners", "Resize", [model.input(x), "", model.weight(np.array([1, 1, 1, 0.6]))], expected,
               mode="linear", coordinate_transformation_mode="align_corners")


def resize_antialiased(x, axis, size):
    """A triangle as wide as the step between results, around the centre of each, inside the input only."""
    length = x.shape[axis]
    scale = size / length
    matrix = np.zeros((length, size))
    for o in range(size):
        centre = (o + 0.5) / scale - 0.5
        for place in range(-length, 2 * length):
            matrix[np.clip(place, 0, length - 1), o] += max(0, 1 - abs(place - centre) * scale)
    return np.moveaxis(np.tensordot(x, matrix / matrix.sum(0), (axis, 0)), -1, axis)


def add_movement_cases(model):
    x, lengths = normal(6, 3, 2), np.array([4, 1, 6])
    exact = x.copy()
    for b, n in enumerate(lengths):
        exact[:n, b] = x[:n, b][::-1]
    model.case("ReverseSequence", "ReverseSequence", [model.input(x), model.input(lengths, "i8")], exact)
    cache, update, starts = normal(2, 3, 5, 4), normal(2, 3, 2, 4), np.array([4, 1])
    exact = cache.copy()
    for b in range(2):
        for i in range(2):
            exact[b, :, (starts[b] + i) % 5] = update[b, :, i]
    model.case("TensorScatter", "TensorScatter", [model.input(cache), model.input(update), model.input(starts, "i8")], exact, mode="circular")
    x = normal(7, 4, 3)
    model.case("CenterCropPad", "CenterCropPad", [model.input(x), integers(model, 4, 9)], np.pad(x[1:5], [(0, 0), (2, 3), (0, 0)]), axes=[0, 1])
    columns = normal(2, 2 * 6, 4 * 3)
    exact = np.zeros((2, 2, 7 + 2, 6 + 1))
    for c, row, column in np.ndindex(2, 2, 3):
        block = columns[:, c * 6 + row * 3 + column].reshape(2, 4, 3)
        exact[:, c, row:row + 8:2, column * 2:column * 2 + 3] += block
    model.case("Col2Im", "Col2Im", [model.input(columns), integers(model, 7, 6), integers(model, 2, 3)], exact[:, :, 1:8, 1:7],
               pads=[1, 1, 1, 0], strides=[2, 1], dilations=[1, 2])


def add_causal_cases(model):
    x, weight, past = normal(2, 4, 5), normal(4, 1, 3), normal(2, 4, 2)
    window = np.concatenate([past, x], 2)
    exact = sum(window[:, :, i:i + 5] * weight[:, 0, i, None] for i in range(3))
    model.case("CausalConvWithState", "CausalConvWithState", [model.input(x), model.weight(weight), "", model.input(past)],
               exact / (1 + np.exp(-exact)), activation="silu")


def add_linear_attention_cases(model):
    q, k, v, state = normal(2, 3, 4, 5), normal(2, 3, 2, 5), normal(2, 3, 2, 6), normal(2, 2, 5, 6)
    decay, beta = -np.abs(normal(2, 3, 2, 5)), np.abs(normal(2, 3, 2))
    past, outputs = state, []
    for t in range(3):
        state = state * np.exp(decay[:, t, :, :, None])
        change = beta[:, t, :, None] * (v[:, t] - np.einsum("bhk,bhkv->bhv", k[:, t], state))
        state = state + k[:, t, :, :, None] * change[:, :, None, :]
        outputs.append(np.einsum("bhgk,bhkv->bhgv", q[:, t].reshape(2, 2, 2, 5), state).reshape(2, 24) * 0.5)
    flat = [model.input(x.reshape(2, 3, -1)) for x in (q, k, v)] + [model.input(x) for x in (past, decay.reshape(2, 3, -1), beta)]
    model.case("LinearAttention", "LinearAttention", flat, np.stack(outputs, 1), q_num_heads=4, kv_num_heads=2, scale=0.5)
    model.case("LinearAttention state", "LinearAttention", flat, state, at=1, q_num_heads=4, kv_num_heads=2)


def value(name, kind=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def add_loop_cases(model):
    """Sums of rows, backwards; and powers of two up to a limit, which the condition ends after four of ten steps."""
    x = normal(3, 4, 2)
    body = helper.make_graph([helper.make_node("Add", ["sum", "row"], ["next"], "add"), helper.make_node("Neg", ["next"], ["out"], "neg")],
                             "rows", [value("sum"), value("row")], [value("next"), value("out")])
    sums = np.cumsum(x[:, ::-1], 1)
    model.case("Scan", "Scan", [model.weight(np.zeros((3, 2))), model.input(x)], sums[:, -1], body=body, num_scan_inputs=1, scan_input_axes=[1],
               scan_input_directions=[1])
    model.case("Scan rows", "Scan", [model.weight(np.zeros((3, 2))), model.input(x)], -sums[:, ::-1].transpose(0, 2, 1), at=1, body=body,
               num_scan_inputs=1, scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[2], scan_output_directions=[1])
    nodes = [helper.make_node("Add", ["i", "one"], ["count"], "count"), helper.make_node("Less", ["count", "four"], ["goes_on"], "less"),
             helper.make_node("Add", ["power", "power"], ["twice"], "twice"), helper.make_node("Identity", ["twice"], ["row"], "row")]
    constants = [helper.make_tensor("one", TensorProto.INT64, [], [1]), helper.make_tensor("four", TensorProto.INT64, [], [4])]
    body = helper.make_graph(nodes, "powers", [value("i", TensorProto.INT64, []), value("holds", TensorProto.BOOL, []), value("power")],
                             [value("goes_on", TensorProto.BOOL, []), value("twice"), value("row")], constants)
    start = normal(2)
    inputs = [model.weight(np.array(10), "i8"), model.weight(np.array(True), "?"), model.input(start)]
    model.case("Loop", "Loop", inputs, start * 16, body=body)
    model.case("Loop rows", "Loop", inputs, start * np.array([[2], [4], [8], [16]]), at=1, body=body)


def add_sequence_cases(model):
    """Lists are gone before anything runs: what comes out are slices and joins."""
    x = normal(5, 3)
    name, scalar = model.input(x), lambda number: model.weight(np.array(number), "i8")
    nodes = [("SplitToSequence", [name, scalar(2)], "parts", {}), ("SequenceAt", ["parts", scalar(-1)], "last", {}),
             ("SequenceInsert", ["parts", "last", scalar(0)], "more", {}), ("SequenceErase", ["more", scalar(1)], "less", {}),
             ("SequenceConstruct", [name, name], "pair", {}), ("SequenceLength", ["more"], "count", {})]
    model.nodes += [helper.make_node(op, inputs, [output], output, **attributes) for op, inputs, output, attributes in nodes]
    model.case("ConcatFromSequence", "ConcatFromSequence", ["less"], np.concatenate([x[4:], x[2:4], x[4:]]), axis=0)
    model.case("ConcatFromSequence new axis", "ConcatFromSequence", ["pair"], np.stack([x, x], 2), axis=-1, new_axis=1)
    model.case("SequenceLength", "Identity", ["count"], np.array(4), "i8")
    model.case("OptionalHasElement", "OptionalHasElement", [name], np.array(True), "?")
    model.case("OptionalGetElement", "OptionalGetElement", [name], x)


def add_flex_attention_cases(model):
    q, k, v = normal(2, 4, 3, 8), normal(2, 2, 5, 8), normal(2, 2, 5, 6)
    body = helper.make_graph([helper.make_node("Add", ["s", "s"], ["t"], "twice")], "double", [value("s")], [value("t")])
    scores = np.einsum("bhld,bhsd->bhls", q, np.repeat(k, 2, 1)) * 0.5 * 2
    shares = np.exp(scores - scores.max(3, keepdims=True))
    exact = np.einsum("bhls,bhsd->bhld", shares / shares.sum(3, keepdims=True), np.repeat(v, 2, 1))
    inputs = [model.input(x) for x in (q, k, v)]
    model.case("FlexAttention", "FlexAttention", inputs, exact, domain="ai.onnx.preview", scale=0.5, score_mod=body)
    model.case("FlexAttention shares", "FlexAttention", inputs, 2 * exact, domain="ai.onnx.preview", scale=1.0, prob_mod=body)


def add_narrow_cases(model):
    """To a narrow type and back: the nearest of its numbers. And integers to halves, which are only stored."""
    steps = np.array([(1 + m / 8) * 2.0**e for e in range(-6, 9) for m in range(8)][:-1] + [m / 8 * 2.0**-6 for m in range(8)])
    numbers = np.concatenate([steps, -steps])
    x = np.concatenate([normal(50), normal(20) * 100, [0, 448, -448, 1e6, -np.inf, 2.0**-10 * 1.5]])
    nearest = numbers[np.argmin(np.abs(np.clip(x, -448, 448)[:, None] - numbers), 1)]
    model.nodes.append(helper.make_node("Cast", [model.input(x)], ["codes"], "codes", to=17))
    model.case("Cast float8e4m3fn", "Cast", ["codes"], nearest, to=1)
    whole = np.arange(-20, 20)
    model.nodes.append(helper.make_node("Cast", [model.input(whole, "i4")], ["nibbles"], "nibbles", to=22))
    model.case("Cast int4", "Cast", ["nibbles"], (whole + 8) % 16 - 8, to=1)
    model.case("Cast int8 to half", "Cast", [model.input(whole, "i1")], whole, "f2", to=10)


def main():
    folder, model = pathlib.Path(sys.argv[1]), Model()
    for add in (add_signal_cases, add_sampling_cases, add_movement_cases, add_causal_cases, add_linear_attention_cases, add_loop_cases,
                add_sequence_cases, add_flex_attention_cases, add_narrow_cases):
        add(model)
    model.save(folder / "numbers.onnx", opset=28, domains=[("ai.onnx.preview", 1)])
    kiln("run", folder / "numbers.onnx", "--target", "x86-64-v3", "--output-dir", folder / "out", *model.save_inputs(folder))
    finish(model.compare(folder / "out", BOUNDS), len(model.expected))


if __name__ == "__main__":
    main()
