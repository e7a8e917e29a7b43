"""Runs corners.py on the models of all tests that have dynamic dimensions.

corners_suite.py TESTS FOLDER    TESTS: the folder of the tests; FOLDER: for what is compiled
"""

import pathlib
import re
import subprocess
import sys

# What the driver of corners.py cannot call, and why.
LEFT_OUT = {
    "compiler/emit/placeholder-names.onnxtxt": "a dimension and an input have one name, so that their setters have others",
    "tools/kiln/inspect-refused.onnxtxt": "it is refused",
    "tools/kiln/inspect-windows.onnxtxt": "it is refused",
    "tools/kiln/runner.onnxtxt": "strings",
    "tools/kiln/sequences.onnxtxt": "sequences have no shape",
    "tools/kiln/strings.onnxtxt": "strings",
    "web/runner.onnxtxt": "strings",
}


def main():
    tests, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    corners, names = pathlib.Path(__file__).with_name("corners.py"), set(LEFT_OUT)
    ran = 0
    for path in sorted(tests.rglob("*.onnxtxt")):
        name = str(path.relative_to(tests))
        text = re.sub(r"//.*", "", path.read_text())
        if not re.search(r"\w\[[^\]]*[A-Za-z_][^\]]*\]", text):
            continue
        if name in LEFT_OUT:
            names.discard(name)
            continue
        model = folder / "model.onnx"
        # Models that kiln refuses, or that are no model, are other tests'.
        if subprocess.run(["onnx-from-text", path, model], stderr=subprocess.DEVNULL).returncode:
            continue
        done = subprocess.run([sys.executable, corners, model, folder / "out"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"{name}: {done.stdout}")
        ran += "corners:" in done.stdout
        print(f"{name}: {done.stdout.strip()}")
    if names:
        sys.exit(f"left out, but not there: {', '.join(sorted(names))}")
    print(f"{ran} models ran at their corners")


main()
