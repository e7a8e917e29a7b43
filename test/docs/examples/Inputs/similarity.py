"""A vocabulary, a small encoder of BERT's form with drawn weights, and what the example of similarity must compute with them.

Usage: similarity.py make FOLDER                    writes vocab.txt, encoder.onnx and lines.txt
       similarity.py tokens FOLDER < NUMBERS        compares the tokenizer's numbers for lines.txt with BERT's rules, written down here once more
       similarity.py check FOLDER SENTENCE OTHERS... < OUTPUT
"""
import pathlib
import sys
import unicodedata

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS, INNER, POSITIONS = 24, 3, 40, 64
WORDS = """[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog sat slept on in sofa mat train leaves at ten station to way is this my ! , . ? ' - ( ) 7 10 ##7 ##s ##ing ##ed
play un ##believ ##able uber cafe strasse weiß ß über ελλαδα привет мир 日 本 語 hello world ##d w ##or ##l 中 e ##x ##e # ## ### : “ ” … — i l""".split()
LINES = ["Hello, World!", "The CAT sat on the mat.", "unbelievable playing, played; plays", "ÜBER Café Straße weiß", "ΕΛΛΑΔΑ привет МИР Привет", "日本語 hello中world", "   \t ", "",
         "10777 7 77", "e\u0301cafe\u0301 \u00c9\u0143", "zero\u200bwidth a\u00adb \ufeffthe", "the\u00a0cat\u3000dog\u2003sat", "it's a-b (x) \u201chello\u201d \u2026 \u2014",
         "x" * 101 + " " + "e" * 100, "the " * 40, "[CLS] [MASK] ##ing #", "\u0130\u0131\u0141\u00c6\u00d8", "\U0001f600 the \U00020000 cat"]
RAW = [b"\xff\xfethe\xc3 cat\xe4\xb8", b"\xc0\xafdog \xed\xa0\x80the \xf4\x90\x80\x80cat"]


def words_of(text):
    spaced = []
    for c in text:
        category = unicodedata.category(c)
        if c in "\t\n\r" or category == "Zs":
            spaced.append(" ")
        elif category in ("Cc", "Cf") or c == "\ufffd":
            continue
        elif 0x4E00 <= ord(c) <= 0x9FFF or 0x20000 <= ord(c) <= 0x2CEAF:
            spaced += [" ", c, " "]
        else:
            spaced.append(c)
    for word in "".join(spaced).split():
        word = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(c) != "Mn")
        part = ""
        for c in word:
            if unicodedata.category(c).startswith("P") or 33 <= ord(c) <= 47 or 58 <= ord(c) <= 64 or 91 <= ord(c) <= 96 or 123 <= ord(c) <= 126:
                yield from filter(None, [part, c])
                part = ""
            else:
                part += c
        yield from filter(None, [part])


def encode(text, most=256):
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    ids = []
    for word in words_of(text):
        pieces, at = [], 0
        while at < len(word) <= 100:
            size = next((n for n in range(len(word) - at, 0, -1) if ("##" if at else "") + word[at:at + n] in vocabulary), 0)
            if not size:
                break
            pieces.append(vocabulary[("##" if at else "") + word[at:at + size]])
            at += size
        ids += pieces if at == len(word) else [vocabulary["[UNK]"]]
    return [vocabulary["[CLS]"]] + ids[:most - 2] + [vocabulary["[SEP]"]]


def draw_weights():
    rng = np.random.default_rng(7)

    def draw(*shape):
        return (rng.normal(0, 1, shape) / np.sqrt(shape[0] if len(shape) > 1 else 4)).astype(np.float32)

    shapes = {"words": (len(WORDS), WIDTH), "positions": (POSITIONS, WIDTH), "types": (2, WIDTH), "query": (WIDTH, WIDTH), "key": (WIDTH, WIDTH), "value": (WIDTH, WIDTH),
              "out": (WIDTH, WIDTH), "up": (WIDTH, INNER), "down": (INNER, WIDTH), "scale": (WIDTH,), "bias": (WIDTH,)}
    return {name: draw(*shape) for name, shape in shapes.items()}


def write_model(path):
    weights = draw_weights()
    nodes, constants = [], [numpy_helper.from_array(value, name) for name, value in weights.items()]

    def node(op, *inputs, name=None, **attributes):
        result = name or f"v{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [result], **attributes))
        return result

    def constant(value, name):
        constants.append(numpy_helper.from_array(np.array(value), name))
        return name

    def heads(x, perm):
        return node("Transpose", node("Reshape", x, constant(np.array([0, 0, HEADS, WIDTH // HEADS]), f"shape{len(nodes)}")), perm=perm)

    def norm(x, name=None):
        return node("LayerNormalization", x, "scale", "bias", name=name, axis=-1, epsilon=1e-12)

    length = node("Gather", node("Shape", "input_ids"), constant(1, "one"))
    places = node("Range", constant(0, "zero"), length, "one")
    x = node("Add", node("Gather", "words", "input_ids"), node("Gather", "types", "token_type_ids"))
    x = norm(node("Add", x, node("Gather", "positions", places)))
    hidden = node("Sub", constant(np.float32(1), "f1"), node("Cast", node("Unsqueeze", "attention_mask", constant(np.array([1, 2]), "axes")), to=1))
    scores = node("MatMul", heads(node("MatMul", x, "query"), [0, 2, 1, 3]), heads(node("MatMul", x, "key"), [0, 2, 3, 1]))
    scores = node("Div", scores, constant(np.float32(np.sqrt(WIDTH // HEADS)), "root"))
    scores = node("Softmax", node("Add", scores, node("Mul", hidden, constant(np.float32(-10000), "far"))), axis=-1)
    mixed = node("Transpose", node("MatMul", scores, heads(node("MatMul", x, "value"), [0, 2, 1, 3])), perm=[0, 2, 1, 3])
    mixed = node("Reshape", mixed, constant(np.array([0, 0, WIDTH]), "whole"))
    x = norm(node("Add", x, node("MatMul", mixed, "out")))
    norm(node("Add", x, node("MatMul", node("Relu", node("MatMul", x, "up")), "down")), name="last_hidden_state")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch_size", "sequence_length"]) for name in ("input_ids", "attention_mask", "token_type_ids")]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch_size", "sequence_length", WIDTH])
    model = helper.make_model(helper.make_graph(nodes, "encoder", inputs, [output], constants), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))


def embed(sentence):
    """The same in numpy, for one sentence without padding."""
    w = {name: value.astype(np.float64) for name, value in draw_weights().items()}
    ids = encode(sentence)

    def norm(x):
        centered = x - x.mean(-1, keepdims=True)
        return centered / np.sqrt((centered**2).mean(-1, keepdims=True)) * w["scale"] + w["bias"]

    def heads(x):
        return x.reshape(len(ids), HEADS, -1).transpose(1, 0, 2)

    x = norm(w["words"][ids] + w["types"][0] + w["positions"][:len(ids)])
    scores = heads(x @ w["query"]) @ heads(x @ w["key"]).transpose(0, 2, 1) / np.sqrt(WIDTH // HEADS)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (scores / scores.sum(-1, keepdims=True) @ heads(x @ w["value"])).transpose(1, 0, 2).reshape(len(ids), WIDTH)
    x = norm(x + mixed @ w["out"])
    vector = norm(x + np.maximum(x @ w["up"], 0) @ w["down"]).sum(0)
    return vector / np.linalg.norm(vector)


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    lines = [line.encode() for line in LINES] + RAW
    if what == "make":
        (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
        (folder / "lines.txt").write_bytes(b"\n".join(lines) + b"\n")
        write_model(folder / "encoder.onnx")
    elif what == "tokens":
        found = [[int(number) for number in line.split()] for line in sys.stdin]
        expected = [encode(line.decode(errors="ignore"), 24) for line in lines]
        for line, f, e in zip(lines, found, expected):
            assert f == e, f"{line.decode(errors='replace')!r}: {[WORDS[i] for i in f]}, expected {[WORDS[i] for i in e]}"
        assert len(found) == len(expected)
        print(f"{len(found)} lines have the same pieces")
    else:
        sentence, *others = sys.argv[3:]
        expected = sorted(((float(embed(sentence) @ embed(other)), other) for other in others), key=lambda pair: -pair[0])
        found = [(float(line[:7]), line[9:].rstrip("\n")) for line in sys.stdin]
        assert [text for _, text in found] == [text for _, text in expected], f"{found}, expected {expected}"
        assert all(abs(f - e) < 2e-4 for (f, _), (e, _) in zip(found, expected)), f"{found}, expected {expected}"
        print("the ranking is right")


main()
