"""Reads a trace of kiln bench: what Perfetto needs of each event, tasks inside their launch, and who ran the product."""

import json
import sys

trace = json.load(open(sys.argv[1]))
assert trace["otherData"]["dropped_events"] == 0, trace["otherData"]
events = trace["traceEvents"]
names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
spans = [e for e in events if e["ph"] == "X"]
assert all(e["pid"] == 1 and e["tid"] in names and e["ts"] >= 0 and e["dur"] >= 0 for e in spans)
launches = [e for e in spans if e["cat"] == "launch"]
assert all(set(e["args"]) == {"kernel", "model", "algorithm", "tasks", "flops", "bytes", "gflops", "gbps"} for e in launches)
print(f"{len(launches)} launches of {len({e['name'] for e in launches})} kernels, threads: {', '.join(names[t] for t in sorted(names))}")
parts = [e for e in spans if e["cat"] == "tasks"]
threads = set()
for launch in launches:
    inside = [p for p in parts if launch["ts"] <= p["ts"] and p["ts"] + p["dur"] <= launch["ts"] + launch["dur"] + 0.002]
    assert all(p["name"] == launch["name"] for p in inside), launch
    if inside:
        covered = sorted((p["args"]["first_task"], p["args"]["end_task"]) for p in inside)
        assert covered[0][0] == 0 and covered[-1][1] == launch["args"]["tasks"], covered
        assert all(a[1] == b[0] for a, b in zip(covered, covered[1:])), covered
    if launch["name"] == "p(MatMul)":
        threads |= {p["tid"] for p in inside}
product = next(e for e in launches if e["name"] == "p(MatMul)")["args"]
print(f"the product: {product['flops']} operations {product['bytes']} bytes {product['tasks']} tasks on {len(threads)} threads")
