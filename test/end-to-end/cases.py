"""The models that the end-to-end tests run: where they lie, the inputs they are given, and what of their outputs is kept."""

import functools
import hashlib
import itertools
import json
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import seeded

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Where tools/dev/install-models puts the models that it fetches.
FETCHED = ROOT / "build/models"
KEPT_VALUES = 8192
KEPT_VALUES_OF_ONE_OUTPUT = 4096
#: For machines that are emulated or only linked for: convolutions, products of bytes, recurrence, attention with caches, trees and control flow.
DOZEN = ["digits", "quantized_cnn", "quantized_encoder", "decoder_step", "grouped_decoder", "optimized_gpt2", "optimized_whisper", "bidirectional_lstm",
         "scikit_forest", "lightgbm_classifier", "branches", "iterations"]
#: The full matrix of ways to compile: (target, compiler, decompose, dims).
FULL = [*itertools.product(["native", "x86-64-v3", "generic"], ["clang", "g++"], ["auto"], ["static"]),
        *itertools.product(["native"], ["clang"], ["all", "none"], ["static"]),
        *itertools.product(["native", "generic"], ["clang"], ["auto", "all"], ["dynamic"])]


class Case:
    """One entry of models.json."""

    def __init__(self, name, entry):
        self.name, self.entry = name, entry
        self.seeded = entry.get("seeded", False)
        self.reference = HERE / "references" / f"{name}.npz"

    @functools.cached_property
    def path(self):
        """The model's file; None when no folder has it. A seeded model is written first."""
        if self.seeded:
            file = written_models() / f"{self.name}.onnx"
            onnx.save(seeded.MODELS[self.name](), str(file))
            return file
        shared = pathlib.Path(os.environ.get("KILN_SHARED", ROOT.parent / "shared"))
        extra = [pathlib.Path(folder) for folder in os.environ.get("KILN_MODELS", "").split(os.pathsep) if folder]
        folders = [ROOT / "docs/examples/digits", shared / "models", FETCHED, *extra]
        return next((folder / self.entry["file"] for folder in folders if (folder / self.entry["file"]).exists()), None)

    def options(self, dynamic=False):
        """The options that make Kiln compile for exactly the inputs of the first size, or for any."""
        # Inputs that become constants, for models whose control flow hangs on them.
        bound = [f"--bind={name}={value}" for name, value in self.entry.get("bind", {}).items()]
        if dynamic:
            return bound
        shapes = [f"--shape={name}={'x'.join(map(str, shape))}" for name, shape in self.entry.get("shapes", {}).items()]
        return bound + shapes + [f"--dim={name}={value}" for name, value in self.entry.get("dims", {}).items()]

    def is_dynamic(self):
        return "dims" in self.entry or any(set(size) - {"fill"} for size in self.entry.get("sizes", []))

    def runs(self, dynamic):
        """The numbers of the runs that are compared. Run 0 has the entry's own sizes; an entry of `sizes` that only has a `fill` runs in static shapes, too."""
        further = self.entry.get("sizes", [])
        return [0] + [index + 1 for index, size in enumerate(further) if dynamic or set(size) <= {"fill"}]

    def digest(self):
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def inputs(self, run=0):
        """{name: array}. RandomState's streams never change, so neither do the inputs."""
        own = self.entry.get("sizes", [])[run - 1] if run else {}
        sizes = {**self.entry.get("dims", {}), **self.entry.get("shapes", {}), **own}
        fills = {**self.entry.get("fill", {}), **own.get("fill", {})}
        graph = onnx.load(str(self.path), load_external_data=False).graph
        weights = {weight.name for weight in graph.initializer}
        random = np.random.RandomState(2024)
        arrays = {}
        for value in graph.input:
            if value.name in weights:
                continue
            kind = value.type.tensor_type
            shape = sizes.get(value.name, [sizes.get(dim.dim_param, dim.dim_value) for dim in kind.shape.dim])
            element = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[kind.elem_type]
            default = "normal" if element.kind == "f" else "0"
            arrays[value.name] = fill(fills.get(value.name, default), shape, random).astype(element)
        return arrays


@functools.lru_cache
def owned_folder():
    return tempfile.TemporaryDirectory()


def written_models():
    """A folder for the seeded models of this process."""
    return pathlib.Path(owned_folder().name)


def fill(spec, shape, random):
    kind, *bounds = spec.split(":")
    bounds = [float(bound) for bound in bounds]
    if kind == "normal":
        return random.standard_normal(shape) * (bounds or [1.0])[0]
    if kind == "uniform":
        return random.uniform(*bounds, size=shape)
    if kind == "randint":
        return random.randint(*map(int, bounds), size=shape)
    if kind == "lines":
        return lines_of_strokes(shape, random)
    if kind == "arange":
        return np.broadcast_to(np.arange(shape[-1]), shape) + (bounds or [0])[0]
    if kind == "padded":
        # Row i of a mask hides its last i places.
        return np.arange(shape[-1]) < shape[-1] - np.arange(shape[0])[:, None]
    return np.full(shape, float(kind))


def lines_of_strokes(shape, random):
    """Dark strokes on a light page, in rows: what a text detector answers to."""
    page = np.full(shape, 1.0)
    for top in range(16, shape[-2] - 32, 48):
        for left in range(24, shape[-1] - 40, 14):
            for _ in range(3):
                y, x = top + random.randint(0, 16), left + random.randint(0, 8)
                page[..., y:y + random.choice([3, 14]), x:x + random.choice([3, 8])] = -1.0
    return page


def load():
    return {name: Case(name, entry) for name, entry in json.loads((HERE / "models.json").read_text()).items()}


def select(names):
    """The cases of these names, or all. A name that ends in .json is a file like models.json whose models lie beside it. Exits with a message for any other."""
    known = load()
    if unknown := [name for name in names if name not in known and not name.endswith(".json")]:
        sys.exit(f"no model of models.json is called {', '.join(unknown)}; it has {', '.join(known)}")
    for name in names or known:
        if not name.endswith(".json"):
            yield known[name]
            continue
        file = pathlib.Path(name).resolve()
        for key, entry in json.loads(file.read_text()).items():
            yield Case(key, {**entry, "file": str(file.parent / entry["file"])})


def summary(output, of, size=0):
    """What a reference keeps of one of `of` outputs: its shape, a fixed sample, and sums over all of it."""
    flat = output.reshape(-1)
    limit = min(KEPT_VALUES_OF_ONE_OUTPUT, max(64, KEPT_VALUES // of)) // (8 if size else 1)
    places = np.arange(flat.size) if flat.size <= limit else np.random.RandomState(7).randint(0, flat.size, limit)
    wide = np.abs(flat.astype(np.float64))
    totals = [float(wide.max()), float(wide.sum())] if flat.size else [0.0, 0.0]
    return {"shape": np.array(output.shape, np.int64), "sample": flat[places], "totals": np.array(totals)}


def everything(output):
    """The same for an output that is kept whole."""
    return {**summary(output, 1), "sample": output.reshape(-1)}


def key(what, index, size):
    return f"{what}_{index}" + (f"@{size}" if size else "")
