#!/usr/bin/env python3
"""Forms of ai.onnx.ml that converters write and specifications leave to implementations, against numpy: classic_forms.py FOLDER TARGET..."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls
from onnx_cases import Model, run_on_targets

BOUNDS = {"f4": (1e-4, 1e-5)}
RANDOM = np.random.default_rng(5)
ML = {"domain": "ai.onnx.ml"}


def couple(first):
    """Probabilities of classes from those of pairs, first[i, j]: libsvm's multiclass_probability."""
    classes = len(first)
    q = -first.T * first
    np.fill_diagonal(q, [sum(first[j, i] ** 2 for j in range(classes) if j != i) for i in range(classes)])
    p = np.full(classes, 1 / classes)
    for _ in range(100):
        product = q @ p
        whole = p @ product
        if np.abs(product - whole).max() < 0.005 / classes:
            break
        for i in range(classes):
            change = (whole - product[i]) / q[i, i]
            p[i] += change
            whole = (whole + change * (change * q[i, i] + 2 * product[i])) / (1 + change) ** 2
            product = (product + change * q[i]) / (1 + change)
            p /= 1 + change
    return p


def add_machine(model, sizes, rows):
    """A machine with radial functions, whose scores are probabilities."""
    classes, count = len(sizes), sum(sizes)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    vectors, coefficients = RANDOM.standard_normal((count, 3)), RANDOM.standard_normal((classes - 1, count))
    rho, slopes, offsets = (RANDOM.uniform(*bounds, len(pairs)) for bounds in ((-1, 1), (-3, -1), (-0.5, 0.5)))
    x = RANDOM.standard_normal((rows, 3))
    kernels = np.exp(-0.5 * ((x[:, None] - vectors) ** 2).sum(2))
    begins = np.cumsum([0, *sizes])
    scores, votes = np.zeros((rows, classes)), np.zeros((rows, classes))
    for row in range(rows):
        first = np.zeros((classes, classes))
        for pair, (i, j) in enumerate(pairs):
            of_i, of_j = slice(begins[i], begins[i + 1]), slice(begins[j], begins[j + 1])
            total = kernels[row, of_i] @ coefficients[j - 1, of_i] + kernels[row, of_j] @ coefficients[i, of_j] + rho[pair]
            votes[row, i if total > 0 else j] += 1
            first[i, j] = np.clip(1 / (1 + np.exp(slopes[pair] * total + offsets[pair])), 1e-7, 1 - 1e-7)
            first[j, i] = 1 - first[i, j]
        scores[row] = couple(first)
    attributes = dict(kernel_type="RBF", kernel_params=[0.5, 0.0, 3.0], support_vectors=vectors.ravel(), vectors_per_class=sizes, coefficients=coefficients.ravel(),
                      rho=rho, prob_a=slopes, prob_b=offsets, classlabels_ints=[10 + i for i in range(classes)], **ML)
    given = [model.input(x, dims=["rows", 3])]
    model.case(f"labels of {classes}", "SVMClassifier", given, votes.argmax(1) + 10, "i8", **attributes)
    model.case(f"probabilities of {classes}", "SVMClassifier", given, scores, at=1, **attributes)


def add_trees(model):
    """A chain that asks for the members of {1, 4, 6}, as converters write it, and tests that share what is below them."""
    columns = dict(target_treeids=[0] * 2, target_ids=[0] * 2, target_weights=[1.0, 2.0], n_targets=1, **ML)
    x = np.array([[1, 0], [2, 0], [4, 9], [6, 0], [np.nan, 0], [5.5, 0]])
    member = np.isin(x[:, 0], [1, 4, 6])
    model.case("chain", "TreeEnsembleRegressor", [model.input(x)], np.where(member, 1.0, 2.0)[:, None], nodes_treeids=[0] * 5, nodes_nodeids=list(range(5)),
               nodes_featureids=[0] * 5, nodes_modes=["BRANCH_EQ"] * 3 + ["LEAF"] * 2, nodes_values=[1.0, 4.0, 6.0, 0.0, 0.0], nodes_truenodeids=[3, 3, 3, 0, 0],
               nodes_falsenodeids=[1, 2, 4, 0, 0], target_nodeids=[3, 4], **columns)
    # Node 3 is below nodes 1 and 2, and node 6 leads to it, too, but no root reaches that one.
    z = RANDOM.uniform(0, 1, (40, 2))
    shared = (z[:, 0] <= 0.5) == (z[:, 1] <= 0.5)
    want = np.where(shared, np.where(z[:, 0] + 0 <= 0.25, 1.0, 2.0), 2.0)[:, None]
    model.case("shared", "TreeEnsembleRegressor", [model.input(z)], want, nodes_treeids=[0] * 7, nodes_nodeids=list(range(7)), nodes_featureids=[0, 1, 1, 0, 0, 0, 0],
               nodes_modes=["BRANCH_LEQ"] * 4 + ["LEAF"] * 2 + ["BRANCH_LEQ"], nodes_values=[0.5, 0.5, 0.5, 0.25, 0.0, 0.0, 0.5],
               nodes_truenodeids=[1, 3, 5, 4, 0, 0, 3], nodes_falsenodeids=[2, 5, 3, 5, 0, 0, 3], target_nodeids=[4, 5], **columns)


def build():
    model = Model()
    add_machine(model, [4, 5], 7)
    add_machine(model, [3, 2, 4, 3], 7)
    add_trees(model)
    numbers = np.array([[3], [1], [3]])
    model.case("numbers", "OneHotEncoder", [model.input(numbers, "i8")], (numbers[..., None] == [1, 2, 3]).astype("f4"), zeros=0, cats_int64s=[1, 2, 3], **ML)
    # Signals of two dimensions are real.
    signal, window = RANDOM.standard_normal((2, 12)), RANDOM.uniform(0.5, 1, 6)
    spectrum = np.stack([np.fft.rfft(signal[:, at:at + 6] * window) for at in (0, 3, 6)], 1)
    model.case("signal", "STFT", [model.input(signal), model.weight(np.array(3), "i8"), model.weight(window)], np.stack([spectrum.real, spectrum.imag], -1))
    # Data without a range have the scale 1.
    model.case("scale of zeros", "DynamicQuantizeLinear", [model.input(np.zeros((2, 3)))], np.array(1.0), at=1)
    return model, 17, [("ai.onnx.ml", 3)]


def report_unknown(folder, model):
    """The message of a run with a category that the encoder does not know."""
    at = pathlib.Path(folder) / "unknown"
    at.mkdir(parents=True)
    model[0].save(at / "m.onnx", *model[1:])
    inputs = model[0].save_inputs(at)
    name = next(name for name, array in model[0].arrays.items() if array.shape == (3, 1))
    np.save(at / f"{name}.npy", np.array([[3], [4], [3]]))
    done = kiln_calls.call("run", at / "m.onnx", "--target=generic", "--output-dir", at / "out", *inputs)
    print("the run ended:", done.stderr.strip().split("fit each other: ")[-1])


def main():
    model = build()
    report_unknown(sys.argv[1], model)
    run_on_targets(sys.argv[1], sys.argv[2:], {"classic": model}, BOUNDS)


main()
