"""Operators on strings give what Python gives: those that ask, those that move and those that make strings.

Usage: string_operators.py OUT
"""

import pathlib
import re
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

X = np.array([["cat", "Straße"], ["", "the 中 dog"], ["x.y", "a.b.c"]])
Y = np.array(["cat", "."])
WORDS = np.array(["The", "cat", "ÄRGER", "the", "ω"])
MANY = ["b", "a", "b", "", "ab", "a", "ä", "b"]
CASES = []


def case(name, op, inputs, expected, domain="", **attributes):
    CASES.append((helper.make_node(op, inputs, [name], name, domain=domain, **attributes), np.array(expected)))


def add_moves():
    case("padded", "Pad", ["x", "pads", "dot"], np.pad(X, ((1, 0), (0, 2)), constant_values="."))
    case("padded_empty", "Pad", ["x", "pads"], np.pad(X, ((1, 0), (0, 2)), constant_values=""))
    case("padded_edge", "Pad", ["x", "pads"], np.pad(X, ((1, 0), (0, 2)), "edge"), mode="edge")
    case("cropped", "CenterCropPad", ["x", "one_four"], np.pad(X[1:2], ((0, 0), (1, 1)), constant_values=""))
    case("upper", "Trilu", ["x"], [["cat", "Straße"], ["", "the 中 dog"], ["", ""]])
    case("lower", "Trilu", ["x"], [["cat", ""], ["", "the 中 dog"], ["x.y", "a.b.c"]], upper=0)
    case("y_row", "Unsqueeze", ["y", "zero"], [Y])
    case("doubled", "Concat", ["x", "x"], np.concatenate([X, X]), axis=0)
    scattered = X.copy()
    scattered[[1, 0], [0, 1]] = ["cat", "."]
    case("scattered", "ScatterElements", ["x", "rows", "y_row"], scattered, axis=0)
    case("scattered_nd", "ScatterND", ["x", "last", "y_row"], np.concatenate([X[:2], [Y]]))
    case("unique", "Unique", ["many"], sorted({"b", "a", "", "ab", "ä"}))
    CASES[-1][0].output.extend(["unique_at", "unique_of", "unique_counts"])
    case("unique_in_place", "Unique", ["many"], ["b", "a", "", "ab", "ä"], sorted=0)
    case("unique_rows", "Unique", ["doubled"], np.array(sorted(X.tolist())), axis=0)


# Each is nearest to one double, but not all to one as near as 17 digits say.
NUMBERS = ["1", "-2.5", "1e-7", "123456789012345678901234567890", "0.1", "4.9e-324", "2.4703282292062328e-324", "1.7976931348623157e308",
           "1.7976931348623159e308", "9007199254740993", "9007199254740993.00000000000000000000000000000001", "-INF", "nan", "+inf", "00.50", "3.E2"]


def add_conversions():
    doubles = np.array([float(text) for text in NUMBERS])
    with np.errstate(over="ignore"):
        case("parsed", "Cast", ["texts_of_numbers"], doubles, to=TensorProto.DOUBLE)
        case("parsed_floats", "Cast", ["texts_of_numbers"], doubles.astype(np.float32), to=TensorProto.FLOAT)
        case("parsed_like", "CastLike", ["texts_of_numbers", "half"], doubles.astype(np.float16))
    case("parsed_integers", "Cast", ["texts_of_integers"], np.array([7, -12, 9223372036854775807, 1000]), to=TensorProto.INT64)
    case("parsed_bytes", "Cast", ["texts_of_integers"], np.array([7, 244, 255, 232], np.uint8), to=TensorProto.UINT8)
    case("printed", "Cast", ["parsed"], [repr(float(number)) for number in doubles], to=TensorProto.STRING)
    case("printed_floats", "Cast", ["floats_to_print"], [str(number) for number in FLOATS], to=TensorProto.STRING)
    case("printed_integers", "Cast", ["parsed_integers"], ["7", "-12", "9223372036854775807", "1000"], to=TensorProto.STRING)
    case("printed_like", "CastLike", ["numbers", "y"], ["2", "0", "1"])


FLOATS = np.array([0.1, 1e-5, 16777216, 1e16, 3.4028235e38, 1e-45, -0.0, 123456.79, np.inf, np.nan], np.float32)


SENTENCES = ["a cat's tail42 - end", "x_y, end", "", "stra\u00dfe --, -"]


def hash_bytes(text, seed):
    """MurmurHash3_x86_32."""
    data, mask = text.encode(), 0xffffffff
    rotate = lambda x, by: (x << by | x >> (32 - by)) & mask
    state = seed
    for at in range(0, len(data), 4):
        part = data[at:at + 4]
        state ^= rotate(int.from_bytes(part, "little") * 0xcc9e2d51 & mask, 15) * 0x1b873593 & mask
        state = (rotate(state, 13) * 5 + 0xe6546b64) & mask if len(part) == 4 else state
    state ^= len(data)
    for shift, factor in ((16, 0x85ebca6b), (13, 0xc2b2ae35), (16, 1)):
        state = (state ^ state >> shift) * factor & mask
    return state


def add_contrib():
    contrib = {"domain": "com.microsoft", "mark": 0, "mincharnum": 1, "pad_value": "#"}
    fill = lambda rows: [row + ["#"] * (max(map(len, rows)) - len(row)) for row in rows]
    for name, pattern in (("tokens_at_edges", r"\b[a-z]+\b"), ("tokens_at_ends", r"^[a-z]+|[a-z]+$"), ("tokens_within", r"\B[a-z]+")):
        case(name, "Tokenizer", ["sentences"], fill([re.findall(pattern, text, re.ASCII) for text in SENTENCES]), tokenexp=pattern, **contrib)
    parts = [[part for part in re.split(r"\B-\B", text, flags=re.ASCII) if part] for text in SENTENCES]
    case("parts_at_edges", "Tokenizer", ["sentences"], fill(parts), separators=[r"\B-\B"], **contrib)
    case("hashes", "MurmurHash3", ["x"], np.vectorize(lambda text: hash_bytes(text, 7))(X).astype(np.uint32), "com.microsoft", seed=7)
    case("hashes_with_sign", "MurmurHash3", ["y"], np.array([hash_bytes(text, 0) for text in Y], np.uint32).astype(np.int32), "com.microsoft", positive=0)
    case("columns", "ArrayFeatureExtractor", ["x", "one"], X[:, 1:], "ai.onnx.ml")


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
    CASES[-1][0].output.append("part_counts")
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
    add_moves()
    add_conversions()
    add_contrib()
    case("known", "Identity", ["texts"], ["x.y", "a.b.c"])
    case("one_known", "Constant", [], "ä\"\n", value_string="ä\"\n")
    case("many_known", "Constant", [], ["a", "", "b"], value_strings=["a", "", "b"])


def build(path):
    info = helper.make_tensor_value_info
    integers = {"one": [1], "two": [2], "shape": [2, 2], "three": [3], "one_two": [1, 2], "places": [[1, 0], [0, 0], [0, 1]],
                "pads": [1, 0, 0, 2], "one_four": [1, 4], "zero": [0], "rows": [[1, 0]], "last": [[2]]}
    weights = [numpy_helper.from_array(np.array(values, np.int64), name) for name, values in integers.items()]
    weights.append(helper.make_tensor("texts", TensorProto.STRING, [2], [b"x.y", b"a.b.c"]))
    weights.append(helper.make_tensor("words_2x2", TensorProto.STRING, [1, 1, 2, 2], [b"a", b"b", b"c", b"d"]))
    for name, values in {"dot": ["."], "many": MANY, "texts_of_numbers": NUMBERS, "texts_of_integers": ["7", "-12.9", "9223372036854775807", "1e3"], "sentences": SENTENCES}.items():
        weights.append(helper.make_tensor(name, TensorProto.STRING, [] if name == "dot" else [len(values)], [text.encode() for text in values]))
    weights.append(numpy_helper.from_array(np.zeros(1, np.float16), "half"))
    weights.append(numpy_helper.from_array(FLOATS, "floats_to_print"))
    weights.append(numpy_helper.from_array(np.array([[True], [False], [True]]), "asked"))
    inputs = [info("x", TensorProto.STRING, [3, 2]), info("y", TensorProto.STRING, [2]), info("words", TensorProto.STRING, ["n"]),
              info("numbers", TensorProto.INT64, [3]), info("reals", TensorProto.FLOAT, [3])]
    outputs = [helper.make_empty_tensor_value_info(name) for node, _ in CASES for name in node.output]
    graph = helper.make_graph([node for node, _ in CASES], "g", inputs, outputs, weights)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 2), helper.make_opsetid("com.microsoft", 1)]
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
        kiln_calls.run("run", out / "m.onnx", f"--target={target}", "--threads=2", f"--output-dir={out}", *arguments)
        found = {node.output[0]: np.load(out / f"{node.output[0]}.npy") for node, _ in CASES}
        wrong = [(node.name, found[node.name].tolist(), expected.tolist()) for node, expected in CASES
                 if found[node.name].shape != expected.shape or not np.array_equal(found[node.name], expected, equal_nan=expected.dtype.kind == "f")]
        assert not wrong, wrong
        unique = [np.load(out / f"unique_{what}.npy").tolist() for what in ("at", "of", "counts")]
        assert unique == [[3, 1, 4, 0, 6], [3, 1, 3, 0, 2, 1, 4, 3], [1, 2, 1, 3, 1]], unique
        assert np.load(out / "word_counts.npy").tolist() == [[1, 1], [0, 2], [1, 1]]
    print(len(CASES), "cases right on 2 targets")


if __name__ == "__main__":
    main()
