"""Compiles a model of 134 MB in a folder and prints the peak memory beyond that of a tiny model, in times of its size."""
import os
import pathlib
import shutil
import subprocess
import sys

SIZE = 2896


def write(path, size, external):
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size])
    weights = [numpy_helper.from_array((np.arange(size * size, dtype=np.float32) + layer).reshape(size, size), f"w{layer}") for layer in range(4)]
    nodes = [helper.make_node("Gemm", [f"x{layer}", f"w{layer}"], [f"x{layer + 1}"], f"gemm{layer}", transB=layer % 2) for layer in range(4)]
    graph = helper.make_graph(nodes, "big", [value("x0")], [value("x4")], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save_model(model, str(path), save_as_external_data=external, location=path.stem + ".data")


def peak(path, *options):
    command = ["run", "--input", "x0=ones", "--output-dir"] if "run" in options else ["compile", "-o"]
    process = subprocess.Popen(["kiln", *command, str(folder / "out"), str(path), "-q", *[option for option in options if option != "run"]])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    shutil.rmtree(folder / "out")
    if status:
        sys.exit(f"kiln ended with {status}")
    return usage.ru_maxrss * 1024


folder = pathlib.Path(sys.argv[1])
if len(sys.argv) > 2:
    write(folder / "tiny.onnx", 8, False)
    write(folder / "inside.onnx", SIZE, False)
    write(folder / "beside.onnx", SIZE, True)
    sys.exit()

# In a process of its own: what a process forks into counts the memory that it had.
subprocess.run([sys.executable, __file__, str(folder), "write"], check=True)
total = 4 * 4 * SIZE * SIZE
for name, file, most, options in [("in the file", "inside", 1.25, ["--target=x86-64-v3"]), ("beside it", "beside", 1.25, ["--target=x86-64-v3"]),
                                  ("two targets", "beside", 1.25, ["--target=generic,x86-64-v3"]), ("compiled and run", "inside", 2.25, ["run"])]:
    more = peak(folder / f"{file}.onnx", *options) - peak(folder / "tiny.onnx", *options)
    print(f"{name}: {more / total:.2f} times the model", "ok" if more <= most * total else "TOO MUCH")
for path in folder.glob("*side*"):
    path.unlink()
