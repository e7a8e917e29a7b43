"""Runs kiln's commands on files that are full of control characters, and checks that none reaches the output. Usage: foreign_text.py FOLDER"""
import json
import pathlib
import subprocess
import sys
import unicodedata

import numpy as np
import onnx

folder = pathlib.Path(sys.argv[1])
CODE = "\x1b[31m\x1b]0;title\x07\u009b\u202e\u2028\r\b\nerror: forged"
model = onnx.load(folder / "m.onnx")


def rename(old):
    return old + CODE


for value in [*model.graph.input, *model.graph.output]:
    value.name = rename(value.name)
    for dim in value.type.tensor_type.shape.dim:
        if dim.dim_param:
            dim.dim_param = rename(dim.dim_param)
for node in model.graph.node:
    node.name = rename(node.op_type)
    node.input[:] = [rename(name) for name in node.input]
    node.output[:] = [rename(name) for name in node.output]
onnx.save(model, str(folder / "named.onnx"))
bad_operator = onnx.ModelProto()
bad_operator.CopyFrom(model)
bad_operator.graph.node[0].op_type = rename("Neg")
onnx.save(bad_operator, str(folder / "operator.onnx"))
np.save(folder / "x.npy", np.zeros((2, 4), np.float32))
# Latin-1, which is no UTF-8, in IR: its printer has no rule for names of arguments.
text = '''module attributes {nn.model = "ir", nn.symbols = []} {
  func.func @main(%x: tensor<4xf32> {nn.name = "x\\1B[31m\\FF"}) -> (tensor<4xf32> {nn.name = "y\\1B\\FF"}) {
    %y = nn.exp %x : tensor<4xf32> loc("node\\1B[31m\\FF(Exp)")
    return %y : tensor<4xf32>
  }
}
'''
(folder / "named.mlir").write_text(text)
(folder / "broken.mlir").write_text("module { \x1b[31m\x07\n")
(folder / "target\x1b[31m.json").write_text("{")
(folder / "p.json").write_text(json.dumps({"kiln_profile": 2, "entries": [{"target": "t", "work": CODE, "plan": {"kernel": ""}}]}))
(folder / "t.json").write_text(json.dumps({"name": "t", rename("field"): 1}))
(folder / "h.npy").write_bytes(b"\x93NUMPY\x01\0\x20\0{" + b"\x1b[31m\xff\n" * 4)
RUN = ["--run-dim", rename("N") + "=2", "--target=generic"]
COMMANDS = {
    # command: exit status
    ("named.onnx", "-o", "o", "--why", "-v"): 0, ("inspect", "named.onnx"): 0, ("inspect", "named.onnx", "--json"): 0, ("inspect", "o/libnamed.a"): 0,
    ("inspect", "o/libnamed.a", "--json"): 0, ("named.onnx", "-o", "o", "--json"): 0, ("inspect", "stripped.a"): 0, ("inspect", "stripped.a", "--json"): 0,
    ("run", "named.onnx", "--input", rename("x") + "=x.npy", "--output-dir", "o", "-v", "--target=generic"): 0,
    ("run", "named.onnx", "--input", rename("x") + "=x.npy", "--output-dir", "o", "--json", "--target=generic"): 0,
    ("run", "named.onnx", "--output-dir", "o"): 1, ("run", "named.onnx", "--output-dir", "o", "--json"): 1,
    ("run", "named.onnx", "--output-dir", "o", "--input", rename("x") + "=h.npy"): 1, ("run", "named.onnx", "--output-dir", "o", "--input", "q=1"): 1,
    ("run", "named.onnx", "--output-dir", "o", "--input", rename("x") + "=" + CODE): 1,
    ("verify", "named.onnx", "--nodes=all", *RUN): 0, ("verify", "named.onnx", "--json", *RUN): 0,
    ("verify", "named.onnx", "--debug-wrong=" + rename("y"), *RUN): 1, ("bench", "named.onnx", "--min-time=0", *RUN): 0,
    ("bench", "named.onnx", "--min-time=0", "--json", *RUN): 0, ("tune", "named.onnx", "-o", "o/profile", "--rounds=1", *RUN): 0,
    ("operator.onnx", "-o", "o"): 1, ("operator.onnx", "-o", "o", "--json"): 1, ("broken.mlir", "-o", "o"): 1,
    ("named.mlir", "-o", "o", "--why"): 0, ("inspect", "named.mlir"): 0, ("inspect", "named.mlir", "--json"): 0, ("named.mlir", "-o", "o", "--json"): 0,
    ("bench", "named.mlir", "--min-time=0", "--json", "--target=generic"): 0, ("verify", "named.mlir", "--json", "--target=generic"): 1,
    ("named.onnx", "-o", "o", "--target=target\x1b[31m.json"): 1, ("named.onnx", "-o", "o", "--profile=p.json"): 1,
    ("named.onnx", "-o", "o", "--target=t.json"): 1, ("--what\x1b[31m", "named.onnx"): 2, (CODE + ".onnx", "-o", "o"): 1,
}


def faults(output):
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError as fault:
        return str(fault)
    wild = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}
    forged = [line for line in text.splitlines() if line.startswith("error: forged")]
    return f"has {sorted(map(hex, map(ord, wild)))}" if wild else f"has a line {forged[0]!r}" if forged else ""


count, bad = 0, []
for command, status in COMMANDS.items():
    if command[-1] == "stripped.a" or "stripped.a" in command:
        # Without its record a library tells of itself by its table.
        data = (folder / "o" / "libnamed.a").read_bytes()
        (folder / "stripped.a").write_bytes(data.replace(b".kiln.record\0", b".kiln_record\0"))
    done = subprocess.run(["kiln", *command], cwd=folder, capture_output=True)
    count += 1
    for name, output in [("error", done.stderr)] + ([("output", done.stdout)] if "--json" not in command else []):
        if wrong := faults(output):
            bad.append(f"kiln {command}: standard {name} {wrong}: {output}")
    if done.returncode != status:
        bad.append(f"kiln {command}: status {done.returncode}, expected {status}: {done.stderr}")
    if "--json" in command:
        json.loads(done.stdout.decode("utf-8"))
print("\n".join(bad) if bad else f"{count} commands")
sys.exit(1 if bad else 0)
