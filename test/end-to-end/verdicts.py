#!/usr/bin/python3
"""`verify` and `same-bits` judge right: an output is equal to its own reference, and each way to be wrong is reported."""

import importlib.machinery
import importlib.util
import pathlib
import sys

import cases
import numpy as np


def load(name):
    """A program that is no module by its name."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(pathlib.Path(__file__).with_name(name)))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


verify, same_bits = load("verify"), load("same-bits")


def judge_bits():
    """Faults of the comparison of bits: each bit counts between numbers of threads, and between targets but for what is allowed."""
    right = np.array([1.0, -0.0, np.nan, 3.0], np.float32)
    near, zero, other = right.copy(), right.copy(), right.copy()
    near[3], zero[1], other[2] = np.float32(3.0000002), 0.0, 1.0
    faults = []
    for threads, array, close, wrong in [
        (True, right, 0, False), (True, near, 1, True), (True, zero, 1, True), (True, right.astype(np.float64), 1, True),
        (False, right, 0, False), (False, near, 0, True), (False, near, 1e-6, False), (False, zero, 0, True), (False, zero, 1e-9, False),
        (False, other, 1, True), (False, right.reshape(2, 2), 1, True), (False, right.view(np.int32), 1, True),
    ]:
        verdict = same_bits.Judge("model", close)
        if threads:
            verdict.compare_threads("way", [1, 2], [{"y": right}, {"y": array}])
        else:
            verdict.compare_ways("first", {"y": right})
            verdict.compare_ways("second", {"y": array})
            if len(verdict.alike) != 1 + (array.tobytes() != right.tobytes()):
                faults.append(f"{array} and {right} are taken to be {'alike' if len(verdict.alike) == 1 else 'different'}")
        if bool(verdict.conclude()) != wrong:
            faults.append(f"expected {'a difference' if wrong else 'none'} of {array} and {right}, --close {close}")
    if same_bits.can_run("amx", {"avx2"}) or not same_bits.can_run("x86-64-v3", {"avx2", "fma"}):
        faults.append("a target that the CPU cannot run is run, or one that it can is not")
    return faults


def main():
    right = np.random.RandomState(1).standard_normal((3, 9000)).astype(np.float32)
    right[0, 0] = np.nan
    small = right[1:, :100].copy()
    faults = []
    for array, change, wrong in [
        (right, lambda x: x, False),
        (small, lambda x: x * np.float32(1.00005), False),
        (small, lambda x: x * np.float32(1.001), True),
        (small, lambda x: x + np.float32(1e-3), True),
        (small, lambda x: np.where(x == x.flat[77], np.float32(np.nan), x), True),
        (small, lambda x: x[:, ::-1], True),
        (small, lambda x: x.reshape(4, 50), True),
        (right[1:], lambda x: np.concatenate([x[:1], x[1:] * 2]), True),
    ]:
        kept = cases.summary(array, 1)
        reported, *_ = verify.differences("y", np.ascontiguousarray(change(array)), kept, (1,))
        if bool(reported) != wrong:
            faults.append(f"expected {'a difference' if wrong else 'none'}: {reported}")
    faults += judge_bits()
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
