#!/usr/bin/env python3
"""`kiln verify` of seeded models with stored weights, or with rounded factors: stored_models.py weights|factors MODEL... Right kernels are found right within the
bounds of f32, wrong ones wrong. A factor that falls to the other side may move few values further."""
import json
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "end-to-end"))
import cases

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402


def verify(case, inputs, *options):
    done = kiln_calls.call("verify", str(case.path), *case.options(), *inputs, "--json", *options)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{case.name} {' '.join(options)}: {done.stderr}")
    return json.loads(done.stdout)


def make_target(folder, kind):
    """A target with a step in C++ for factors of this type."""
    step = {"lhs": kind, "rhs": kind, "sum": "f32", "shape": [1, 8, 2], "function": f"dot_{kind}"}
    path = pathlib.Path(folder) / f"{kind}.json"
    path.write_text(json.dumps({"name": "steps", "base": "x86-64-v3", "steps": [step]}))
    return f"--target={path}"


def check(case, kind, inputs, options, largest):
    own = verify(case, inputs, *options)
    worst = max(node["scaled_error"] for node in own["nodes"])
    if own["wrong"] or not worst < largest:
        sys.exit(f"{case.name} {kind}: {own['wrong']} wrong, worst {worst}: {own['verdict']}")
    if kind not in ("bf16", "int4"):
        return
    # One more than it should be, in the kernels only.
    name = next(node["value"] for node in own["nodes"] if node["kernel"] not in ("", "loops"))
    wrong = [node["value"] for node in verify(case, inputs, *options, f"--debug-wrong={name}")["nodes"] if not node["agrees"]]
    if wrong != [name]:
        sys.exit(f"{case.name} {kind}: {name} is wrong, and verify finds {wrong}")


def main():
    models = cases.load()
    what, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            inputs = []
            for key, array in models[name].inputs().items():
                np.save(f"{folder}/{key}.npy", array)
                inputs += ["--input", f"{key}={folder}/{key}.npy"]
            if what == "weights":
                for kind in ("f16", "bf16", "int8", "int4"):
                    check(models[name], kind, inputs, [f"--weights-type={kind}"], 1e-5)
            else:
                for kind in ("f16", "bf16"):
                    check(models[name], kind, inputs, [f"--compute={kind}", make_target(folder, kind)], 1e-3)
    print(len(names), "models verified")


if __name__ == "__main__":
    main()
