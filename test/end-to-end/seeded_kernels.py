#!/usr/bin/python3
"""The seeded models have the kernels and composites that they are there for: what their entries `shows` stands in what --why prints for AVX-512."""

import functools
import pathlib
import sys

import cases
import library

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kiln_calls  # noqa: E402


def main():
    faults, looked = [], 0
    for name, case in cases.load().items():
        for words in case.entry.get("shows", []):
            said = explain(case)
            looked += 1
            if words not in said:
                faults.append(f"{name}: '{words}' is not in\n{said}")
    print(f"{looked} kernels looked for", *faults, sep="\n")
    return 1 if faults or looked == 0 else 0


@functools.lru_cache
def explain(case):
    return kiln_calls.Kiln(library.kiln()).run("compile", case.path, "--target=x86-64-v4", "--stop-after=kernel", "--why", *case.options()).stderr


if __name__ == "__main__":
    sys.exit(main())
