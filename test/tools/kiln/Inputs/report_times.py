"""Whether times are joined to the launches that they are of: report_times.py FOLDER."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
bench, timed, plain, measured = (json.loads((folder / f"{name}.json").read_text()) for name in ("bench", "timed", "plain", "measured"))
left = list(bench["kernels"])
for report in (timed, measured):
    (compile_,) = report["compiles"]
    summary = compile_.pop("bench")
    assert summary["median_ms"] > 0 and summary["target"] == compile_["target"] and "kernels" not in summary, summary
    for launch in compile_["launches"]:
        times = launch.pop("measured")
        assert times["ms"] > 0 and times["calls"] == 1, times
        # Operations are counted for the same size by the compiler and at run time.
        assert times["flops"] == launch["flops"] and times["bytes"] == launch["bytes"], (times, launch)
        if report is timed:
            row = next(row for row in left if row["ms"] == times["ms"])
            assert row["name"] == compile_["kernels"][launch["kernel"]]["launched_as"], (row, launch)
            left.remove(row)
    report.pop("options")
plain.pop("options")
assert not left and timed == plain == measured
print("every launch has its time, and its operations are those that were counted")
