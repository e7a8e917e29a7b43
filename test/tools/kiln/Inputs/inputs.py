"""Runs a model that negates its inputs, and checks what they were. Usage: inputs.py MODEL FOLDER"""
import pathlib
import struct
import sys
import zlib

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

model, folder = sys.argv[1], pathlib.Path(sys.argv[2])
pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3) * 10  # rows, columns, colours


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


rows = b"".join(b"\0" + row.tobytes() for row in pixels)
(folder / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 2, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) +
                               chunk(b"IEND", b""))
(folder / "p.ppm").write_bytes(b"P6\n# made by hand\n4 2 255\n" + pixels.tobytes())
(folder / "p.pgm").write_bytes(b"P5 4 2 255\n" + pixels[..., 0].tobytes())
given = np.linspace(-1, 1, 5, dtype=np.float32)
onnx.save_tensor(numpy_helper.from_array(given), str(folder / "v.pb"))


def run(*arguments, dim=5):
    out = folder / "out"
    done = kiln_calls.call("run", model, "--output-dir", out, "--run-dim", f"K={dim}", *arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return -np.load(out / "a_b.npy"), -np.load(out / "a_b_2.npy")


def check(what, got, want, exact=True):
    assert got.shape == want.shape and (np.array_equal(got, want) if exact else np.allclose(got, want, rtol=1e-6)), (what, got, want)


nchw = pixels.transpose(2, 0, 1)[None].astype(np.float32)
mean, std = np.array([0.1, 0.2, 0.3], np.float32), np.array([0.5, 0.25, 2], np.float32)
x, v = run("--input", f"x={folder}/p.png", "--input", f"v={folder}/v.pb")
check("PNG, default scale", x, nchw / 255, exact=False)
check(".pb", v, given)
check("PPM, scale 1", run("--input", f"x={folder}/p.ppm", "--image-scale", "1", "--input", "v=zeros")[0], nchw)
x, v = run("--input", f"x={folder}/p.ppm", "--image-layout", "bgr-nchw", "--image-scale", "0.5", "--input", "v=ones")
check("colours reversed", x, nchw[:, ::-1] * 0.5)
check("ones", v, np.ones(5, np.float32))
x, v = run("--input", f"x={folder}/p.png", "--image-mean", "0.1,0.2,0.3", "--image-std", "0.5,0.25,2", "--input", "v=-2.5")
check("mean and deviation", x, (nchw / 255 - mean[:, None, None]) / std[:, None, None], exact=False)
check("a number", v, np.full(5, -2.5, np.float32))
x, v = run("--input", f"x={folder}/p.pgm", "--image-scale", "1", "--input", "v=arange")
check("gray for all colours", x, np.broadcast_to(nchw[:, :1], nchw.shape))
check("arange", v, np.arange(5, dtype=np.float32))

_, integers = run("--input", "x=zeros", "--input", "v=randint:3:6", dim=500)
assert set(integers) == {3, 4, 5}, set(integers)
_, uniform = run("--input", "x=zeros", "--input", "v=uniform:-1:3", dim=500)
assert -1 <= uniform.min() < -0.9 and 2.9 < uniform.max() < 3 and abs(uniform.mean() - 1) < 0.2
_, normal = run("--input", "x=zeros", "--input", "v=normal:2", dim=500)
assert abs(normal.std() - 2) < 0.2 and abs(normal.mean()) < 0.3
_, first = run("--input", "x=zeros", "--input", "v=random:7", dim=500)
_, again = run("--input", "x=ones", "--input", "v=random:7", "--seed", "3", dim=500)
_, seeded = run("--input", "x=zeros", "--input", "v=random", "--seed", "7", dim=500)
_, other = run("--input", "x=zeros", "--input", "v=random:8", dim=500)
check("a seed of its own", again, first)
check("--seed", seeded, first)
assert not np.array_equal(other, first)
