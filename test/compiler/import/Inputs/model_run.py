"""A model run once by `kiln run`."""

import pathlib
import sys

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402


def run(folder, model, inputs, outputs):
    """The named outputs, for inputs by name; what is made on the way lies in the folder."""
    onnx.save(model, str(folder / "model.onnx"))
    arguments = ["run", folder / "model.onnx", "--output-dir", folder / "out"]
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    kiln_calls.run(*arguments)
    return [np.load(folder / f"out/{name}.npy") for name in outputs]
