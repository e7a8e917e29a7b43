"""Compares the outputs of runs in folders of one folder with those of the first: y within rounding, z bit by bit."""

import sys

import numpy as np

folder, first, *others = sys.argv[1:]
load = lambda run, name: np.load(f"{folder}/{run}/{name}.npy")
assert abs(load(first, "y").sum() - 1) < 1e-5 and load(first, "z").any()
for run in others:
    error = np.abs(load(run, "y") - load(first, "y")).max()
    assert error < 1e-6, (run, error)
    assert (load(run, "z") == load(first, "z")).all(), run
