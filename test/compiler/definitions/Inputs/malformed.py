"""Each definition of malformed.txt is refused with the place and the message below it. Usage: malformed.py FOLDER"""

import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
lines = (pathlib.Path(__file__).parent / "malformed.txt").read_text().splitlines()
cases = list(zip(lines[::2], lines[1::2]))
for definition, expected in cases:
    (folder / "m.kiln").write_text(definition + "\n")
    done = subprocess.run(["kiln", "ops", "m.kiln"], cwd=folder, capture_output=True, text=True)
    message = done.stderr.splitlines()
    place, text = expected.split(" ", 1)
    line, column = map(int, place.split(":"))
    want = [f"error: m.kiln:{line}:{column}: {text}", "  " + (definition if line == 1 else ""), "  " + " " * (column - 1) + "^"]
    if done.returncode != 1 or message != want:
        sys.exit(f"{definition}\nexit status {done.returncode}, got\n{done.stderr}expected\n" + "\n".join(want))
print(len(cases), "definitions refused")
