#!/usr/bin/env python3
"""Products and convolutions with factors rounded on request, against numpy: rounded_factors.py FOLDER

Target files name steps that are written in plain C++, so that every machine with AVX2 runs them. Writes the model and NAME.why.
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402
from onnx_cases import Model, finish

random = np.random.default_rng(3)


def to_bf16(values):
    bits = np.ascontiguousarray(values, "f4").view("u4").astype("u8")
    return (((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) << 16).astype("u4").view("f4")


def to_two_terms(values):
    high = to_bf16(values)
    return high.astype("f8") + to_bf16(np.asarray(values, "f4") - high)


ROUND = {"f32": lambda x: x, "bf16": to_bf16, "f16": lambda x: x.astype("f2").astype("f4"), "bf16x2": to_two_terms}
#: Of each product; two terms leave the product of the low ones out.
BEYOND = {"f32": 0, "bf16": 0, "f16": 0, "bf16x2": 2.0**-16}


def convolve(x, weight, stride, pad, groups):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    _, _, kh, kw = weight.shape
    windows = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), (2, 3))[:, :, ::stride, ::stride]
    inputs, outputs = x.shape[1] // groups, weight.shape[0] // groups
    parts = [np.einsum("nchwij,ocij->nohw", windows[:, g * inputs:(g + 1) * inputs], weight[g * outputs:(g + 1) * outputs]) for g in range(groups)]
    return np.concatenate(parts, 1)


class Case:
    """An output; `rounds` says whether its factors are to be rounded: "padded": by steps of several rows to one term only, which get channels of zeros."""

    def __init__(self, name, compute, x, weight, rounds):
        self.name, self.compute, self.x, self.weight, self.rounds = name, compute, x, weight, rounds

    def find_fault(self, got, kind):
        """`got` must be the sum of products of rounded factors, but for the rounding of sums; and differ from that of the given factors."""
        kind = kind if self.rounds else "f32"
        compute = lambda rounded: self.compute(rounded(self.x).astype("f8"), rounded(self.weight).astype("f8"))
        size = self.compute(np.abs(self.x).astype("f8"), np.abs(self.weight).astype("f8")) + 1e-30
        off = np.max(np.abs(got - compute(ROUND[kind])) / size)
        if off > 1e-6 + BEYOND[kind]:
            return f"{self.name} as {kind}: off by {off:.2g} of the sum of magnitudes"
        far = np.max(np.abs(got - compute(ROUND["f32"])) / size)
        return f"{self.name} as {kind}: its factors were not rounded ({far:.2g})" if kind in ("bf16", "f16") and far < 1e-5 else None


def build():
    model, cases = Model(), []

    def add(label, op, x, weight, compute, rounds=True, is_constant=True, **attributes):
        inputs = [model.input(x), model.weight(weight) if is_constant else model.input(weight)]
        model.case(label, op, inputs, compute(x, weight), **attributes)
        cases.append(Case(model.nodes[-1].output[0], compute, x, weight, rounds))

    normal = lambda *shape: random.standard_normal(shape).astype("f4")
    product = lambda x, w: x @ w
    add("rows", "MatMul", normal(40, 768), normal(768, 70), product)
    add("one row", "MatMul", normal(1, 64), normal(64, 48), product)
    add("batch", "MatMul", normal(3, 7, 36), normal(36, 20), product)
    add("turned", "Gemm", normal(13, 96), normal(33, 96), lambda x, w: x @ w.T, transB=1)
    add("odd", "MatMul", normal(9, 15), normal(15, 40), product, rounds=False)
    add("narrow", "MatMul", normal(9, 16), normal(16, 3), product, rounds=False)
    add("computed", "MatMul", normal(33, 40), normal(40, 40), product, rounds=False, is_constant=False)
    for channels, filters, kernel, stride, pad, groups, rounds in ((16, 24, 1, 1, 0, 1, True), (8, 20, 3, 2, 1, 1, True), (4, 17, 5, 1, 2, 1, True),
                                                                   (3, 18, 3, 2, 1, 1, "padded"), (16, 16, 3, 1, 1, 16, False)):
        convolution = lambda x, w, stride=stride, pad=pad, groups=groups: convolve(x, w, stride, pad, groups)
        add(f"conv {channels} {filters} {kernel}", "Conv", normal(1, channels, 9, 9), normal(filters, channels // groups, kernel, kernel), convolution, rounds,
            strides=[stride] * 2, pads=[pad] * 4, group=groups)
    return model, cases


def main():
    folder, faults, right = pathlib.Path(sys.argv[1]), [], 0
    model, cases = build()
    model.save(folder / "factors.onnx", 17)
    inputs = model.save_inputs(folder)
    step = lambda kind, shape, function: [{"lhs": kind, "rhs": kind, "sum": "f32", "shape": shape, "function": function}]
    for name, steps in (("pairs", step("bf16", [1, 8, 2], "dot_bf16")), ("fours", step("bf16", [1, 8, 4], "dot_bf16_fours")),
                        ("halves", step("f16", [1, 8, 2], "dot_f16")), ("tiles", step("bf16", [16, 16, 32], "tile_bf16")),
                        ("tilesf16", step("f16", [16, 16, 32], "tile_f16"))):
        (folder / f"{name}.json").write_text(json.dumps({"name": name, "base": "x86-64-v3", "steps": steps}))
    for name, kind, other in (("pairs", "bf16", "f32"), ("fours", "bf16x2", "bf16"), ("fours", "bf16", "f32"), ("halves", "f16", "f32"), ("x86-64-v3", "f32", "bf16"),
                              ("pairs", "f32", "bf16x2"), ("tiles", "bf16x2", "bf16"), ("tiles", "bf16", "f32"), ("tilesf16", "f16", "f32")):
        target = name if name.startswith("x86") else folder / f"{name}.json"
        # What the target has no fast step for stays f32.
        asked, special = (other, None) if kind == "f32" else (kind, cases[0].name)
        options = ["--target", target, f"--compute={asked}"] + ([f"--op-compute={special}={other}"] if special else [])
        outputs = []
        for threads in (1, 2):
            done = kiln_calls.call("run", folder / "factors.onnx", *options, "--threads", str(threads), "--output-dir", folder / name, *inputs)
            if done.returncode:
                sys.exit(f"{name} {kind}: {done.stderr}")
            outputs.append([np.load(folder / name / f"{case.name}.npy") for case in cases])
        for case, got, again in zip(cases, *outputs):
            # Steps of 16 rows are not for one, and with two terms for no fewer.
            is_low = name.startswith("tiles") and case.x.ndim == 2 and len(case.x) < (16 if kind == "bf16x2" else 4)
            is_odd = case.rounds == "padded" and (not name.startswith("tiles") or kind == "bf16x2")
            fault = case.find_fault(got, "f32" if is_low or is_odd else other if case.name == special else kind)
            if got.tobytes() != again.tobytes():
                fault = f"{case.name} as {kind}: other bits with two threads"
            faults += [f"{name}: {fault}"] if fault else []
            right += not fault
        why = kiln_calls.run(folder / "factors.onnx", *options, "--why", "--emit=cpp", "-o", folder / name)
        (folder / f"{name}-{asked}.why").write_text(why.stdout + why.stderr)
    finish(faults, right)


if __name__ == "__main__":
    main()
