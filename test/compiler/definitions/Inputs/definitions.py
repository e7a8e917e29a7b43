"""Runs operators that a file of definitions has, and compares them with NumPy."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

DOMAIN = "acme"


def build(folder, cases, text):
    """Writes a model with a node for each case, its definitions, and its inputs. Returns the inputs' arguments for kiln run."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "acme.kiln").write_text(text)
    nodes, inputs, outputs, arguments = [], [], [], []
    for index, (definition, operands, attributes, _) in enumerate(cases):
        names = [f"x{index}_{i}" for i in range(len(operands))]
        for name, operand in zip(names, operands):
            np.save(folder / f"{name}.npy", operand)
            inputs.append(helper.make_tensor_value_info(name, helper.mapping.NP_TYPE_TO_TENSOR_TYPE[operand.dtype], operand.shape))
            arguments += ["--input", f"{name}={folder / name}.npy"]
        name = definition.split("(")[0]
        nodes.append(helper.make_node(name, names, [f"y{index}"], name=f"{name}_{index}", domain=DOMAIN, **attributes))
        outputs.append(onnx.ValueInfoProto(name=f"y{index}"))
    graph = helper.make_graph(nodes, "calls", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, 1)])
    model.ir_version = 8
    onnx.save(model, folder / "model.onnx")
    return arguments


def moved(x, generator):
    """Each number moved to a neighbour, or left."""
    if x.dtype.kind != "f":
        return x
    return np.where(generator.integers(0, 2, x.shape), x, np.nextafter(x, generator.choice([-np.inf, np.inf], x.shape).astype(x.dtype)))


def tolerance(formula, operands, exact):
    """Four units in the last place, or the condition."""
    generator, spread = np.random.default_rng(1), np.zeros(exact.shape)
    for _ in range(8):
        near = formula(*[moved(x, generator) for x in operands]).astype(np.float64)
        with np.errstate(invalid="ignore"):
            spread = np.maximum(spread, np.nan_to_num(np.abs(near - exact), nan=0.0, posinf=0.0))
    precision = next((x.dtype for x in operands if x.dtype.kind == "f"), np.dtype(np.float32))
    with np.errstate(invalid="ignore"):
        unit = np.nan_to_num(np.spacing(np.abs(exact).astype(precision)).astype(np.float64), nan=0.0)
    # Where the spread of one element is small by chance, that of the whole result counts by a tenth.
    return 4 * unit + 2 * spread + 0.1 * spread.max(initial=0.0)


def compare(name, case, got):
    _, operands, _, formula = case
    want = formula(*operands)
    assert got.shape == want.shape and got.dtype == want.dtype, f"{name}: got {got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if want.dtype.kind != "f":
        assert np.array_equal(got, want), f"{name}: got\n{got}\nexpected\n{want}"
        return
    exact = formula(*[x.astype(np.float64) if x.dtype.kind == "f" else x for x in operands])
    with np.errstate(invalid="ignore"):
        difference = np.where(got.astype(np.float64) == exact, 0.0, np.abs(got.astype(np.float64) - exact))
    bad = ~(difference <= tolerance(formula, operands, exact)) & ~(np.isnan(got) & np.isnan(exact))
    assert not bad.any(), f"{name}: got {got[bad][:4]}, expected {exact[bad][:4]}, differences {difference[bad][:4]}"


def compare_all(folder, text, cases, options=()):
    arguments = build(folder, cases, text)
    kiln_calls.run("run", f"{folder}/model.onnx", f"--ops={folder}/acme.kiln", "--output-dir", f"{folder}/out", *arguments, *options)
    for index, case in enumerate(cases):
        compare(case[0].split("[")[0], case, np.load(f"{folder}/out/y{index}.npy"))
