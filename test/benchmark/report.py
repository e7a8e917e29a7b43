"""What a race of models is told as: lines of a table, a Markdown table, and a chart. The same results give the same text."""

import datetime
import math
import os
import pathlib
import re

import ending  # noqa: F401

COLOURS = {1: "#c2410c", 2: "#fdba74"}
COLUMNS = [("model", 20), ("threads", 7), ("Kiln ms", 10), ("ORT ms", 10), ("T", 6), ("range", 12), ("load ms", 8), ("page-in", 8), ("start", 6), ("ORT", 7), ("peak MB", 8),
           ("ORT", 6), ("compile s", 9)]


def header():
    return " ".join(f"{name:{'<' if name == 'model' else '>'}{width}}" for name, width in COLUMNS)


def line(r):
    spread = f"{r['ratio_min']:.2f}-{r['ratio_max']:.2f}"
    return (f"{r['model']:20} {r['threads']:7} {r['kiln_ms']:10.4f} {r['onnxruntime_ms']:10.4f} {r['ratio']:6.2f} {spread:>12} {r['kiln_load_ms']:8.1f} "
            f"{r['page_in_ms']:8.1f} {r['kiln_start_ms']:6.1f} {r['onnxruntime_load_ms']:7.0f} {r['kiln_peak_mb']:8.0f} {r['onnxruntime_peak_mb']:6.0f} {r['compile_s']:9.1f}")


def mean(results):
    return math.exp(sum(math.log(r["ratio"]) for r in results) / len(results))


def by_model(results):
    """{model: {threads: result}}, in the order of the race."""
    models = {}
    for r in results:
        models.setdefault(r["model"], {})[r["threads"]] = r
    return models


def provenance(report):
    """The line above a table: when and where it was measured. Results that were saved without a date have none."""
    when = f" on {report['date']}" if "date" in report else ""
    return f"Measured{when}: {report['machine']}."


def markdown(report):
    results = report["results"]
    counts = sorted({r["threads"] for r in results})
    head = ["model", *(f"{what}, {n} thread{'s' * (n > 1)}" for n in counts for what in ("Kiln ms", "ORT ms", "T")), "load ms", "start ms", "ORT", "peak MB", "ORT", "library MB",
            "compile s"]
    lines = [provenance(report), "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for model, by_threads in by_model(results).items():
        cells = [model]
        for n in counts:
            r = by_threads.get(n)
            cells += [f"{r['kiln_ms']:.4g}", f"{r['onnxruntime_ms']:.4g}", f"{r['ratio']:.2f}"] if r else ["", "", ""]
        r = next(iter(by_threads.values()))
        cells += [f"{r['kiln_load_ms']:.1f}", f"{r['kiln_start_ms']:.1f}", f"{r['onnxruntime_load_ms']:.0f}", f"{r['kiln_peak_mb']:.0f}", f"{r['onnxruntime_peak_mb']:.0f}",
                  f"{r['library_bytes'] / 1e6:.1f}", f"{r['compile_s']:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    means = ", ".join(f"{mean([r for r in results if r['threads'] == n]):.2f} at {n} thread{'s' * (n > 1)}" for n in counts)
    return "\n".join([*lines, "", f"Geometric mean of T: {means}.", ""])


def write_markdown(path, name, content):
    """Puts text between the two marks of this name on a page."""
    begin, end = f"<!-- {name}: generated -->", f"<!-- end of {name} -->"
    text = path.read_text()
    if begin not in text or end not in text:
        raise ValueError(f"{path} lacks '{begin}' and '{end}'")
    path.write_text(re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n{content}{end}", text, flags=re.S))


def median_of(results):
    """One result for repetitions of a race: the repetition whose gain is the median, with the range of all of them."""
    middle = sorted(results, key=lambda r: r["gain"])[len(results) // 2]
    return {**middle, "gain_min": min(r["gain_min"] for r in results), "gain_max": max(r["gain_max"] for r in results), "repeated": [r["gain"] for r in results]}


def forms_header():
    return f"{'model':20} {'threads':>7} {'whole ms':>10} {'split ms':>10} {'gain':>6} {'range':>12} {'attentions':>10}"


def forms_line(r):
    spread = f"{r['gain_min']:.2f}-{r['gain_max']:.2f}"
    return f"{r['model']:20} {r['threads']:7} {r['whole_ms']:10.4f} {r['split_ms']:10.4f} {r['gain']:6.2f} {spread:>12} {r['attentions']:10}"


def forms_markdown(report):
    """A row for each model and number of threads."""
    lines = [provenance(report), "", "| model | threads | whole ms | split ms | gain | attentions |", "|---|---|---|---|---|---|"]
    lines += [f"| {r['model']} | {r['threads']} | {r['whole_ms']:.4g} | {r['split_ms']:.4g} | {r['gain']:.2f} | {r['attentions'] or ''} |" for r in report["results"]]
    return "\n".join([*lines, ""])


def kernels_markdown(report):
    """A row for each shape and number of threads; columns for speed, for the split form and for other elements where some kernel has them."""
    results = report["results"]
    fast, split, threaded = any(r["gflops"] for r in results), any("split_us" in r for r in results), len({r["threads"] for r in results}) > 1
    halves = any("f32_us" in r for r in results)
    columns = [("shape", lambda r: r["shape"], True), ("elements", lambda r: r.get("element", "f32"), halves),
               ("threads", lambda r: r["threads"], threaded), ("Kiln us", lambda r: f"{r['kiln_us']:.4g}", True),
               ("GFLOP/s", lambda r: f"{r['gflops']:.1f}" if r["gflops"] else "", fast),
               ("% of peak", lambda r: f"{100 * r['of_peak']:.0f}" if r["gflops"] else "", fast),
               ("oneDNN us", lambda r: f"{r['onednn_us']:.4g}", True), ("ratio", lambda r: f"{r['ratio']:.2f}", True),
               ("oneDNN's way", lambda r: r["onednn"], True), ("split us", lambda r: f"{r['split_us']:.4g}", split),
               ("ratio", lambda r: f"{r['split_us'] / r['kiln_us']:.2f}", split),
               ("f32 us", lambda r: f"{r['f32_us']:.4g}" if "f32_us" in r else "", halves),
               ("times f32", lambda r: f"{r['kiln_us'] / r['f32_us']:.2f}" if "f32_us" in r else "", halves)]
    library, blas = any("library_us" in r for r in results), any("openblas_us" in r for r in results)
    packed = any("packed_us" in r for r in results)
    columns += [("packed us", lambda r: f"{r['packed_us']:.4g}" if "packed_us" in r else "", packed),
                ("ratio to Kiln", lambda r: f"{r['packed_us'] / r['kiln_us']:.2f}" if "packed_us" in r else "", packed),
                ("library us", lambda r: f"{r['library_us']:.4g}" if "library_us" in r else "", library),
                ("ratio to Kiln", lambda r: f"{r['library_us'] / r['kiln_us']:.2f}" if "library_us" in r else "", library),
                ("OpenBLAS us", lambda r: f"{r['openblas_us']:.4g}" if "openblas_us" in r else "", blas),
                ("ratio to library", lambda r: f"{r['openblas_us'] / r['library_us']:.2f}" if "openblas_us" in r else "", blas)]
    columns = [(name, value) for name, value, wanted in columns if wanted]
    lines = [provenance(report), "", "| " + " | ".join(name for name, _ in columns) + " |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(str(value(r)) for _, value in columns) + " |" for r in results]
    return "\n".join([*lines, "", kernels_summary(results), ""])


def kernels_summary(results):
    ahead, near = (sum(r["ratio"] >= bound for r in results) for bound in (1, 0.95))
    return (f"{ahead} of {len(results)} at least as fast as oneDNN, {near} at least 0.95 times as fast; "
            f"the lowest ratio is {min(r['ratio'] for r in results):.2f}.")


def describe_run():
    """The day and the machine, for a report."""
    return {"date": datetime.date.today().isoformat(), "machine": describe_machine()}


def describe_machine():
    """Its processor, and the threads that a measurement may use."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "an unknown processor")
    return f"{name}, {len(os.sched_getaffinity(0))} CPUs"


def svg(report):
    """Bars from 1 to T on a logarithmic axis: twice as fast is as long to the right as half as fast to the left."""
    models = by_model(report["results"])
    counts = sorted({r["threads"] for r in report["results"]})
    row, bar, left, width, top = 10 * len(counts) + 8, 9, 150, 560, 46
    logs = [math.log2(r["ratio"]) for r in report["results"]]
    low, high = min(-0.5, math.floor(2 * min(logs)) / 2), max(1, math.ceil(2 * max(logs)) / 2)
    bottom = top + row * len(models)

    def x(log):
        return left + width * (log - low) / (high - low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{bottom + 30}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           f'<text x="{left}" y="16" font-size="13">T = ONNX Runtime\'s time / Kiln\'s (right of 1: Kiln is faster)</text>']
    for index, n in enumerate(counts):
        at = left + 90 * index
        out += [f'<rect x="{at}" y="24" width="10" height="10" fill="{COLOURS.get(n, "#a8a29e")}"/>', f'<text x="{at + 14}" y="33">{n} thread{"s" * (n > 1)}</text>']
    for half in range(math.ceil(2 * low), math.floor(2 * high) + 1):
        if half % 2 == 0:
            at, strong = x(half / 2), half == 0
            out += [f'<line x1="{at:.1f}" y1="{top - 4}" x2="{at:.1f}" y2="{bottom}" stroke="{"#1c1917" if strong else "#e7e5e4"}"/>',
                    f'<text x="{at:.1f}" y="{bottom + 14}" text-anchor="middle">{2 ** (half / 2):g}</text>']
    for index, (model, by_threads) in enumerate(models.items()):
        y = top + row * index
        out.append(f'<text x="{left - 6}" y="{y + row / 2 + 4:.1f}" text-anchor="end">{model}</text>')
        for place, n in enumerate(counts):
            if n not in by_threads:
                continue
            log, level = math.log2(by_threads[n]["ratio"]), y + 4 + 10 * place
            begin, end = sorted((x(0), x(log)))
            out += [f'<rect x="{begin:.1f}" y="{level}" width="{end - begin:.1f}" height="{bar}" fill="{COLOURS.get(n, "#a8a29e")}"/>',
                    f'<text x="{end + 3:.1f}" y="{level + 8}" font-size="9">{by_threads[n]["ratio"]:.2f}</text>']
    return "\n".join([*out, "</svg>", ""])
