#!/usr/bin/env python3
"""What softmax and attention promise about numbers, with every form of exp: accuracy.py FOLDER TARGET..."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

# Relative error of exp in each form, and of what is made of it; an f16 row holds exp before the quotient: two roundings.
EXP = {"exact": 1.1 * 2.0**-23, "ulp4": 4 * 2.0**-23, "half": 2.0**-12}
ROUNDING = {"f32": 2.0**-21, "f16": 2.0**-10}

TEXT = """
module attributes {nn.model = "accuracy"} {
  func.func @main(%x: tensor<24x1000xf32> {nn.name = "x"}, %h: tensor<24x1000xf16> {nn.name = "h"}, %c: tensor<2x33x40xf32> {nn.name = "c"},
                  %equal: tensor<1x65536xf16> {nn.name = "equal"}, %apart: tensor<1x2xf32> {nn.name = "apart"},
                  %a: tensor<16x8xf16> {nn.name = "a"}, %b: tensor<8x16xf16> {nn.name = "b"},
                  %q: tensor<1x2x16x64xf16> {nn.name = "q"}, %k: tensor<1x2x16x64xf16> {nn.name = "k"}, %v: tensor<1x2x16x64xf16> {nn.name = "v"})
      -> (tensor<24x1000xf32> {nn.name = "softmax"}, tensor<24x1000xf16> {nn.name = "softmax_half"}, tensor<2x33x40xf32> {nn.name = "softmax_columns"},
          tensor<24x1000xf32> {nn.name = "exp"}, tensor<24x1000xf32> {nn.name = "sigmoid"}, tensor<24x1000xf32> {nn.name = "swish"},
          tensor<24x1000xf32> {nn.name = "log_softmax"},
          tensor<1x65536xf16> {nn.name = "even"}, tensor<1x2xf32> {nn.name = "log_apart"},
          tensor<16x16xf16> {nn.name = "product"}, tensor<1x2x16x64xf16> {nn.name = "attended"}) {
    %0 = nn.softmax %x axis 1 : tensor<24x1000xf32>
    %1 = nn.softmax %h axis 1 : tensor<24x1000xf16>
    %2 = nn.softmax %c axis 1 : tensor<2x33x40xf32>
    %3 = nn.exp %x : tensor<24x1000xf32>
    %4 = nn.sigmoid %x : tensor<24x1000xf32>
    %5 = nn.swish %x {alpha = 1.0 : f64} : tensor<24x1000xf32>
    %6 = nn.log_softmax %x axis 1 : tensor<24x1000xf32>
    %7 = nn.softmax %equal axis 1 : tensor<1x65536xf16>
    %8 = nn.log_softmax %apart axis 1 : tensor<1x2xf32>
    %9 = nn.matmul %a, %b : tensor<16x8xf16>, tensor<8x16xf16> -> tensor<16x16xf16>
    %10 = nn.attention query(%q) key(%k) value(%v) scale 0.125
      : (tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>) -> tensor<1x2x16x64xf16>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<24x1000xf32>, tensor<24x1000xf16>, tensor<2x33x40xf32>, tensor<24x1000xf32>,
      tensor<24x1000xf32>, tensor<24x1000xf32>, tensor<24x1000xf32>, tensor<1x65536xf16>, tensor<1x2xf32>, tensor<16x16xf16>, tensor<1x2x16x64xf16>
  }
}
"""


def make_inputs():
    random = np.random.default_rng(3)
    # Few bits, so that a difference is exact and the error is that of exp.
    draw = lambda limit, *shape: (np.round(random.uniform(-limit, limit, shape) * 2**16) / 2**16).astype("f4")
    wide = draw(60, 24, 1000)
    wide[0, 5:900] = -np.inf
    signs = np.where(np.arange(8) % 2, -1.0, 1.0)
    # Each score of the attention is 64 * 40 * 40 = 102400 or its negative before the scale of 1/8.
    query = np.full((1, 2, 16, 64), 40.0) * np.where(np.arange(16) % 2, -1, 1)[:, None]
    key = np.full((1, 2, 16, 64), 40.0) * np.where(np.arange(16) % 4 < 2, -1, 1)[:, None]
    half = {"h": random.uniform(-8, 8, (24, 1000)), "equal": np.full((1, 65536), 3.0), "q": query, "k": key, "v": random.uniform(-1, 1, (1, 2, 16, 64)),
            # Products of 90000 that cancel but for the last one.
            "a": np.full((16, 8), 300.0), "b": (300 * signs)[:, None] * np.ones((8, 16)) + np.eye(8, 16)}
    return {"x": wide, "c": draw(30, 2, 33, 40), "apart": np.array([[0, -200]], "f4"),
            **{name: array.astype("f2") for name, array in half.items()}}


def softmax(x, axis):
    shifted = np.exp(x - x.max(axis, keepdims=True))
    return shifted / shifted.sum(axis, keepdims=True)


def check(name, got, exact, bound, least=0.0):
    # The cheaper forms of exp may give 0 below 2^-125.
    got = got.astype("f8")
    error = np.abs(got - exact) / np.maximum(np.abs(exact), max(least, 2.0**-100))
    if got.shape != exact.shape or not np.nanmax(error) <= bound or np.isnan(got).any():
        sys.exit(f"{name}: relative error {np.nanmax(error)}, allowed {bound}")
    return np.nanmax(error)


def check_forms(folder, inputs, form, half_form):
    """The largest relative error of exp."""
    wide = {name: array.astype("f8") for name, array in inputs.items()}
    read = lambda name: np.load(folder / f"{name}.npy")
    x, error, half = wide["x"], EXP[form], EXP[half_form]
    with np.errstate(over="ignore", invalid="ignore"):
        measured = check("exp", read("exp"), np.exp(x), error)
        check("sigmoid", read("sigmoid"), 1 / (1 + np.exp(-x)), error + ROUNDING["f32"])
        finite = np.where(np.isinf(x), 0, x)
        check("swish", np.where(np.isinf(x), 0, read("swish")), finite / (1 + np.exp(-finite)), error + ROUNDING["f32"])
    for name, source in (("softmax", "x"), ("softmax_columns", "c")):
        check(name, read(name), softmax(wide[source], 1), 2 * error + ROUNDING["f32"] * 2)
    # Below its normal numbers f16 has steps of 2^-24.
    check("softmax_half", read("softmax_half"), softmax(wide["h"], 1), 2 * half + ROUNDING["f16"], 2.0**-14)
    if (read("softmax")[0, 5:900] != 0).any():
        sys.exit("softmax: -inf must become 0")
    return measured


def check_sums(folder, inputs):
    """Sums are kept in f32, whatever the operands are."""
    read = lambda name: np.load(folder / f"{name}.npy").astype("f8")
    total = read("even").sum()
    if abs(total - 1) > 1e-3:
        sys.exit(f"the softmax of 65536 equal values sums to {total}")
    if (read("log_apart") != [[0, -200]]).any():
        sys.exit(f"log-softmax of 0 and -200: {read('log_apart')}")
    wide = {name: array.astype("f8") for name, array in inputs.items()}
    check("product", read("product"), wide["a"] @ wide["b"], 2.0**-10, 1.0)
    scores = wide["q"] @ np.swapaxes(wide["k"], -1, -2)
    assert np.abs(scores).max() > 65504 and np.abs(wide["a"][:, :1] * wide["b"][0]).max() > 65504
    check("attended", read("attended"), softmax(scores / 8, -1) @ wide["v"], 2.0**-9, 0.1)


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    (folder / "accuracy.mlir").write_text(TEXT)
    inputs = make_inputs()
    arguments = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    whole, split = [], ["--decompose=all"]
    for target in targets:
        measured = {}
        for options, form, half in (([], "exact", "exact"), (["--accuracy=fast"], "ulp4", "half"),
                                    (["--op-accuracy=exp=half,sigmoid=half,swish=half,softmax=half"], "half", "half")):
            for shape in (whole, split) if form == "ulp4" else (whole,):
                kiln_calls.run("run", folder / "accuracy.mlir", "--target", target, "--output-dir", folder, *options, *shape, *arguments)
                measured[form] = check_forms(folder, inputs, form, half)
                check_sums(folder, inputs)
        if not measured["exact"] < measured["ulp4"] < measured["half"]:
            sys.exit(f"{target}: the forms of exp do not differ: {measured}")
    print(f"3 forms of exp, f16 sums and log-softmax right on {len(targets)} targets")


main()
