"""Runs the options of each row of the table in Pictures.md, and compares with the row's formula, written down here once more: pictures.py PAGE FOLDER."""
import pathlib
import re
import shlex
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper

page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
IMAGENET = numpy.array([0.485, 0.456, 0.406]), numpy.array([0.229, 0.224, 0.225])
CLIP = numpy.array([0.48145466, 0.4578275, 0.40821073]), numpy.array([0.26862954, 0.26130258, 0.27577711])
# What a row calls a value, of colours in the row's order.
FORMULAS = {
    "(b / 255 - mean) / deviation of ImageNet": lambda b: (b / 255 - IMAGENET[0]) / IMAGENET[1],
    "(b / 255 - mean) / deviation of ImageNet, in this order for B, G, R": lambda b: (b / 255 - IMAGENET[0]) / IMAGENET[1],
    "(b / 255 - mean) / deviation of its own": lambda b: (b / 255 - CLIP[0]) / CLIP[1],
    "b / 255": lambda b: b / 255,
    "b / 127.5 - 1": lambda b: b / 127.5 - 1,
    "b - mean of ImageNet": lambda b: b - numpy.array([103.939, 116.779, 123.68]),
    "(b / 255 - 0.1307) / 0.3081": lambda b: (b / 255 - 0.1307) / 0.3081,
}
SIZE = 16


def make_model(name, dims):
    value = lambda text: helper.make_tensor_value_info(text, TensorProto.FLOAT, dims)
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "same", [value("x")], [value("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / name)


rows = [re.split(r" *\| *", line.strip("| ")) for line in page.read_text().splitlines() if line.startswith("|")][2:]
pixels = numpy.random.default_rng(1).integers(0, 256, (SIZE, SIZE, 3), numpy.uint8)
(folder / "colour.ppm").write_bytes(b"P6 %d %d 255\n" % (SIZE, SIZE) + pixels.tobytes())
(folder / "gray.pgm").write_bytes(b"P5 %d %d 255\n" % (SIZE, SIZE) + pixels[..., :1].tobytes())
make_model("gray.onnx", [1, 1, SIZE, SIZE])
make_model("nchw.onnx", [1, 3, SIZE, SIZE])
make_model("nhwc.onnx", [1, SIZE, SIZE, 3])
for models, colours, value, _, options, _ in rows:
    is_gray, is_last = colours.startswith("gray"), colours.endswith("NHWC")
    picture = "gray.pgm" if is_gray else "colour.ppm"
    words = shlex.split(options.strip("`").replace("cover:256", "cover"))
    subprocess.run(["kiln", "run", folder / f"{'gray' if is_gray else 'nhwc' if is_last else 'nchw'}.onnx", "--input", f"x={folder / picture}", "--output-dir", folder, "-q", *words],
                   check=True)
    got = numpy.load(folder / "y.npy")[0]
    bytes_ = pixels[..., :1] if is_gray else pixels[..., ::-1] if colours.startswith("BGR") else pixels
    expected = FORMULAS[value](bytes_.astype(numpy.float64))
    numpy.testing.assert_allclose(got if is_last else got.transpose(1, 2, 0), expected, rtol=1e-5, atol=1e-5, err_msg=models)
print(f"{len(rows)} rows")
