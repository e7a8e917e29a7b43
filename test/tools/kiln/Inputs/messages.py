"""Runs commands that must fail, and checks their exit status and message. Usage: messages.py FOLDER"""
import os
import pathlib
import subprocess
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
np.save(folder / "x.npy", np.zeros((2, 4), np.float32))
np.save(folder / "v3.npy", np.zeros(3, np.float32))
np.save(folder / "v4.npy", np.zeros(4, np.float32))
(folder / "bad.pb").write_bytes(b"\xff\xff")
(folder / "p.pgm").write_bytes(b"P5 2 2 255\nabcd")
(folder / "other.a").write_bytes(b"!<arch>\n")
(folder / "deep.mlir").write_text("(" * 5000)
(folder / "set").mkdir(exist_ok=True)
(folder / "set" / "output_0.pb").write_bytes(b"\xff")
RUN = ["run", "m.onnx", "--output-dir", "out"]
CASES = [
    # (arguments, exit status, message, extra environment)
    (RUN + ["--input", "x"], 1, "--input x: expected NAME=VALUE"),
    (RUN + ["--input", "x=none.npy"], 1, "none.npy: No such file or directory (expected a file, or values such as random:1, zeros or 0.5)"),
    (RUN + ["--input", "x=1e39", "--run-dim", "N=2"], 1, "input 'x': 1e+39 is not a value of f32"),
    (RUN + ["--input", "x=bad.pb"], 1, "bad.pb: not an ONNX TensorProto"),
    (RUN + ["--input", "x=p.pgm", "--image-scale=much"], 1, "--image-scale=much: expected a number or a fraction such as 1/255"),
    (RUN + ["--input", "x=p.pgm", "--image-scale=1/0"], 1, "--image-scale=1/0: expected a number or a fraction"),
    (RUN + ["--input", "x=p.pgm", "--image-layout=hwc"], 1, "image layout 'hwc' is not known"),
    (RUN + ["--input", "x=zeros", "--run-dim", "N"], 1, "--run-dim=N: expected NAME=SIZE"),
    (RUN + ["--input", "x=zeros", "--run-dim", "M=2"], 1, "--run-dim=M=2: the model has no dynamic dimension 'M', it has 'N'"),
    (RUN + ["--input", "x=zeros", "--dim", "N=2", "--run-dim", "N=2"], 1, "--run-dim=N=2: the model has no dynamic dimension 'N', it has none"),
    (["m.onnx", "-o", "out", "--dim", "M=2"], 1, "m.onnx: --dim: no input has a dimension 'M', but 'N'"),
    (["bools.onnx", "-o", "out", "--dim", "M=2"], 1, "bools.onnx: --dim: no input has a dimension 'M', all are static"),
    (RUN + ["--input", "x=x.npy", "--threads=-1"], 1, "--threads=-1: expected 0 to 1024"),
    (RUN + ["--input", "x=x.npy", "--threads=1025"], 1, "--threads=1025: expected 0 to 1024"),
    (RUN + ["--input", "x=x.npy", "--target=cray"], 1, "unknown target 'cray', expected"),
    (RUN + ["--input", "x=x.npy", "--target=x86-64-v2,generic,x86-64-v2"], 1, ""),
    (["run", "no-main.mlir", "--output-dir", "out"], None, "@main"),
    (["run", "not.mlir", "--output-dir", "out"], 1, "not.mlir:1:"),
    (["run", "dims.mlir", "--output-dir", "out", "--input", "x=v3.npy", "--input", "z=v4.npy", "--input", "w=v3.npy"], 1,
     "dimension 0 of input 'z' is 4, but n * 2 is 6"),
    (["run", "dims.mlir", "--output-dir", "out", "--input", "x=2", "--run-dim", "n=2", "--input", "z=0", "--input", "w=v3.npy"], 1,
     "no input determines the dimension 'k': give --run-dim k=N"),
    (["run", "dims.mlir", "--output-dir", "out", "--input", "x=2", "--run-dim", "n=2", "--input", "z=0", "--input", "w=v3.npy", "--run-dim", "k=2"], 1,
     "dimension 0 of input 'w' is 3, but "),
    (["verify", "m.onnx", "--data", "set"], 1, "input_0.pb: No such file or directory"),
    (["verify", "m.onnx", "--data", "nowhere"], 1, "nowhere: No such file or directory"),
    (["inspect", "nothing.a"], 1, "nothing.a: No such file or directory"),
    (["bench", "m.onnx", "--dim", "N=2..8"], 1, "dimension 'N' has no size: for example kiln bench m.onnx --dim N=2..8 --run-dim N="),
    (["m.onnx", "-o", "out", "--cxx=/nowhere/c++"], 1, "/nowhere/c++"),
    (["m.onnx", "-o", "out", "--cxx=false"], 1, "false"),
    (["m.onnx", "-o", "out", "--cxx=c++"], 1, f"cannot make a temporary folder in '{folder}/missing' for the compiler: No such file or directory",
     {"TMPDIR": str(folder / "missing")}),
    (["m.onnx", "-o", "out", "--shape", "=1"], 2, "--shape==1: expected INPUT=1x3x224x224"),
    (["m.onnx", "-o", "out", "--dim", "N=-1"], 2, "--dim=N=-1: expected NAME=SIZE or NAME=LO..HI"),
    (["m.onnx", "-o", "out", "--bind", "x=1,2", "--dim", "N=1"], 1, "--bind value '1,2' is neither one number nor one for each element (4)"),
    (["verify"], 2, "Not enough positional command line arguments specified"),
    (["bench", "m.onnx", "--min-time=nan"], 2, "--min-time: expected a number of seconds from 0"),
    (["bench", "m.onnx", "--min-time=-1"], 2, "--min-time: expected a number of seconds from 0"),
    (["tune", "m.onnx", "-o", "set"], 1, "cannot write set: Is a directory"),
    (["tune", "m.onnx", "-o", "x.npy/p"], 1, "cannot write x.npy/p: Not a directory"),
    (["tune", "m.onnx", "-o", "out", "--rounds=0"], 2, "--rounds=0: expected at least one"),
    (["tune", "m.onnx", "-o", "out", "--min-gain=1"], 2, "--min-gain: expected a part below 1"),
    (["tune", "m.onnx", "-o", "out", "--min-gain=nan"], 2, "--min-gain: expected a part below 1"),
    (["verify", "m.onnx", "--rtol=-1"], 2, "--rtol: expected a number from 0"),
    (["verify", "m.onnx", "--atol=nan"], 2, "--atol: expected a number from 0"),
    (["inspect", "other.a"], 1, "other.a: not a library made by Kiln: it has no signature table"),
    (["m.onnx", "-o", "out", "--name", "string"], 2, "--name=string: the header would be called string.h, which hides the system's: choose another name"),
    (["m.onnx", "-o", "out", "--name", "n" * 129], 2, "--name: has 129 characters, the limit is 128"),
    (["deep.mlir", "-o", "out"], 1, "deep.mlir: brackets or expressions are nested too deep"),
    (["short.mlir", "-o", "out"], 1, "short.mlir: the data of constant 'w' do not have the size that its type says"),
    (["bools.onnx", "-o", "out", "--in-place=y=x"], 1, "--in-place=y=x: output and input differ in shape or element type"),
    (["grown.onnx", "-o", "out", "--in-place=y=x"], 1,
     "--in-place=y=x: the output is longer than the input: say how many rows the buffer has room for, as in --in-place=OUTPUT=INPUT:1024"),
    (["grown.onnx", "-o", "out", "--in-place=z=v"], 1, "--in-place=z=v: no kernel reads 'v' at run time"),
    (["verify", "bools.onnx", "--debug-wrong=b"], 1, "the value 'b' cannot be made wrong: its elements are bools"),
    (["bench", "m.onnx", "--min-time=soon"], 2, "'soon' value invalid for floating point argument"),
]
bad = []
for arguments, status, message, *extra in CASES:
    environment = {**os.environ, **(extra[0] if extra else {})}
    done = subprocess.run(["kiln", *arguments], cwd=folder, capture_output=True, text=True, env=environment)
    if (status is not None and done.returncode != status) or done.returncode == 0 or message not in done.stderr:
        bad.append(f"kiln {' '.join(arguments)}: status {done.returncode}, expected {status}; expected '{message}', got:\n{done.stderr}")
if (folder / "out").exists():
    bad.append("a failed command left a folder behind")
print("\n".join(bad) if bad else f"{len(CASES)} messages")
sys.exit(1 if bad else 0)
