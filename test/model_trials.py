"""Trials of models that other libraries make. Each is compared with ONNX Runtime, and passes, fails or is left out.

test/classic/run, test/exports/run and test/genai/run make the models.
"""

import argparse
import importlib.util
import pathlib
import re
import subprocess
import tempfile


class LeftOut(Exception):
    """The reason why a model cannot be tried: its library cannot write it, or ONNX Runtime cannot run it."""


def make_parser(text):
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("--kiln", default="kiln", help="the program (default: that of PATH)")
    parser.add_argument("--only", default="", help="only models whose names match this expression")
    parser.add_argument("--keep", help="keep models, inputs and outputs in this folder")
    parser.add_argument("--list", action="store_true", help="print the names of the models, and run none")
    return parser


def start(path):
    """A session of ONNX Runtime."""
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def file_of(folder, name):
    """The file of an input, or of an output that kiln has written."""
    return folder / (re.sub(r"[^a-zA-Z0-9_.-]", "_", name) + ".npy")


def run_kiln(kiln, path, inputs, names, folder):
    """Kiln's outputs by name, and its message where it fails. All tensors are files in the folder, outputs in `out` below it."""
    import numpy as np
    folder.mkdir(exist_ok=True)
    command = [kiln, "run", str(path), "--output-dir", str(folder / "out")]
    for name, array in inputs.items():
        np.save(file_of(folder, name), array.astype(str) if array.dtype == object else array)
        command += ["--input", f"{name}={file_of(folder, name)}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {}, (done.stderr or done.stdout).strip()
    return {name: np.load(file_of(folder / "out", name), allow_pickle=True) for name in names}, ""


def find_fault(wanted, got, bound):
    """The first fault of kiln's outputs, or an empty text. Numbers may differ by `bound` of themselves and a tenth of it of the largest: sums in another order
    differ by a part of what they are made of."""
    import numpy as np
    for name, want in wanted.items():
        if got[name].shape != want.shape:
            return f"{name}: shape {got[name].shape}, expected {want.shape}"
        if want.dtype.kind != "f":
            if not np.array_equal(got[name], want):
                return f"{name}: {np.sum(got[name] != want)} of {want.size} differ"
            continue
        largest = np.abs(want).max(initial=0)
        if not np.allclose(got[name], want, bound, bound / 10 * largest):
            return f"{name}: off by {np.abs(got[name] - want).max():.3g}, where the largest number is {largest:.3g}"
    return ""


def first_line(error):
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0][:200] if text else ''}"


def try_all(options, packages, attempt, close=lambda: None):
    """`packages`: those that each model needs, by its name. `attempt` takes a name and a folder, returns what is wrong, and may raise LeftOut. Prints a line
    for each model that fails or is left out, and the counts last, after `close`. Returns the exit status."""
    chosen = {name: needed for name, needed in packages.items() if re.search(options.only, name)}
    if options.list:
        print("\n".join(chosen))
        return 0
    counts = {"passed": 0, "failed": 0, "left out": 0}
    with tempfile.TemporaryDirectory() as temporary:
        for name, needed in chosen.items():
            absent = [package for package in needed if importlib.util.find_spec(package) is None]
            folder = pathlib.Path(options.keep or temporary) / name.replace(" ", "_")
            folder.mkdir(parents=True, exist_ok=True)
            try:
                if absent:
                    raise LeftOut("needs " + ", ".join(absent))
                reason = attempt(name, folder)
                kind = "failed" if reason else "passed"
            except LeftOut as left_out:
                kind, reason = "left out", str(left_out)
            counts[kind] += 1
            if reason:
                print(f"{kind.upper()} {name}: {reason}", flush=True)
    close()
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()))
    return 1 if counts["failed"] else 0
