"""Transforms of signals and pictures whose sizes only a run knows: Fourier transforms and Col2Im beside NumPy, antialiased Resize and adaptive RoiAlign beside the same model
with static sizes. Usage: symbolic_transforms.py FOLDER"""

import itertools
import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "end-to-end"))
import library

FOLDER = pathlib.Path(sys.argv[1])
TYPES = {"f4": TensorProto.FLOAT, "i8": TensorProto.INT64}
dice = np.random.default_rng(3)
right, wrong = 0, []


def normal(*shape):
    return dice.standard_normal(shape).astype("f4")


def build(name, nodes, inputs, outputs, weights=(), opset=19):
    values = [helper.make_tensor_value_info(each, TYPES[kind], shape) for each, kind, shape in inputs]
    results = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [None] * rank) for each, rank in outputs]
    graph = helper.make_graph(nodes, name, values, results, [numpy_helper.from_array(np.asarray(value), each) for each, value in dict(weights).items()])
    path = FOLDER / f"{name}.onnx"
    onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", opset)]), str(path))
    return lambda *options: library.Library(path, options, FOLDER / "_".join([name, *options]).replace("=", ""))


def compare(label, got, want, tolerance=2e-4):
    global right
    for name, value in got:
        if value.shape == want[name].shape and np.allclose(value, want[name], tolerance, tolerance):
            right += 1
        else:
            wrong.append(f"{label} {name}: {value.ravel()[:4]}, expected {want[name].ravel()[:4]}")


def pairs(z):
    return np.stack([z.real, z.imag], -1)


def fourier():
    nodes = [helper.make_node("DFT", ["r"], ["half"], axis=1, onesided=1), helper.make_node("DFT", ["c"], ["whole"], axis=1), helper.make_node("DFT", ["c"], ["across"], axis=2),
             helper.make_node("DFT", ["c"], ["back"], axis=1, inverse=1), helper.make_node("DFT", ["c"], ["real"], axis=1, inverse=1, onesided=1),
             helper.make_node("DFT", ["r", "nine"], ["longer"], axis=1)]
    run = build("fourier", nodes, [("r", "f4", ["b", "n", 1]), ("c", "f4", ["b", "n", "m", 2])],
                [("half", 3), ("whole", 4), ("across", 4), ("back", 4), ("real", 4), ("longer", 3)], {"nine": np.array(9)}, opset=17)()
    for n, m in ((2, 3), (8, 1), (13, 5), (50, 2)):
        r, c = normal(2, n, 1), normal(2, n, m, 2)
        z = c[..., 0] + 1j * c[..., 1]
        want = {"half": pairs(np.fft.rfft(r[..., 0], axis=1)), "whole": pairs(np.fft.fft(z, axis=1)), "across": pairs(np.fft.fft(z, axis=2)), "back": pairs(np.fft.ifft(z, axis=1)),
                "real": np.fft.irfft(z, 2 * n - 2, axis=1)[..., None], "longer": pairs(np.fft.fft(r[..., 0], 9, axis=1))}
        compare(f"DFT of {n}", run.run({"r": r, "c": c}, 2), want)
    nodes = [helper.make_node("STFT", ["x", "step", "w", "length"], ["fixed"]), helper.make_node("STFT", ["x", "step", "v"], ["given"])]
    run = build("frames", nodes, [("x", "f4", ["b", "t", 1]), ("v", "f4", ["l"])], [("fixed", 4), ("given", 4)],
                {"step": np.array(5), "w": np.hanning(20).astype("f4"), "length": np.array(20)}, opset=17)()
    for t, l in ((205, 16), (20, 20), (33, 7)):
        x, v = normal(2, t, 1), normal(l)
        frames = lambda w: pairs(np.fft.rfft(np.stack([x[:, at:at + len(w), 0] * w for at in range(0, t - len(w) + 1, 5)], 1)))
        compare(f"STFT of {t}", run.run({"x": x, "v": v}, 2), {"fixed": frames(np.hanning(20)), "given": frames(v)})


def blocks():
    for k, stride, pad, dilation in ((3, 1, 1, 1), (2, 2, 0, 1), (3, 2, 1, 1), (2, 3, 1, 2)):
        nodes = [helper.make_node("Shape", ["x"], ["s"], start=2),
                 helper.make_node("Col2Im", ["c", "s", "block"], ["y"], pads=[pad] * 4, strides=[stride] * 2, dilations=[dilation] * 2)]
        run = build(f"blocks{k}{stride}", nodes, [("x", "f4", ["n", 1, "h", "w"]), ("c", "f4", ["n", 3 * k * k, "p"])], [("y", 4)], {"block": np.array([k, k])})()
        for h, w in ((7, 6), (12, 13)):
            rows, columns = ((size + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for size in (h, w))
            c, y = normal(2, 3 * k * k, rows * columns), np.zeros((2, 3, h + 2 * pad, w + 2 * pad), "f4")
            for i, j, at, to in itertools.product(range(k), range(k), range(rows), range(columns)):
                y[:, :, at * stride + i * dilation, to * stride + j * dilation] += c.reshape(2, 3, k, k, rows, columns)[:, :, i, j, at, to]
            compare(f"Col2Im {k} {stride} of {h}", run.run({"x": np.zeros((2, 1, h, w), "f4"), "c": c}, 2), {"y": y[:, :, pad:pad + h, pad:pad + w]})


def pictures():
    modes = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric")
    nodes, outputs = [], []
    for mode, place, given in itertools.product(("linear", "cubic"), modes, (["x", "", "scales"], ["x", "", "", "sizes"])):
        outputs.append((f"{mode}_{place}_{given[-1]}", 4))
        nodes.append(helper.make_node("Resize", given, [outputs[-1][0]], mode=mode, coordinate_transformation_mode=place, antialias=1, exclude_outside=int(mode == "cubic" and place == "asymmetric")))
    outputs.append(("regions", 4))
    nodes.append(helper.make_node("RoiAlign", ["x", "rois", "of"], ["regions"], output_height=2, output_width=3, sampling_ratio=0, spatial_scale=0.5))
    make = build("pictures", nodes, [("x", "f4", ["n", 2, "h", "w"]), ("rois", "f4", [3, 4]), ("of", "i8", [3])], outputs,
                 {"scales": np.array([1, 1, 0.5, 0.35], "f4"), "sizes": np.array([2, 2, 4, 20])})
    run = make()
    for h, w in ((9, 13), (5, 40)):
        inputs = {"x": normal(2, 2, h, w), "rois": np.array([[0, 0, 9, 7], [2, 1, 19, 9], [-3, 2, 4, 30]], "f4"), "of": np.array([0, 1, 1])}
        compare(f"picture of {h}", run.run(inputs, 2), dict(make("--dim=n=2", f"--dim=h={h}", f"--dim=w={w}").run(inputs, 2)))


FOLDER.mkdir(parents=True, exist_ok=True)
fourier(), blocks(), pictures()
print(*wrong[:8], f"{right} of {right + len(wrong)} results right", sep="\n")
