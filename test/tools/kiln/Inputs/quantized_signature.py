#!/usr/bin/env python3
"""What kiln inspect says of quantised tensors, of each of these files."""
import json
import subprocess
import sys

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
    description = json.loads(subprocess.run(["kiln", "inspect", path, "--json"], capture_output=True, check=True).stdout)
    found = {tensor["name"]: tensor.get("quantization") for tensor in description["inputs"] + description["outputs"]}
    if found != EXPECTED:
        sys.exit(f"{path}: {found}")
