#!/usr/bin/env python3
"""The snippets of a page are parts of the files that it explains, line by line: snippets.py PAGE FOLDER. Those on what is not installed here are left out."""

import pathlib
import re
import sys

page, folder = map(pathlib.Path, sys.argv[1:])
files = [[line.strip() for line in path.read_text().splitlines()] for path in folder.rglob("*") if path.is_file() and b"\0" not in path.read_bytes()[:4096]]
count, faults = 0, []
for snippet in re.findall(r"^```(?:c|cpp|cmake|python)\n(.*?)^```", page.read_text(), re.M | re.S):
    lines = [line.strip() for line in snippet.splitlines()]
    if "import skl2onnx" in lines:
        continue
    count += 1
    # In one file, in this order.
    def follows(file):
        rest = iter(file)
        return all(line in rest for line in lines)
    if not any(follows(file) for file in files):
        faults.append(f"{page.name}: no file has {lines[0]}")
print(*faults, f"{count} snippets", sep="\n")
sys.exit(1 if faults else 0)
