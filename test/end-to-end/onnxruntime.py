"""What ONNX Runtime computes: one thread, no graph optimisation. Needs `npm install onnxruntime-node@1.30.0`, and ORT_NODE=<its folder>."""

import json
import os
import pathlib
import subprocess
import tempfile

import cases
import numpy as np

TYPES = {"f4": "float32", "f8": "float64", "i8": "int64", "i4": "int32", "u1": "uint8", "i1": "int8", "b1": "bool"}


def available():
    return "ORT_NODE" in os.environ


def run(case, run=0):
    """[(name, array)] of the model's outputs."""
    return run_file(case.path, case.inputs(run))


def optimize(model, out, level="basic"):
    """Writes the model as ONNX Runtime's optimiser leaves it at a level: basic, extended or all."""
    with tempfile.TemporaryDirectory() as folder:
        job = pathlib.Path(folder) / "job.json"
        job.write_text(json.dumps({"module": os.environ["ORT_NODE"], "model": str(model), "optimized": str(out), "level": level}))
        subprocess.run(["node", cases.HERE / "onnxruntime.mjs", job], check=True)


def run_file(model, inputs):
    return run_samples(model, [inputs])[0]


def run_samples(model, samples):
    """What run_file gives for each of the samples, in one process."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        job = {"module": os.environ["ORT_NODE"], "model": str(model), "folder": str(folder), "runs": []}
        for run, inputs in enumerate(samples):
            job["runs"].append([])
            for index, (name, array) in enumerate(inputs.items()):
                file = f"in_{run}_{index}"
                np.ascontiguousarray(array).tofile(folder / file)
                job["runs"][-1].append({"name": name, "type": TYPES[array.dtype.str[1:]], "dims": list(array.shape), "file": file})
        (folder / "job.json").write_text(json.dumps(job))
        subprocess.run(["node", cases.HERE / "onnxruntime.mjs", folder / "job.json"], check=True)
        kinds = {name: kind for kind, name in TYPES.items()}

        def read(result):
            return np.fromfile(folder / result["file"], kinds[result["type"]].replace("b1", "?")).reshape(result["dims"])

        return [[(result["name"], read(result)) for result in results] for results in json.loads((folder / "results.json").read_text())]
