#!/usr/bin/env python3
"""Edits the steps of plans by hand, runs the result and compares it with numpy: edited_steps.py FOLDER"""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
from contractions import convolve

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(5)
# The function falls back to plain C++, so any AVX2 machine runs this.
STEP = {"lhs": "u8", "rhs": "i8", "sum": "i32", "shape": [1, 8, 4], "function": "dot_u8s8"}
FLOATS = {"lhs": "bf16", "rhs": "bf16", "sum": "f32", "shape": [1, 8, 2], "function": "dot_bf16"}
KERNELS = ["gemm_bytes", "conv_bytes", "depthwise_bytes"]
# What the step becomes, and why the kernel refuses that.
FAULTS = [("dot_u8s9", "whose sums are i32 and whose function is 'dot_u8s9'"), ("dot_bf16", "the target has no step for ui8 and i8"), ("", "needs a step")]


def tensor(array, kind):
    return f"tensor<{''.join(f'{size}x' for size in array.shape)}{kind}>"


def constant(array):
    return f'dense<"0x{array.tobytes().hex().upper()}"> : {tensor(array, "i8")}'


def save_model(rows, right, image, filters, channelwise):
    exact = [rows.astype(np.int64) @ right, *(convolve(image, w, (1, 1), (1, 1), groups).astype(np.int64) for w, groups in ((filters, 1), (channelwise, 16)))]
    args = [tensor(rows, "ui8"), tensor(image, "ui8")]
    results = [tensor(value, "i32") for value in exact]
    conv = lambda name, w, groups, result: (f"    {name} = nn.conv %x, %w{groups} strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups {groups} layout channels_last"
                                            f" : {args[1]}, {tensor(w, 'i8')} -> {result}")
    lines = [f"    %r = nn.constant {constant(right)}", f"    %w1 = nn.constant {constant(filters)}", f"    %w16 = nn.constant {constant(channelwise)}",
             f"    %y0 = nn.matmul %a, %r : {args[0]}, {tensor(right, 'i8')} -> {results[0]}", conv("%y1", filters, 1, results[1]),
             conv("%y2", channelwise, 16, results[2]), f"    return %y0, %y1, %y2 : {', '.join(results)}"]
    outputs = ", ".join(f'{kind} {{nn.name = "y{i}"}}' for i, kind in enumerate(results))
    (folder / "model.mlir").write_text('module attributes {nn.model = "steps"} {\n'
                                       f'  func.func @main(%a: {args[0]} {{nn.name = "a"}}, %x: {args[1]} {{nn.name = "x"}}) -> ({outputs}) {{\n'
                                       + "\n".join(lines) + "\n  }\n}\n")
    return exact


def main():
    rows, image = random.integers(0, 256, (29, 24), np.uint8), random.integers(0, 256, (1, 9, 10, 16), np.uint8)
    right, filters, channelwise = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((24, 33), (20, 16, 3, 3), (16, 1, 3, 3)))
    exact = save_model(rows, right, image, filters, channelwise)
    np.save(folder / "a.npy", rows), np.save(folder / "x.npy", image)
    (folder / "t.json").write_text(json.dumps({"name": "t", "base": "x86-64-v3", "steps": [STEP, FLOATS]}))
    planned = folder / "planned.mlir"
    stages = [f"--kiln-set-target=name={folder}/t.json", "--kiln-graph", "--kiln-target"]
    subprocess.run(["kiln-opt", folder / "model.mlir", *stages, "-o", planned], check=True)
    text = planned.read_text()
    for kernel in KERNELS:
        pattern = rf'(kernel = "{kernel}"[^>]*), step = "dot_u8s8"'
        assert len(re.findall(pattern, text)) == 1, (kernel, text)
        for function, fault in FAULTS:
            (folder / "wrong.mlir").write_text(re.sub(pattern, rf'\g<1>, step = "{function}"' if function else r"\g<1>", text))
            refused = kiln_calls.call(folder / "wrong.mlir", "-o", folder / "wrong")
            assert refused.returncode == 1 and f"kernel '{kernel}' " in refused.stderr and fault in refused.stderr, (kernel, refused.stderr)
    for name, edited in (("own", text), ("edited", text.replace('step = "dot_u8s8"', 'step = "dot_u8s8_pairs"'))):
        (folder / f"{name}.mlir").write_text(edited)
        kiln_calls.run(folder / f"{name}.mlir", "-q", "-o", folder / name, "--name=m", "--emit=cpp")
        code = "".join(file.read_text() for file in sorted((folder / name / "src").glob("m*kernels*.cpp")))
        assert ("dot_u8s8_pairs<" in code) == (name == "edited") and ("dot_u8s8<" in code) == (name == "own"), name
        kiln_calls.run("run", folder / f"{name}.mlir", "-q", f"--input=a={folder}/a.npy", f"--input=x={folder}/x.npy", "--output-dir", folder / name)
        for i, values in enumerate(exact):
            assert np.array_equal(np.load(folder / name / f"y{i}.npy"), values), (name, i)
    print(f"steps of {len(KERNELS)} kernels edited")


main()
