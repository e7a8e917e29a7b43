"""Whether the data of a report is that of the compile, by other outputs of Kiln: report_data.py FOLDER TARGET."""
import json
import pathlib
import re
import sys

folder, target = pathlib.Path(sys.argv[1]), sys.argv[2]
report = json.loads((folder / "m.json").read_text())
again = (folder / "again.json").read_text()
assert json.loads(again) == report and again.count("\n") == 1, "a file has the same data, on one line"

nodes = report["graph"]["nodes"]
bare = [re.sub(r"\(\w+\)$", "", node["name"]).split(">")[-1] for node in nodes]
own = [name for name, node in zip(bare, nodes) if node["kind"] == "node"]
edges = [f"{bare[a]}-{bare[b]}" for a, b, _ in report["graph"]["edges"] if nodes[a]["kind"] == nodes[b]["kind"] == "node"]
assert {(bare[a], bare[b]) for a, b, _ in report["graph"]["edges"] if nodes[a]["kind"] == "input"} == {("x", "c")}
assert {(nodes[a]["op"], bare[b]) for a, b, _ in report["graph"]["edges"] if nodes[b]["kind"] == "output"} == {("Softmax", "s"), ("Tanh", "o")}
assert [node["type"] for node in nodes if node["name"] == "r(Relu)"] == ["f32[N,8,2,2]"], nodes
print("the graph has the nodes", *own, "and the edges", *edges)

(compile_,) = report["compiles"]
assert compile_["target"] == target and compile_["counted_for"] == {"N": 12}, compile_["counted_for"]
emitted = "".join(path.read_text() for path in (folder / "cpp").rglob("*.cpp"))
seen = set()
for launch in compile_["launches"]:
    kernel, group = compile_["kernels"][launch["kernel"]], compile_["groups"][launch["group"]]
    assert kernel["code"] in emitted and f"void {kernel['function']}(" in kernel["code"], kernel["function"]
    assert launch["nodes"] and {node for step in group["operations"] for node in step["nodes"]} >= set(launch["nodes"]), (launch, group)
    assert f'"{kernel["algorithm"].split(" ")[0]}"' in group["plan"], (kernel["algorithm"], group["plan"])
    assert launch["flops"] >= 0 and launch["bytes"] > 0 and launch["writes"], launch
    seen.update(nodes[node]["op"] for node in launch["nodes"])
assert {"Conv", "Relu", "MatMul", "Softmax", "Tanh"} <= seen, seen
product = [launch for launch in compile_["launches"] if any(nodes[node]["op"] == "MatMul" for node in launch["nodes"])]
assert sum(launch["flops"] for launch in product) >= 2 * 12 * 8 * 4, product
print(len(compile_["launches"]), "launches have kernels, groups and C++ that is emitted")

arena = [buffer for buffer in compile_["buffers"] if buffer["kind"] == "arena" and buffer["bytes"] > 0]
for i, a in enumerate(arena):
    for b in arena[:i]:
        together = a["first"] < b["last"] and b["first"] < a["last"]
        assert not together or a["offset"] >= b["offset"] + b["bytes"] or b["offset"] >= a["offset"] + a["bytes"], (a, b)
written = {number for launch in compile_["launches"] for number in launch["writes"]}
assert all(compile_["buffers"][number]["kind"] in ("arena", "output") for number in written)
size = max(buffer["offset"] + buffer["bytes"] for buffer in arena)
print("buffers that live together lie apart; the arena has", size, "bytes for N =", compile_["counted_for"]["N"])

inspect, why = json.loads((folder / "inspect.json").read_text()), json.loads((folder / "why.json").read_text())
places = {weight["offset"]: weight["bytes"] for weight in compile_["weights"]}
assert sum(-(-size // 64) * 64 for size in places.values()) == inspect["weights_bytes"] == report["model"]["weights_bytes"], places
assert compile_["composites"] == why["composites"] and compile_["composites"], why.keys()
decisions = {(row["algorithm"], row["reason"]): row.get("refused", []) for row in why["kernels"]}
for kernel in compile_["kernels"]:
    assert decisions[kernel["algorithm"], kernel["reason"]] == kernel["refused"], kernel["name"]
assert any(kernel["refused"] for kernel in compile_["kernels"])
proofs = [step["proof"] for group in compile_["groups"] for step in group["operations"] if "proof" in step]
assert proofs and all(any(proof in kernel["reason"] for kernel in compile_["kernels"]) for proof in proofs), proofs
print("weights, composites, proofs and refusals are those of inspect and --why")

ranges = {bare[node]: row for row in report["ranges"] for node in row["nodes"]}
print(f"r is in [{ranges['r']['low']}, {ranges['r']['high']}], s in [{ranges['s']['low']}, {ranges['s']['high']}]")

page = (folder / "a.html").read_text()
data = page.split('<script type="application/json" id="kiln-report">')[1].split("</script>")[0]
assert json.loads(data) == report and "<" not in data and page.count("</script>") == 2
assert "http:" not in page.replace("http://www.w3.org/2000/svg", "") and "https:" not in page and "src=" not in page, "the page asks for nothing"
print("the page has the same data, and no name of the model ends its script")
