#!/usr/bin/env python3
"""Compiles models with the pipeline as it is and without its canonicalizer, and compares what they compute: without_canonicalization.py FOLDER MODEL...

A model that is not there is left out; one of this file's own making is always there.
"""
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from onnx_cases import Model, kiln

# What a model is compiled with, and what it is given.
OPTIONS = {"ppocr_cls": ["--shape=x=1x3x48x96"], "tract_byte_bidi_lstm": ["--shape=input=1x9"], "digits": ["--dim=batch=2"]}
FILLS = {"own": "x0=normal", "digits": "image=uniform:0:16", "ppocr_cls": "x=normal", "mnist_mlir": "image=uniform:0:1", "tract_byte_bidi_lstm": "input=randint:32:127"}


def opt(*arguments):
    return subprocess.run(["kiln-opt", *map(str, arguments)], capture_output=True, text=True)


def pipeline(stage, path):
    """The passes of a stage as text, without the canonicalizer; how many of it there were."""
    listed = opt(path, f"--kiln-{stage}", "--dump-pass-pipeline", "-o", "/dev/null").stderr
    text = re.search(r"builtin\.module\(.*\)", listed, re.S)[0]
    text, count = re.subn(r"canonicalize(\{[^}]*\})?,?", "", text)
    return re.sub(r",\s*\)", ")", text), count


def own_model(path):
    """What canonical forms are about: reshapes of reshapes, transposes there and back, broadcasts of numbers, slices of everything."""
    random = np.random.default_rng(1)
    model = Model()
    x, w = model.input(random.standard_normal((2, 3, 8))), model.weight(random.standard_normal((8, 8)))
    zeros = np.zeros((2, 3, 8))
    chain = [("Reshape", [x, model.weight(np.array([6, 8]), "i8")], {}), ("MatMul", [None, w], {}), ("Reshape", [None, model.weight(np.array([2, 3, 8]), "i8")], {}),
             ("Transpose", [None], {"perm": [0, 2, 1]}), ("Transpose", [None], {"perm": [0, 2, 1]}), ("Mul", [None, model.weight(np.array(0.5))], {}),
             ("Softmax", [None], {"axis": 1}), ("Concat", [None], {"axis": 0}), ("Expand", [None, model.weight(np.array([2, 3, 8]), "i8")], {})]
    for op, inputs, attributes in chain:
        inputs = [list(model.expected)[-1] if name is None else name for name in inputs]
        model.case(op, op, inputs, zeros.reshape(6, 8) if op == "MatMul" or "Reshape_0" in op else zeros, **attributes)
    del model.outputs[:-1]
    model.save(path, opset=17)


def import_whole(path, options):
    """The IR after import, constants in full, for the target that kiln puts on it."""
    ir = subprocess.run(["kiln-import", "--whole", path, *options], capture_output=True, text=True, check=True).stdout
    target = re.search(r"kernel\.target = #kernel\.target<.*?\](?: tuned <[^>]*>)?>(?=[,}])", kiln(path, "--target=x86-64-v3", "--stop-after=import", "-o", "-", *options))[0]
    return ir.replace("module attributes {", f"module attributes {{{target}, ", 1)


def run(path, fill, folder, arguments):
    kiln("run", path, "--seed=3", f"--input={fill}", "--output-dir", folder, *arguments)
    return {file.name: np.load(file) for file in sorted(folder.glob("*.npy"))}


def main():
    folder, removed = pathlib.Path(sys.argv[1]), 0
    own_model(folder / "own.onnx")
    models = [folder / "own.onnx"] + [path for path in map(pathlib.Path, sys.argv[2:]) if path.exists()]
    for path in models:
        options, ir = OPTIONS.get(path.stem, []), folder / f"{path.stem}.mlir"
        ir.write_text(import_whole(path, options))
        for stage in ("graph", "target", "kernel"):
            text, count = pipeline(stage, ir)
            removed += count
            before, ir = ir, folder / f"{path.stem}_{stage}.mlir"
            done = opt(before, f"--pass-pipeline={text}", "-o", ir)
            if done.returncode:
                sys.exit(f"{path.name}: {stage}: {done.stderr[:2000]}")
        fill = FILLS[path.stem]
        expected = run(path, fill, folder / f"{path.stem}_with", ["--target=x86-64-v3", *options])
        got = run(ir, fill, folder / f"{path.stem}_without", ["--target=x86-64-v3"])
        for name, exact in expected.items():
            if not np.allclose(got[name], exact, 1e-4, 1e-5):
                sys.exit(f"{path.name}: '{name}' differs by {np.max(np.abs(got[name] - exact))}")
    # Two in the graph stage, one in the kernel stage: a test that removes nothing would show nothing.
    if removed != 3 * len(models):
        sys.exit(f"{removed} canonicalizers were removed from the pipelines of {len(models)} models, expected 3 each")
    print(f"{len(models)} models agree")


if __name__ == "__main__":
    main()
