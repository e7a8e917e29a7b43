#!/usr/bin/env python3
"""Runs nn.attention whole and split with `kiln run` and compares with numpy: attention.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np
from contractions import Module, tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

# Queries, keys, head size, value width: tails of all kinds, one query, several blocks of keys, the last one short.
SIZES = [(128, 128, 64, 64), (1, 1, 1, 1), (1, 100, 64, 64), (5, 17, 32, 48), (7, 40, 15, 15), (16, 16, 32, 32), (99, 197, 64, 64), (130, 3, 8, 20),
         (13, 513, 16, 16), (1, 1030, 32, 32), (40, 600, 20, 33), (17, 300, 128, 128)]
# Batch, queries and keys at run time, all of one compiled module.
DYNAMIC = [(1, 1, 1), (2, 3, 17), (1, 16, 16), (1, 128, 128), (3, 14, 300), (1, 150, 256), (2, 1, 520), (1, 33, 31), (1, 7, 257)]
SCORE = "#nn.dims<()[s0, s1, s2] -> (s0, 2, s1, s2)>"
QUERY = "#nn.dims<()[s0, s1, s2] -> (s0, s1, 2, 32)>"
KEY = "#nn.dims<()[s0, s1, s2] -> (s0, s2, 2, 32)>"


def dynamic_text():
    query, key, score = (f"tensor<{shape}, {dims}>" for shape, dims in
                         [("?x?x2x32xf32", "#nn.dims<()[s0, s1] -> (s0, s1, 2, 32)>"), ("?x?x2x32xf32", KEY), ("?x2x?x?xf32", SCORE)])
    turned = [f"tensor<?x2x?x32xf32, #nn.dims<{dims}>>" for dims in ["()[s0, s1] -> (s0, 2, s1, 32)", "()[s0, s1, s2] -> (s0, 2, s2, 32)"]]
    bias = "tensor<?x1x1x?xf32, #nn.dims<()[s0, s1, s2] -> (s0, 1, 1, s2)>>"
    return f"""module attributes {{nn.model = "attention", nn.symbols = ["b", "m", "n"]}} {{
  func.func @main(%q: {query} {{nn.name = "q"}}, %k: {key} {{nn.name = "k"}}, %v: {key} {{nn.name = "v"}}, %b: {bias} {{nn.name = "b"}})
      -> ({query} {{nn.name = "plain"}}, {query} {{nn.name = "masked"}}, {query} {{nn.name = "windowed"}}) {{
    %0 = nn.transpose %q [0, 2, 1, 3] : {query} -> {turned[0]}
    %1 = nn.transpose %k [0, 2, 1, 3] : {key} -> {turned[1]}
    %2 = nn.transpose %v [0, 2, 1, 3] : {key} -> {turned[1]}
    %3 = nn.attention query(%0) key(%1) value(%2) scale 0.25 : ({turned[0]}, {turned[1]}, {turned[1]}) -> {turned[0]}
    %4 = nn.transpose %3 [0, 2, 1, 3] : {turned[0]} -> {query}
    %5 = nn.broadcast_to %b : {bias} -> {score}
    %6 = nn.attention query(%0) key(%1) value(%2) bias(%5) scale 0.25 causal {{fill = -30.0 : f64}}
      : ({turned[0]}, {turned[1]}, {turned[1]}, {score}) -> {turned[0]}
    %7 = nn.transpose %6 [0, 2, 1, 3] : {turned[0]} -> {query}
    %8 = nn.attention query(%0) key(%1) value(%2) scale 0.25 causal window 9
      : ({turned[0]}, {turned[1]}, {turned[1]}) -> {turned[0]}
    %9 = nn.transpose %8 [0, 2, 1, 3] : {turned[0]} -> {query}
    return %4, %7, %9 : {query}, {query}, {query}
  }}
}}
"""


def attention(query, key, value, scale, bias=None, keep=None, causal=False, window=None, fill=-np.inf):
    scores = query.astype(np.float64) @ np.swapaxes(key, -1, -2) * scale
    rows, columns = scores.shape[-2:]
    if causal:
        behind = np.arange(rows)[:, None] + columns - rows - np.arange(columns)
        scores = np.where((behind >= 0) & (behind < (window or columns)), scores, fill)
    if keep is not None:
        scores = np.where(keep, scores, fill)
    if bias is not None:
        scores = scores + bias
    with np.errstate(invalid="ignore"):  # A row that sees no key is NaN.
        weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


def add_case(module, sizes, batch, turned=False, grouped=False, **options):
    queries, keys, depth, width = sizes
    shapes = {"query": (*batch, queries, depth), "key": (*batch, keys, depth), "value": (*batch, keys, width)}
    arrays = {name: 2 * module.array(*shape) for name, shape in shapes.items()}
    scale = options.pop("scale", depth ** -0.5)
    order = [0, 2, 1, 3]
    parts, types = [], []
    for name, array in arrays.items():
        shared = grouped and name != "query"
        if shared:
            arrays[name] = array = np.repeat(array[:, :, :1], batch[2], 2)
        operand = module.input(np.ascontiguousarray(array[:, :, :1] if shared else array.transpose(order) if turned else array))
        if shared:
            operand = module.op(f"nn.broadcast_to {operand} : {tensor(array[:, :, :1])}", tensor(array))
        if turned:
            operand = module.op(f"nn.transpose {operand} {order} : {tensor(array.transpose(order))}", tensor(array))
        parts.append(f"{name}({operand})")
        types.append(tensor(array))
    exact = attention(*arrays.values(), scale, **options)
    form = f"tensor<{''.join(f'{size}x' for size in (*batch, queries, keys))}f32>"
    for name in ("bias", "keep"):
        if options.get(name) is None:
            continue
        array = options[name] if name == "bias" else options[name].astype(np.float32)
        small, wide = module.input(array), form
        if name == "keep":
            wide = form.replace("f32", "i1")
            zero = module.op(f"nn.splat 0.0 : f32", tensor(array))
            small = module.op(f"nn.less {zero}, {small} : {tensor(array)}", tensor(array).replace("f32", "i1"))
        kind = tensor(array).replace("f32", "i1") if name == "keep" else tensor(array)
        parts.append(f"{name}({module.op(f'nn.broadcast_to {small} : {kind}', wide)})")
        types.append(wide)
    words = f"scale {scale!r}" + (" causal" if options.get("causal") else "") + (f" window {options['window']}" if "window" in options else "")
    if "fill" in options:
        words += f" {{fill = {options['fill']!r} : f64}}"
    value = module.op(f"nn.attention {' '.join(parts)} {words} : ({', '.join(types)})", tensor(exact))
    if turned:
        moved = exact.transpose(order)
        value, exact = module.op(f"nn.transpose {value} {order} : {tensor(exact)}", tensor(moved)), moved
    module.finish(value, exact)


def build():
    module = Module()
    random = np.random.default_rng(3)
    for i, sizes in enumerate(SIZES):
        add_case(module, sizes, (2, 3) if i % 3 else (1,), turned=i % 3 == 1)
        bias = random.standard_normal((1, 1, *sizes[:2])).astype(np.float32) * 3
        add_case(module, sizes, (1, 2), bias=bias[..., :1, :] if i % 2 else bias)
    for sizes in [(20, 20, 16, 16), (1, 40, 16, 16), (9, 300, 32, 32), (30, 601, 32, 32), (300, 310, 8, 8), (270, 600, 8, 8)]:
        add_case(module, sizes, (1, 2), causal=True)
        add_case(module, sizes, (2, 1), causal=True, fill=-4.0, turned=True)
        add_case(module, sizes, (1, 2), causal=True, window=7)
        keep = random.random((2, 1, *sizes[:2])) < 0.7
        keep[..., 0] = True
        add_case(module, sizes, (2, 2), keep=keep)
        add_case(module, sizes, (2, 2), keep=keep, fill=-3.0, bias=random.standard_normal((1, 2, 1, sizes[1])).astype(np.float32))
    for window in (1, 40, 200, 1000):
        add_case(module, (270, 600, 8, 8), (1, 1), causal=True, window=window)
    add_case(module, (30, 601, 32, 32), (1, 1), causal=True, window=20, fill=-4.0)
    add_case(module, (20, 33, 16, 16), (1, 2, 3), grouped=True)
    add_case(module, (3, 40, 16, 16), (2, 2, 4), grouped=True, causal=True)
    # A block of keys that a row does not see at all, and a row that sees none: NaN.
    hidden = np.zeros((1, 1, 4, 700), np.float32)
    hidden[..., :2, :350] = hidden[..., 2, 350:] = hidden[..., 3, :] = -np.inf
    add_case(module, (4, 700, 16, 16), (1, 1), bias=hidden)
    add_case(module, (4, 300, 16, 16), (1, 1), bias=hidden[..., 200:500])
    return module


def run(source, inputs, target, folder, form):
    arguments = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    kiln_calls.run("run", source, "--target", target, "--decompose", form, "--output-dir", folder, *arguments)


def check(got, exact, what):
    same = np.isnan(got) == np.isnan(exact)
    error = np.nanmax(np.abs(got - exact)) / max(1.0, np.nanmax(np.abs(exact)))
    if got.shape != exact.shape or not same.all() or not error < 3e-6:
        sys.exit(f"{what}, shape {exact.shape}: relative error {error}")


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    module = build()
    (folder / "attention.mlir").write_text(module.text())
    (folder / "dynamic.mlir").write_text(dynamic_text())
    dynamic = 0
    for i, target in enumerate(targets):
        for form in ["none", "attention"][:1 if i else 2]:
            run(folder / "attention.mlir", module.inputs, target, folder, form)
            for j, (_, exact) in enumerate(module.expected):
                check(np.load(folder / f"y{j}.npy"), exact, f"target {target}, --decompose={form}, case {j}")
        # Each compile takes time: the targets share the sizes.
        for j, (b, m, n) in enumerate(DYNAMIC[i::len(targets)]):
            inputs = {"q": module.array(b, m, 2, 32), "k": module.array(b, n, 2, 32), "v": module.array(b, n, 2, 32), "b": module.array(b, 1, 1, n)}
            form = "attention" if j == 2 else "none"
            run(folder / "dynamic.mlir", inputs, target, folder, form)
            q, k, v = (inputs[name].transpose(0, 2, 1, 3) for name in "qkv")
            what = f"target {target}, --decompose={form}, sizes {b, m, n}"
            check(np.load(folder / "plain.npy"), attention(q, k, v, 0.25).transpose(0, 2, 1, 3), what)
            masked = attention(q, k, v, 0.25, bias=inputs["b"], causal=True, fill=-30.0)
            check(np.load(folder / "masked.npy"), masked.transpose(0, 2, 1, 3), what + ", masked")
            windowed = attention(q, k, v, 0.25, causal=True, window=9)
            check(np.load(folder / "windowed.npy"), windowed.transpose(0, 2, 1, 3), what + ", windowed")
            dynamic += 1
    print(f"{len(module.expected)} static and {dynamic} dynamic cases right on {len(targets)} targets")


if __name__ == "__main__":
    main()
