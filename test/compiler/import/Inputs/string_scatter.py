"""Runs scatters of strings and compares them with what the definitions of the operators say. Usage: string_scatter.py FOLDER TARGET"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

folder, target = sys.argv[1:]
PAST = np.array([f"p{i}" for i in range(8)]).reshape(2, 4, 1)
UPDATE = np.array(["", "a text that is longer than its place", "ü中", "x"]).reshape(2, 2, 1)
given = {"past": PAST, "update": UPDATE, "at": np.array([2, 0]), "round": np.array([3, 1]),
         "rows": np.array([3, -4, 0, -1]).reshape(2, 2, 1), "n": np.array([[-1], [0]])}
expected = {"linear": [["p0", "p1", "", UPDATE[0, 1, 0]], ["ü中", "x", "p6", "p7"]],
            "circular": [[UPDATE[0, 1, 0], "p1", "p2", ""], ["p4", "ü中", "x", "p7"]],
            "elements": [[UPDATE[0, 1, 0], "p1", "p2", ""], ["ü中", "p5", "p6", "x"]],
            "nd": [["p4", "p5", "p6", "p7"], ["p0", "p1", "p2", "p3"]]}
for name, array in given.items():
    np.save(f"{folder}/{name}.npy", array)
kiln_calls.run("run", f"{folder}/m.onnx", f"--target={target}", "--threads=2", "--output-dir", folder,
               *(f"--input={name}={folder}/{name}.npy" for name in given))
for name, rows in expected.items():
    found = np.load(f"{folder}/{name}.npy")[..., 0].tolist()
    assert found == rows, (name, found, rows)
