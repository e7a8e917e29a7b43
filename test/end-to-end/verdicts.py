#!/usr/bin/python3
"""`verify` judges right: an output is equal to its own reference, and each way to be wrong is reported."""

import importlib.machinery
import importlib.util
import pathlib
import sys

import cases
import numpy as np

loader = importlib.machinery.SourceFileLoader("verify", str(pathlib.Path(__file__).with_name("verify")))
verify = importlib.util.module_from_spec(importlib.util.spec_from_loader("verify", loader))
loader.exec_module(verify)


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
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
