#!/usr/bin/python3
"""Twelve end-to-end models for macOS: a library of each, and the text of a program that has all of them.

Usage: macos_models.py KILN_TESTS TARGET FOLDER      KILN_TESTS: test/end-to-end. Prints the libraries, for a linker, and writes FOLDER/all.c
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
import cases  # noqa: E402


def main():
    target, folder = sys.argv[2], pathlib.Path(sys.argv[3])
    for case in cases.select(cases.DOZEN):
        command = ["kiln", case.path, f"--name={case.name}", f"--target={target}", "--system=macos", "-q", "-o", folder / case.name, *case.options()]
        subprocess.run(command, check=True)
        print(folder / case.name / f"lib{case.name}.a")
    lines = [f'#include "{name}/{name}.h"' for name in cases.DOZEN]
    lines += ['#include "kiln/runtime.h"', "", "typedef void (*Function)(void);", "const kiln_model_info *const tables[] = {" + ", ".join(f"&{name}_info" for name in cases.DOZEN) + "};"]
    lines += ["const Function functions[] = {"] + [f"  (Function){name}_{what}," for name in cases.DOZEN for what in ("run", "workspace_size", "target")]
    lines += ["  (Function)kiln_pool_create, (Function)kiln_weights_map, (Function)kiln_workspace_create,", "};"]
    lines += ["int main(int count, char **words) { return functions[count] == (Function)words || tables[count] == 0; }"]
    (folder / "all.c").write_text("\n".join(lines) + "\n")


main()
