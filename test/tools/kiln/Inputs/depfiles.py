"""depfiles.py FOLDER CMAKE: compiles FOLDER/m.onnx under names that mean something in rules, and lets make, ninja and KilnAddModel.cmake read the depfiles."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

root, cmake = pathlib.Path(sys.argv[1]), sys.argv[2]
NAMES = ["a b", "a#b", "a$b", "a$(shell touch pwned)b", "a:b", "a\\b", "a\\ b", "a\\\\ b", "a\\#b", "a b: c", "a&b", "\u00fc"]
# What ninja has no escape for is another name to it: it builds again and again. What counts is that make runs no command.
ONLY_MAKE = {"a&b", "a\\#b"}
FUNCTION = (pathlib.Path(__file__).resolve().parents[4] / "cmake/KilnAddModel.cmake").read_text()
FUNCTION = FUNCTION[FUNCTION.index("function(_kiln_read_depfile"):FUNCTION.index("# Runs kiln unless")]


def run(*command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


for name in NAMES:
    folder = root / "work"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    model = folder / f"{name}.onnx"
    shutil.copy(root / "m.onnx", model)
    kiln = run("kiln", model.name, "-o", "lib", "--name", "m", "--emit=header", "--depfile", "m.d", "-q", folder=folder)
    assert kiln.returncode == 0, (name, kiln.stderr)
    old = time.time() - 100
    os.utime(model, (old, old))
    (folder / "Makefile").write_text("lib/m.h:\n\t@echo made; touch lib/m.h\ninclude m.d\n")
    first = run("make", folder=folder)
    assert first.returncode == 0 and "made" not in first.stdout, (name, first)
    new = time.time() + 100
    os.utime(model, (new, new))
    second = run("make", folder=folder)
    assert second.returncode == 0 and "made" in second.stdout, (name, second)
    os.utime(model, (old, old))
    (folder / "build.ninja").write_text("rule r\n  command = cp m.d n.d; touch lib/m.h\n  depfile = n.d\n  deps = gcc\nbuild lib/m.h: r\n")
    run("ninja", folder=folder)
    found = run("ninja", "-t", "deps", folder=folder).stdout
    assert (f"    {model.name}\n" in found) == (name not in ONLY_MAKE), (name, found)
    (folder / "read.cmake").write_text(FUNCTION + '_kiln_read_depfile(m.d paths)\nforeach(path IN LISTS paths)\n  message("<${path}>")\nendforeach()\n')
    read = run(cmake, "-P", "read.cmake", folder=folder).stderr
    # The function leaves doubled backslashes: the file is then another name, as to ninja.
    assert read == f"<{model.name}>\n" or "\\" in name, (name, read)
    assert not (folder / "pwned").exists() and not (folder / "pwned.onnx").exists(), name

errors = ""
for name in ("a\nb", "a;touch pwned", "a|b", "SHELL=x"):
    shutil.copy(root / "m.onnx", root / f"{name}.onnx")
    kiln = run("kiln", f"{name}.onnx", "-o", "lib", "--name", "m", "--emit=header", "--depfile", "m.d", "-q", folder=root)
    assert kiln.returncode == 1 and not (root / "m.d").exists() and not (root / "lib").exists(), kiln
    errors += kiln.stderr
(root / "errors").write_text(errors)
