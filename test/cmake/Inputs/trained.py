"""Inputs of end-to-end models for trained-project, and the check of what its programs computed.

Usage: trained.py write|check FOLDER END_TO_END NAME...    writes NAME.in and prints the options of CMake, or compares NAME.out and NAME_text.out with ONNX Runtime's results
"""
import importlib.machinery
import importlib.util
import pathlib
import sys

import numpy as np

do, folder, end_to_end = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
sys.path.insert(0, end_to_end)
sys.dont_write_bytecode = True
import cases  # noqa: E402

loader = importlib.machinery.SourceFileLoader("verify", f"{end_to_end}/verify")
verify = importlib.util.module_from_spec(importlib.util.spec_from_loader("verify", loader))
loader.exec_module(verify)

for case in cases.select(sys.argv[4:]):
    if do == "write":
        (array,) = case.inputs().values()
        (folder / f"{case.name}.in").write_bytes(array.tobytes())
        print(f"-D{case.name}_MODEL={case.path}", f"-D{case.name}_OPTIONS={';'.join(case.options())}", sep="\n")
        continue
    ((name, (kept, of)),) = verify.References(case, live=False).get(0).items()
    for file in (f"{case.name}.out", f"{case.name}_text.out"):
        output = np.frombuffer((folder / file).read_bytes(), np.float32).reshape(kept["shape"])
        faults, bound, _ = verify.differences(name, output, kept, of)
        assert not faults, f"{file}: {faults}"
        print(f"{file}: {output.size} values, the largest error {bound:.2f} of the bound")
