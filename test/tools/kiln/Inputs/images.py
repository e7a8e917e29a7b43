"""Writes pictures and further models for images.onnxtxt into a folder; with `check`, looks at what the runs have written there."""

import pathlib
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = pathlib.Path(sys.argv[1])
H, W = 2, 3
pixels = np.arange(H * W * 3, dtype=np.uint8).reshape(H, W, 3) * 9


def ppm(picture):
    return b"P6 %d %d 255\n" % (picture.shape[1], picture.shape[0]) + picture.tobytes()


def bmp(picture):
    rows = b"".join(row[:, ::-1].tobytes().ljust((3 * W + 3) // 4 * 4, b"\0") for row in picture[::-1])
    return b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, W, H, 1, 24, 0, len(rows), 0, 0, 0, 0) + rows


def write(name, nodes, shape, output, weights=(), declared=None):
    """A model of one picture; `declared`: the shape of ImageDecoder's result that the model says."""
    info = [helper.make_tensor_value_info("image", TensorProto.UINT8, declared)] if declared and output != "image" else []
    kind = TensorProto.UINT8 if output == "image" else TensorProto.FLOAT
    graph = helper.make_graph([helper.make_node("ImageDecoder", ["file"], ["image"], name="image"), *nodes], "g",
                              [helper.make_tensor_value_info("file", TensorProto.UINT8, ["n"])],
                              [helper.make_tensor_value_info(output, kind, declared if output == "image" else shape)], list(weights), value_info=info)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / f"{name}.onnx")


def write_models():
    sizes = numpy_helper.from_array(np.array([1, 3, 8, 8]), "sizes")
    axis = numpy_helper.from_array(np.array([0]), "axis")
    filters = numpy_helper.from_array(np.linspace(-1, 1, 4 * 3 * 3 * 3, dtype=np.float32).reshape(4, 3, 3, 3), "filters")
    node = helper.make_node
    chain = [node("Cast", ["image"], ["f"], to=1), node("Transpose", ["f"], ["chw"], perm=[2, 0, 1]), node("Unsqueeze", ["chw", "axis"], ["x"]),
             node("Resize", ["x", "", "", "sizes"], ["r"], mode="linear"), node("Conv", ["r", "filters"], ["y"], pads=[1, 1, 1, 1])]
    write("chain", chain, [1, 4, 8, 8], "y", [sizes, axis, filters])
    write("fixed", [], None, "image", declared=[H, W, 3])
    write("channels", [], None, "image", declared=[H, W, 1])
    write("rank", [], None, "image", declared=[H, W])


def check():
    for run in "abc":
        assert np.array_equal(np.load(folder / run / "image.npy"), pixels), run
        assert np.allclose(np.load(folder / run / "mean.npy"), pixels.astype(np.float32).mean((0, 1)), rtol=1e-6), run


if len(sys.argv) > 2:
    check()
else:
    (folder / "a.ppm").write_bytes(ppm(pixels))
    (folder / "cut.ppm").write_bytes(ppm(pixels)[:-1])
    (folder / "small.ppm").write_bytes(ppm(pixels[:1]))
    (folder / "large.ppm").write_bytes(ppm(np.concatenate([pixels, pixels])))
    (folder / "a.bmp").write_bytes(bmp(pixels))
    np.save(folder / "a.npy", np.frombuffer(ppm(pixels), np.uint8))
    write_models()
