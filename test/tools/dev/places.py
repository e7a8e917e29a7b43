#!/usr/bin/env python3
"""Shows that tools/dev/places --check sees what it is for, in a tree that is changed in memory: places.py SOURCE"""
import importlib.machinery
import importlib.util
import pathlib
import sys

sys.dont_write_bytecode = True
root = pathlib.Path(sys.argv[1])
loader = importlib.machinery.SourceFileLoader("places", str(root / "tools/dev/places"))
places = importlib.util.module_from_spec(importlib.util.spec_from_loader("places", loader))
loader.exec_module(places)


def report(what, change, expected):
    """The faults of a tree after a change, each of which has to mention what is expected."""
    tree = places.load_tree(root)
    change(tree)
    faults = list(places.find_faults(tree))
    wrong = [fault for fault in faults if expected not in fault]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{what}: {len(faults)} fault{'s' * (len(faults) != 1)}")


def add_list(tree):
    tree.paths.append("test/new_list.py")
    tree.texts["test/new_list.py"] = " ".join(change.names[-1] for change in places.KINDS["element-wise-composite"].changes)


def forget(tree):
    tree.texts["test/dialects/nn/round-trip.mlir"] = tree.text("test/dialects/nn/round-trip.mlir").replace("nn.mish", "nn.other")


def remove(path):
    return lambda tree: tree.paths.remove(path)


report("a list of names that is new", add_list, "element-wise-composite: test/new_list.py names each of 5 changes, and is no place")
report("a test without the name", forget, "element-wise-composite: test/dialects/nn/round-trip.mlir is a place of every change, but not of Mish")
report("a file that is gone", remove("passes/target/choice/RegisterBudget.cpp"), "step: no file is called passes/target/choice/RegisterBudget.cpp")
report("a page that is gone", remove("docs/AddAPass.md"), "pass: there is no docs/AddAPass.md")
