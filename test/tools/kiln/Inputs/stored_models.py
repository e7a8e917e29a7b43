#!/usr/bin/env python3
"""`kiln verify` of seeded models with stored weights: stored_models.py MODEL... Right kernels are found right within the bounds of f32, wrong ones wrong."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "end-to-end"))
import cases


def verify(case, inputs, *options):
    done = subprocess.run(["kiln", "verify", str(case.path), *case.options(), *inputs, "--json", *options], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{case.name} {' '.join(options)}: {done.stderr}")
    return json.loads(done.stdout)


def check(case, kind, inputs):
    own = verify(case, inputs, f"--weights-type={kind}")
    worst = max(node["scaled_error"] for node in own["nodes"])
    if own["wrong"] or not worst < 1e-5:
        sys.exit(f"{case.name} {kind}: {own['wrong']} wrong, worst {worst}: {own['verdict']}")
    if kind not in ("bf16", "int4"):
        return
    # One more than it should be, in the kernels only.
    name = next(node["value"] for node in own["nodes"] if node["kernel"].startswith(("gemm", "conv", "winograd")))
    wrong = [node["value"] for node in verify(case, inputs, f"--weights-type={kind}", f"--debug-wrong={name}")["nodes"] if not node["agrees"]]
    if wrong != [name]:
        sys.exit(f"{case.name} {kind}: {name} is wrong, and verify finds {wrong}")


def main():
    models = cases.load()
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:]:
            inputs = []
            for key, array in models[name].inputs().items():
                np.save(f"{folder}/{key}.npy", array)
                inputs += ["--input", f"{key}={folder}/{key}.npy"]
            for kind in ("f16", "bf16", "int8", "int4"):
                check(models[name], kind, inputs)
    print(len(sys.argv) - 1, "models verified")


if __name__ == "__main__":
    main()
