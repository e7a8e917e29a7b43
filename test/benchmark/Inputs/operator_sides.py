"""Measures Kiln's side of some nodes of the race of operators. Usage: operator_sides.py SCRIPT BUILD FOLDER"""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

loader = importlib.machinery.SourceFileLoader("race_of_operators", sys.argv[1])
benchmark = importlib.util.module_from_spec(importlib.util.spec_from_loader("race_of_operators", loader))
loader.exec_module(benchmark)

for label, type, size in (("Add", "f32", 0), ("NonZero", "i64", 1), ("com.microsoft.MatMulNBits", "f32", 0)):
    folder = pathlib.Path(sys.argv[3]) / f"{label}-{size}"
    folder.mkdir(parents=True, exist_ok=True)
    race = benchmark.Race(label, "", type, size, benchmark.operator_nodes.draw_node(label, 0, type, size))
    race.write(folder)
    subprocess.run(["kiln", race.path, "-q", "-o", folder, "--name=model", "--emit=so"], check=True)
    side = benchmark.racing.Side([f"{sys.argv[2]}/bin/kiln_rounds", folder / "libmodel.so", "model", 1, *race.arguments], benchmark.racing.first_cpus(1))
    print(f"{race.node.op} {type} {benchmark.SIZES[size]}: {side.measure(0.001)}")
    side.close()
