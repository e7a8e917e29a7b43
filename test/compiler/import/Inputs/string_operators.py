"""Operators on strings give what Python gives: those that ask, those that move and those that make strings.

Usage: string_operators.py OUT
"""

import pathlib
import re
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

X = np.array([["cat", "Straße"], ["", "the 中 dog"], ["x.y", "a.b.c"]])
Y = np.array(["cat", "."])
WORDS = np.array(["The", "cat", "ÄRGER", "the", "ω"])
CASES = []


def case(name, op, inputs, expected, domain="", **attributes):
    CASES.append((helper.make_node(op, inputs, [name], name, domain=domain, **attributes), np.array(expected)))


def build_cases():
    case("equal", "Equal", ["x", "y"], X == Y)
    case("equal_constant", "Equal", ["x", "texts"], X == np.array(["x.y", "a.b.c"]))
    pattern = r"[a-z.]*(\bdog)?"
    case("matches", "RegexFullMatch", ["x"], [[bool(re.fullmatch(pattern, text)) for text in row] for row in X], pattern=pattern)
    case("joined", "StringConcat", ["x", "y"], np.char.add(X, Y))
    case("joined_twice", "StringConcat", ["joined", "joined"], np.char.add(np.char.add(X, Y), np.char.add(X, Y)))
    for action, change in (("UPPER", str.upper), ("LOWER", str.lower), ("NONE", str)):
        for sensitive, stops in ((1, ["the"]), (0, ["THE"])):
            kept = [word for word in WORDS if (word if sensitive else word.lower()) != "the"]
            case(f"normal_{action}_{sensitive}", "StringNormalizer", ["words"], [change(word) for word in kept],
                 case_change_action=action, is_case_sensitive=sensitive, stopwords=stops)
    case("nothing_left", "StringNormalizer", ["y"], [""], stopwords=["cat", "."])
    parts = [[text.split(".") for text in row] for row in X]
    case("parts", "StringSplit", ["x"], [[(p + [""] * 3)[:3] for p in row] for row in parts], delimiter=".")
    case("words_of", "StringSplit", ["x"], [[(text.split(None, 1) + [""] * 2)[:2] for text in row] for row in X], maxsplit=1)
    CASES[-1][0].output.append("word_counts")
    case("codes", "LabelEncoder", ["x"], [[{"cat": 7, "": 9}.get(text, -1) for text in row] for row in X], "ai.onnx.ml",
         keys_strings=["cat", ""], values_int64s=[7, 9])
    case("floats", "LabelEncoder", ["y"], np.array([0.5, 1.5], np.float32), "ai.onnx.ml", keys_strings=[".", "cat", "cat"], values_floats=[1.5, 0.5, 9.0])
    case("texts_of", "LabelEncoder", ["numbers"], ["two", "none", "one"], "ai.onnx.ml", keys_int64s=[1, 2], values_strings=["one", "two"], default_string="none")
    case("of_nan", "LabelEncoder", ["reals"], np.array([3, 1, 9]), "ai.onnx.ml", keys_floats=[0.5, float("nan")], values_int64s=[1, 3], default_int64=9)
    case("taken", "Gather", ["x", "numbers"], X[[2, 0, 1]], axis=0)
    case("taken_each", "GatherElements", ["x", "places"], np.take_along_axis(X, np.array([[1, 0], [0, 0], [0, 1]]), 1), axis=1)
    case("together", "Concat", ["x", "x"], np.concatenate([X, X], 1), axis=1)
    case("turned", "Transpose", ["x"], X.T)
    case("flat", "Flatten", ["x"], X.reshape(1, 6), axis=0)
    case("sliced", "Slice", ["x", "one", "two"], X[1:2])
    case("spread", "Expand", ["y", "shape"], np.broadcast_to(Y, (2, 2)))
    case("same", "Identity", ["x"], X)
    case("chosen", "Where", ["equal", "x", "y"], np.where(X == Y, X, Y))
    case("chosen_known", "Where", ["asked", "texts", "x"], np.where([[True], [False], [True]], np.array(["x.y", "a.b.c"]), X))
    case("hot", "OneHot", ["numbers", "three", "y"], np.where(np.eye(3, dtype=bool)[[2, 0, 1]], ".", "cat"))
    case("hot_first", "OneHot", ["numbers", "three", "y"], np.where(np.eye(3, dtype=bool)[[2, 0, 1]].T, ".", "cat"), axis=0)
    case("reversed", "ReverseSequence", ["x", "one_two"], np.stack([X[[0, 1, 2], 0], X[[1, 0, 2], 1]], 1), batch_axis=1, time_axis=0)
    case("deep", "SpaceToDepth", ["words_2x2"], [[[["a"]], [["b"]], [["c"]], [["d"]]]], blocksize=2)
    case("spatial", "DepthToSpace", ["deep"], [[[["a", "b"], ["c", "d"]]]], blocksize=2)
    case("known", "Identity", ["texts"], ["x.y", "a.b.c"])
    case("one_known", "Constant", [], "ä\"\n", value_string="ä\"\n")
    case("many_known", "Constant", [], ["a", "", "b"], value_strings=["a", "", "b"])


def build(path):
    info = helper.make_tensor_value_info
    integers = {"one": [1], "two": [2], "shape": [2, 2], "three": [3], "one_two": [1, 2], "places": [[1, 0], [0, 0], [0, 1]]}
    weights = [numpy_helper.from_array(np.array(values, np.int64), name) for name, values in integers.items()]
    weights.append(helper.make_tensor("texts", TensorProto.STRING, [2], [b"x.y", b"a.b.c"]))
    weights.append(helper.make_tensor("words_2x2", TensorProto.STRING, [1, 1, 2, 2], [b"a", b"b", b"c", b"d"]))
    weights.append(numpy_helper.from_array(np.array([[True], [False], [True]]), "asked"))
    inputs = [info("x", TensorProto.STRING, [3, 2]), info("y", TensorProto.STRING, [2]), info("words", TensorProto.STRING, ["n"]),
              info("numbers", TensorProto.INT64, [3]), info("reals", TensorProto.FLOAT, [3])]
    outputs = [helper.make_empty_tensor_value_info(name) for node, _ in CASES for name in node.output]
    graph = helper.make_graph([node for node, _ in CASES], "g", inputs, outputs, weights)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 2)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))


def main():
    out = pathlib.Path(sys.argv[1])
    build_cases()
    build(out / "m.onnx")
    given = {"x": X, "y": Y, "words": WORDS, "numbers": np.array([2, 0, 1]), "reals": np.array([np.nan, 0.5, 2], np.float32)}
    for name, array in given.items():
        np.save(out / f"{name}.npy", array)
    arguments = [f"--input={name}={out}/{name}.npy" for name in given]
    for target in "generic", "x86-64-v3":
        subprocess.run(["kiln", "run", out / "m.onnx", f"--target={target}", "--threads=2", f"--output-dir={out}", *arguments], check=True)
        found = {node.output[0]: np.load(out / f"{node.output[0]}.npy") for node, _ in CASES}
        wrong = [(node.name, found[node.name].tolist(), expected.tolist()) for node, expected in CASES
                 if found[node.name].shape != expected.shape or not np.array_equal(found[node.name], expected)]
        assert not wrong, wrong
        assert np.load(out / "word_counts.npy").tolist() == [[1, 1], [0, 2], [1, 1]]
    print(len(CASES), "cases right on 2 targets")


if __name__ == "__main__":
    main()
