#!/usr/bin/env python3
"""What kiln inspect says of quantised tensors, of each of these files."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

EXPECTED = {
    "x": {"scales": [0.5], "zero_points": [128]},
    "v": {"scales": [0.1, 0.2, 0.3], "zero_points": [0, 1, -2], "axis": 1},
    "twice": None,
    "kept": None,
    "y": {"scales": [0.25], "zero_points": [-3]},
    "w": {"scales": [0.5, 0.125], "zero_points": [0, 7], "axis": 0},
    "z": None,
}

for path in sys.argv[1:]:
    description = json.loads(kiln_calls.run("inspect", path, "--json").stdout)
    found = {tensor["name"]: tensor.get("quantization") for tensor in description["inputs"] + description["outputs"]}
    if found != EXPECTED:
        sys.exit(f"{path}: {found}")
