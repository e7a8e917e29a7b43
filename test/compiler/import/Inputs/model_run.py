"""A model run once by `kiln run`."""

import subprocess

import numpy as np
import onnx


def run(folder, model, inputs, outputs):
    """The named outputs, for inputs by name; what is made on the way lies in the folder."""
    onnx.save(model, str(folder / "model.onnx"))
    command = ["kiln", "run", folder / "model.onnx", "--output-dir", folder / "out"]
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        command += ["--input", f"{name}={folder / name}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"out/{name}.npy") for name in outputs]
