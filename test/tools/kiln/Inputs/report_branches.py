"""What a report says of branches, loops and versions: report_branches.py FOLDER."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
typical, given = (json.loads((folder / f"{name}.json").read_text()) for name in ("typical", "given"))
nodes = given["graph"]["nodes"]


def find(compile_, report, operator):
    return [launch for launch in compile_["launches"] if any(report["graph"]["nodes"][node]["op"] == operator for node in launch["nodes"])]


(compile_,) = given["compiles"]
assert compile_["counted_for"] == {"N": 16}
for operator in ("Tanh", "Exp"):
    (launch,) = find(compile_, given, operator)
    assert launch["conditional"] and "calls" not in launch and launch["flops"] >= 16, launch
    assert [compile_["buffers"][number]["name"] for number in launch["reads"]] == ["x"], launch
print("tanh and exp run if a condition holds")
looping = find(compile_, given, "Sqrt")
assert looping and all(launch["calls"] == -1 for launch in looping), looping
looped = [i for i, each in enumerate(compile_["launches"]) if each.get("calls") == -1]
# What the loop reads of the values before it stays in use until its last launch.
shared = [b for b in compile_["buffers"] if b["kind"] == "arena" and b["first"] < looped[0] <= b["last"]]
assert shared and all(buffer["last"] >= looped[-1] for buffer in shared), (looped, shared)
assert all(b["bytes"] == 64 for b in compile_["buffers"] if b["name"] in ("x", "z")), compile_["buffers"]
print("sqrt runs as often as a loop, whose buffers are in use throughout")
general, special = typical["compiles"]
assert general["sizes"] == "" and "8" in special["sizes"], special["sizes"]
(launch,) = find(special, typical, "Exp")
assert "f32[8]" in special["kernels"][launch["kernel"]]["shapes"], special["kernels"][launch["kernel"]]
print("the general version counts N as", str(general["counted_for"]["N"]) + ", the special one has 8")
