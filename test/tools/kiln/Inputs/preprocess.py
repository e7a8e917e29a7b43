"""Compares what a program makes of a picture with what kiln run does, byte for byte. Usage: preprocess.py FOLDER [OPTION...]"""
import os
import pathlib
import subprocess
import sys

import numpy as np

folder, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
options = sys.argv[2:]


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


rng = np.random.default_rng(5)
(folder / "p.ppm").write_bytes(b"P6 31 17 255\n" + rng.integers(0, 256, (17, 31, 3)).astype(np.uint8).tobytes())
(folder / "p.pgm").write_bytes(b"P5 12 23 255\n" + rng.integers(0, 256, (23, 12)).astype(np.uint8).tobytes())
pixels = rng.integers(0, 256, (20, 20, 3)).astype("<u1")
header = b"BM" + np.array([54 + 1200, 0, 54, 40, 20, 20], "<u4").tobytes() + np.array([1, 24], "<u2").tobytes() + bytes(24)
(folder / "p.bmp").write_bytes(header + pixels.tobytes())

run("kiln", folder / "net.onnx", "--target=generic", "-q", "-o", folder / "out", *options)
flags = run("pkg-config", "--cflags", "--libs", "kiln-images", "kiln", PKG_CONFIG_PATH=f"{folder}/prefix/lib/pkgconfig").split()
run("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{folder}/out", here / "preprocess.c", "-o", folder / "program", *flags)
# A picture that is cut to its own size must cover it.
names = ["x", "half", "bytes8", "open"] if not any(":" in option for option in options) else ["x", "half", "bytes8"]
count = 0
for picture in ("p.ppm", "p.pgm", "p.bmp"):
    said = run(folder / "program", folder / picture, folder)
    assert said == "" or (said == "open: invalid argument\n" and "open" not in names), said
    given = [f"--input={name}={folder / picture}" for name in names]
    given += [] if "open" in names else ["--input=open=zeros", "--run-dim=h=2", "--run-dim=w=2"]
    run("kiln", "run", folder / "net.onnx", "--target=generic", "--output-dir", folder / "run", *given, "--input=v=zeros", *options)
    for name in names:
        by_kiln = np.load(folder / "run" / f"{name}_out.npy")
        by_program = np.frombuffer((folder / f"{name}.bin").read_bytes(), by_kiln.dtype)
        assert by_program.size == by_kiln.size, f"{picture} {name}: {by_program.size} elements, expected {by_kiln.shape}"
        assert by_kiln.tobytes() == by_program.tobytes(), f"{picture} {name} {options} differs"
        assert len(set(by_program.tolist())) > 1
        count += 1
print(f"{count} inputs are equal")
