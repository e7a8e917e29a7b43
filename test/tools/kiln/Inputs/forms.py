#!/usr/bin/env python3
"""Compiles and verifies a model with each form of its 3x3 convolution: forms.py PROFILE FOLDER MODEL."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

profile, folder, model = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2]), sys.argv[3]
entry = next(e for e in profile["entries"] if e["work"].startswith("conv 3x3"))
print(entry["work"])


def compile_with(kernel, tile=None):
    """The kernel of the convolution, as the compile says it."""
    path = folder / "form.profile"
    path.write_text(json.dumps({"kiln_profile": 2, "entries": [entry | {"plan": {"kernel": kernel} | ({"winograd": tile} if tile else {})}]}))
    why = kiln_calls.run(model, "--profile", path, "-o", folder / "form", "--why").stderr
    checked = kiln_calls.run("verify", model, "--profile", path).stdout
    assert "ok" in checked, checked
    return re.search(r"Relu\): (conv_\w+|winograd_\w+)", why).group(1)


for form in (["conv_tiled"], ["winograd_tiles", 2], ["winograd_tiles", 4], ["winograd_columns", 2], ["winograd_columns", 4]):
    print(*form, sep=" ", end=f": {compile_with(*form)}\n")
# A name of another version says nothing.
own = re.search(r"Relu\): (conv_\w+|winograd_\w+)", kiln_calls.run(model, "-o", folder / "form", "--why").stderr).group(1)
assert compile_with("winograd_rows", 2) == own
print("winograd_rows 2: the cost model's")
