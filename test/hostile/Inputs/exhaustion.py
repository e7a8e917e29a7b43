#!/usr/bin/env python3
"""Compiles that run out of memory, disk or time end in an orderly way. Usage: exhaustion.py FOLDER FAILING_MALLOC.so [STEPS]

Memory: from one allocation on, all fail, at STEPS places of each compile; the answer is one line, status 1 and nothing written. Disk: files may not grow
over a size. Signals: at many moments of a compile; no file is there in part, whatever the signal. Each signal must have met a compile at least once.
"""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from onnx_cases import Model

WHOLE = {"m.h", "m.hpp", "libm.a", "m.pc", "m-config.cmake"}


def node(model, op, inputs, dims=None, **attributes):
    model.case(op, op, inputs, np.zeros(dims or (1,)), dims=dims, **attributes)


def build(folder):
    """Five models: element-wise, convolution, attention, recurrence, control flow."""
    rng = np.random.default_rng(3)
    models = {name: Model() for name in ("elementwise", "convolution", "attention", "recurrence", "control")}
    node(models["elementwise"], "Gelu", [models["elementwise"].input(rng.random((2, 300)))], [2, 300])
    image = models["convolution"].input(rng.random((1, 8, 16, 16)))
    node(models["convolution"], "Conv", [image, models["convolution"].weight(rng.random((16, 8, 3, 3)))], [1, 16, 14, 14])
    q, k, v = (models["attention"].input(rng.random((1, 2, 16, 8))) for _ in range(3))
    node(models["attention"], "Attention", [q, k, v], [1, 2, 16, 8])
    steps = models["recurrence"].input(rng.random((4, 1, 8)))
    weights = [models["recurrence"].weight(rng.random((1, 32, 8))) for _ in range(2)]
    models["recurrence"].nodes.append(helper.make_node("LSTM", [steps, *weights], ["all", "last"], hidden_size=8))
    node(models["recurrence"], "Relu", ["last"], [1, 1, 8])
    control = models["control"]
    x, c = control.input(rng.random((2, 3))), control.input(np.array(True), "?")
    bodies = [helper.make_graph([helper.make_node(op, [x], [op])], op, [], [helper.make_tensor_value_info(op, TensorProto.FLOAT, None)]) for op in ("Exp", "Neg")]
    node(control, "If", [c], [2, 3], then_branch=bodies[0], else_branch=bodies[1])
    for name, model in models.items():
        model.save(folder / f"{name}.onnx", opset=23)
    return [folder / f"{name}.onnx" for name in models]


def compiling(model, out):
    return ["kiln", str(model), "-o", str(out), "--name", "m", "--target=generic", "--jobs=2", "--no-cache", "-q"]


def run(command, **environment):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "no end", ""
    return done.returncode, done.stderr


def count(command, library, folder):
    run(command, LD_PRELOAD=library, COUNT_TO=str(folder / "count"))
    return int((folder / "count").read_text())


def without_memory(model, library, steps, folder):
    """(what went wrong, failures met) with allocations that fail."""
    first = count(["kiln", "--version"], library, folder)
    last = count(compiling(model, folder / "whole"), library, folder)
    faults, met = [], 0
    for step in range(steps):
        at = first + 200 + (last - first) * step // steps
        with tempfile.TemporaryDirectory(dir=folder) as out:
            status, text = run(compiling(model, f"{out}/lib"), LD_PRELOAD=library, FAIL_FROM=str(at))
            left = os.listdir(out)
        met += status == 1
        if not (status == 1 and "error: " in text and not left):
            faults.append(f"{model.stem}, allocation {at} of {last}: status {status}, left {left}: {text.strip()[-300:]}")
    return faults, met


def without_disk(model, folder):
    """Files may have some size at most: fewer bytes than the library, so that writing fails in the middle."""
    faults, met = [], 0
    for limit in (0, 512, 4096, 16384):
        with tempfile.TemporaryDirectory(dir=folder) as out:
            limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            done = subprocess.run(compiling(model, f"{out}/lib"), capture_output=True, text=True, preexec_fn=limited)
            left = os.listdir(out)
        met += 1
        if done.returncode != 1 or "error: cannot write" not in done.stderr or left:
            faults.append(f"{model.stem}, {limit} bytes a file: status {done.returncode}, left {left}: {done.stderr[-300:]}")
    return faults, met


def interrupted(model, folder, number, steps):
    """All files or none; SIGKILL, which no program sees, may leave temporary ones besides."""
    start = time.monotonic()
    run(compiling(model, folder / "timed"))
    whole = time.monotonic() - start
    faults, met = [], 0
    for step in range(steps):
        with tempfile.TemporaryDirectory(dir=folder) as out:
            # A shell in the background ignores SIGINT, and Kiln then does as well.
            child = subprocess.Popen(compiling(model, f"{out}/lib"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     preexec_fn=lambda: signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None)
            time.sleep(whole * (step + 0.5) / steps)
            child.send_signal(number)
            status = child.wait()
            made = pathlib.Path(out) / "lib"
            names = {path.name for path in made.iterdir()} if made.exists() else set()
        if number == signal.SIGKILL:
            names = {name for name in names if not name.endswith(".part")}
        met += status != 0
        some = names and names != WHOLE and number != signal.SIGKILL
        if status not in (0, -number, 128 + number) or names - WHOLE or some:
            faults.append(f"{model.stem}, signal {number} at {step} of {steps}: status {status}, left {sorted(names)}")
    if met == 0:
        faults.append(f"{model.stem}, signal {number}: none of {steps} compiles was interrupted")
    return faults, met


def main():
    folder, library, steps = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 8
    folder.mkdir(parents=True, exist_ok=True)
    models = build(folder)
    results = [without_memory(model, library, steps, folder) for model in models]
    results += [without_disk(models[1], folder)]
    results += [interrupted(models[1], folder, number, steps) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)]
    faults = [fault for more, _ in results for fault in more]
    if faults:
        sys.exit("\n".join(faults))
    print(f"{sum(met for _, met in results[:5])} compiles out of memory, {results[5][1]} out of disk, {sum(met for _, met in results[6:])} interrupted")


if __name__ == "__main__":
    main()
