#!/usr/bin/env python3
"""What random models found, reduced: each graph against numpy. Usage: regressions.py FOLDER TARGET..."""

import itertools
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from onnx_cases import Model, describe_difference, kiln

BOUNDS = {"f4": (1e-5, 1e-6), "f8": (1e-12, 1e-12), "f2": (1e-3, 1e-3)}
random = np.random.default_rng(5)


def lowest(dtype):
    return np.finfo(dtype).min if dtype[0] == "f" else np.iinfo(dtype).min


def pool(x, kernel, strides, dilations, pads, of_window, of_none):
    """A pool whose windows may lie in the padding altogether."""
    sizes = [(size + pads[i] + pads[i + len(kernel)] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i, size in enumerate(x.shape[2:])]
    result = np.full(x.shape[:2] + tuple(sizes), of_none, x.dtype)
    for place in np.ndindex(*sizes):
        at = [[p * strides[i] - pads[i] + t * dilations[i] for t in range(kernel[i])] for i, p in enumerate(place)]
        taps = [t for t in itertools.product(*at) if all(0 <= c < size for c, size in zip(t, x.shape[2:]))]
        if taps:
            result[(slice(None), slice(None), *place)] = of_window(np.stack([x[(slice(None), slice(None), *t)] for t in taps]), axis=0)
    return result


#: spatial sizes, kernel, strides, dilations, pads
WINDOWS = [((1, 5), (3, 2), (2, 1), (2, 2), (1, 1, 3, 1)), ((1, 4), (2, 2), (1, 1), (2, 1), (1, 0, 1, 0)), ((3,), (2,), (1,), (4,), (2, 2)),
           ((1, 5, 4), (3, 2, 1), (2, 1, 1), (2, 2, 1), (1, 1, 0, 3, 1, 0))]


def add_pools(model):
    """The largest of no elements is the lowest finite number, their mean is 0: what ONNX Runtime has."""
    for sizes, kernel, strides, dilations, pads in WINDOWS:
        attributes = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads}
        for dtype in ("f4", "f8", "f2", "i1"):
            x = (random.standard_normal((2, 8) + sizes) * 9).astype(dtype)
            exact = pool(x, kernel, strides, dilations, pads, np.max, lowest(dtype))
            model.case("max_pool", "MaxPool", [model.input(x, dtype)], exact, dtype, **attributes)
        x = random.standard_normal((1, 16) + sizes).astype("f4")
        same = np.eye(16).reshape(16, 16, *(1 for _ in sizes))
        model.nodes.append(helper.make_node("Conv", [model.input(x), model.weight(same)], [f"conv{len(model.nodes)}"]))
        convolved = model.nodes[-1].output[0]
        model.case("max_pool_of_conv", "MaxPool", [convolved], pool(x, kernel, strides, dilations, pads, np.max, lowest("f4")), **attributes)
        model.case("average_pool_of_conv", "AveragePool", [convolved], pool(x, kernel, strides, dilations, pads, np.mean, 0), **attributes)


def add_symbolic_sums(model):
    """Places of a transposed symbolic tensor: i floordiv n and i mod n in one sum."""
    x = random.standard_normal((4, 8, 16, 1)).astype("f4")
    scale, bias = random.standard_normal((2, 4, 16, 1, 8)).astype("f4")
    model.nodes.append(helper.make_node("Transpose", [model.input(x, dims=[4, "n", 16, 1])], ["turned"], perm=[0, 2, 3, 1]))
    turned = np.transpose(x, (0, 2, 3, 1)).astype("f8")
    normal = (turned - turned.mean()) / np.sqrt(turned.var() + 0.01) * scale + bias
    model.case("layer_norm", "LayerNormalization", ["turned", model.weight(scale), model.weight(bias)], normal, dims=[4, 16, 1, 8], axis=0, epsilon=0.01)


def convolve(x, w, strides, pads):
    """Of two spatial dimensions."""
    x = np.pad(x.astype("f8"), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    views = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))[:, :, ::strides[0], ::strides[1]]
    return np.einsum("nchwij,kcij->nkhw", views, w)


def add_same_borders(model):
    """auto_pad SAME with a stride, for sizes that only run time knows."""
    for upper, kernel, strides, sizes in [(True, (3, 3), (2, 2), (7, 8)), (False, (2, 5), (3, 2), (8, 6)), (True, (1, 2), (2, 3), (5, 7)), (False, (4, 1), (3, 4), (9, 6))]:
        x = random.standard_normal((1, 3) + sizes).astype("f4")
        total = [max((-(-size // s) - 1) * s + k - size, 0) for size, k, s in zip(sizes, kernel, strides)]
        less, more = [t // 2 for t in total], [t - t // 2 for t in total]
        pads = (*less, *more) if upper else (*more, *less)
        attributes = {"auto_pad": "SAME_UPPER" if upper else "SAME_LOWER", "kernel_shape": kernel, "strides": strides}
        given = model.input(x, dims=[1, 3, f"h{len(model.arrays)}", f"w{len(model.arrays)}"])
        w = random.standard_normal((4, 3) + kernel).astype("f4")
        places = [None] * 4
        model.case("conv_same", "Conv", [given, model.weight(w)], convolve(x, w, strides, pads), dims=places, **attributes)
        model.case("max_pool_same", "MaxPool", [given], pool(x, kernel, strides, (1, 1), pads, np.max, 0), dims=places, **attributes)


def add_squeezes(model):
    """Without axes, where the rank that is declared tells whether symbolic dimensions are 1."""
    x = random.standard_normal((1, 3, 1)).astype("f4")
    model.case("squeeze_all", "Squeeze", [model.input(x, dims=["one", 3, 1])], x[0, :, 0], dims=[3])
    x = random.standard_normal((4, 3, 1)).astype("f4")
    model.case("squeeze_none", "Squeeze", [model.input(x, dims=["four", 3, 1])], x[:, :, 0], dims=[None, 3])


def add_squeezes_behind(model):
    """Without axes and declared rank, where the model holds together only when one of the dimensions is 1."""
    x = random.standard_normal((1, 3, 4)).astype("f4")
    model.nodes.append(helper.make_node("Squeeze", [model.input(x, dims=["lone", 3, 4])], ["squeezed"]))
    model.case("squeeze_for_rank", "Transpose", ["squeezed"], x[0].T, perm=[1, 0])
    x = random.standard_normal((1, 3)).astype("f4")
    given = model.input(x, dims=["late", 3])
    model.nodes.append(helper.make_node("Squeeze", [given], ["all"]))
    model.nodes.append(helper.make_node("Squeeze", [given, model.weight(np.array([0]), "i8")], ["named"]))
    model.case("squeeze_as_another", "Add", ["all", "named"], 2 * x[0])


def add_broadcasts(model):
    """Symbolic dimensions of which one has to be 1: below what is made of it, or below one that other nodes give a number."""
    x = random.standard_normal((1, 5)).astype("f4")
    given = model.input(x, dims=["pair", 5])
    model.nodes.append(helper.make_node("Concat", [given, given], ["twice"], axis=0))
    model.case("add_to_twice", "Add", ["twice", given], np.concatenate([x, x]) + x, dims=[None, 5])
    x, y, w = random.standard_normal((3, 6)).astype("f4"), random.standard_normal((1, 5)).astype("f4"), random.standard_normal((3, 6)).astype("f4")
    long, row = model.input(x, dims=[3, "six"]), model.input(y, dims=["row", 5])
    model.case("six", "MatMul", [long, model.weight(w.T)], x @ w.T)
    model.nodes.append(helper.make_node("Transpose", [long], ["upright"], perm=[1, 0]))
    model.nodes.append(helper.make_node("Slice", ["upright", model.weight(np.array([0, 0]), "i8"), model.weight(np.array([-1, 1]), "i8")], ["five"]))
    model.case("add_row", "Add", ["five", row], x.T[:5, :1] + y, dims=[None, 5])


def add_computed_broadcasts(model):
    """A size that the model computes and that is 1 in this run: with a symbol, and with another computed size."""
    sizes = {"few": 3, "many": 11}
    for name, size in sizes.items():
        x = random.standard_normal((1, 4, size)).astype("f4")
        model.nodes.append(helper.make_node("MaxPool", [model.input(x, dims=[1, 4, name])], [f"pooled_{name}"], kernel_shape=[2], strides=[2]))
        sizes[name] = x[:, :, :size // 2 * 2].reshape(1, 4, -1, 2).max(3)
    y = random.standard_normal(6).astype("f4")
    model.case("add_symbol", "Add", ["pooled_few", model.input(y, dims=["symbol"])], sizes["few"] + y, dims=[1, 4, None])
    model.case("mul_computed", "Mul", ["pooled_few", "pooled_many"], sizes["few"] * sizes["many"], dims=[1, 4, None])


def add_first_backwards(model):
    """A slice from 0 backwards is the first row, which Squeeze without axes takes to be there."""
    x, y = random.standard_normal((7, 3)).astype("f4"), random.standard_normal(4).astype("f4")
    bounds = [model.weight(np.array([bound]), "i8") for bound in (0, np.iinfo("i8").min, -2, -1)]
    model.nodes.append(helper.make_node("Slice", [model.input(x, dims=["upwards", 3]), *bounds], ["first_row"]))
    model.nodes.append(helper.make_node("Squeeze", ["first_row"], ["first"]))
    model.case("concat_first", "Concat", ["first", model.weight(y)], np.concatenate([x[0], y]), axis=-1)


def add_long_borders(model):
    """A border longer than a symbolic dimension, which only a reflection may not have."""
    x = random.standard_normal((1, 3)).astype("f4")
    for mode, take in ("edge", "clip"), ("wrap", "wrap"):
        given = model.input(x, dims=[f"rows_{mode}", f"columns_{mode}"])
        pads = model.weight(np.array([2, 1, 3, 7]), "i8")
        model.case(f"pad_{mode}", "Pad", [given, pads], x.take(range(-2, 4), 0, mode=take).take(range(-1, 10), 1, mode=take), dims=[None, None], mode=mode)


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    model, faults = Model(), []
    add_pools(model)
    add_symbolic_sums(model)
    add_same_borders(model)
    add_squeezes(model)
    add_squeezes_behind(model)
    add_broadcasts(model)
    add_computed_broadcasts(model)
    add_first_backwards(model)
    add_long_borders(model)
    model.save(folder / "m.onnx", opset=19)
    inputs = model.save_inputs(folder)
    for target in targets:
        kiln("run", folder / "m.onnx", "--target", target, "--output-dir", folder / target, *inputs)
        for case, (exact, dtype) in model.expected.items():
            if fault := describe_difference(np.load(folder / target / f"{case}.npy"), exact, dtype, BOUNDS):
                faults.append(f"{case}, {target}: {fault}")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(model.expected)} results right on {len(targets)} targets")


if __name__ == "__main__":
    main()
