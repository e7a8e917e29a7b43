"""Models in ONNX's textual syntax: what Kiln reads of them, beside onnx's own parser, and what becomes of broken ones.

Usage: text_models.py DIR TEST...      the sections of these tests become the same IR as text and as files that onnx has parsed
       text_models.py DIR --broken     each fault has its message and its line, and no mutant of a text crashes
"""

import pathlib
import random
import re
import subprocess
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import onnx_types  # noqa: E402

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
LIBRARY = '''<ir_version: 8, opset_import: ["" : 17, "acme" : 1]>  # a comment
g (float[n, 2] x, bool c) => (float[n, 2] y) <float one = {1.0}, float[2] w {-2, 3.5}> {
  h = acme.Gate<slope = 0.5>(x)
  s = If<then_branch = t () => (float[n, 2] a) { a = Add(h, one) }, else_branch = e () => (float[n, 2] b) { b = Identity(h) }>(c)
  v = Constant<value = float[2] {1, 2}>()
  y = Sum(s, w, v)
}
<domain: "acme", opset_import: ["" : 17]>
Gate<slope>(a) => (b) { b = LeakyRelu<alpha: float = @slope>(a) }
'''
#: (what is wrong, the text, what is said of it)
BROKEN = [
    ("nothing", "\n", "line 2: expected '<' around the header"),
    ("header", "<ir_version 8>", "line 1: expected ':' behind a key of the header"),
    ("key", "<magic: 8>", "line 1: 'magic' is no key of a model's header"),
    ("version", "<ir_version: 8.5>", "line 1: expected a version, got '8.5'"),
    ("quote", '<producer_name: "Kiln', "line 1: a text has no closing quote"),
    ("domain", "<opset_import: [1 : 17]>", "line 1: expected a domain in quotes"),
    ("end", HEADER + "g () => () { y = Relu(x)", "line 2: expected '}' behind the nodes"),
    ("arrow", HEADER + "g () -> () {}", "line 2: expected '=>' between inputs and outputs"),
    ("type", HEADER + "g (float9[2] x) => () {}", "line 2: expected ')' around the inputs of a graph"),
    ("element", HEADER + "g (seq(word) x) => () {}", "line 2: expected a type, got 'word'"),
    ("dims", HEADER + "g (float[2 x) => () {}", "line 2: expected ']' behind dimensions"),
    ("result", HEADER + "g () => () { = Relu(x) }", "line 2: expected the name of a result"),
    ("equals", HEADER + "g () => () { y Relu(x) }", "line 2: expected '=' behind the results of a node"),
    ("operands", HEADER + "g () => () {\n y = Relu x }", "line 3: expected '(' around operands"),
    ("attribute", HEADER + "g () => () { y = Relu<alpha>(x) }", "line 2: expected '=' behind the name of an attribute"),
    ("kind", HEADER + "g () => () { y = Relu<alpha: real = 1>(x) }", "line 2: 'real' is no type of an attribute"),
    ("other-kind", HEADER + 'g () => () { y = Relu<alpha: int = "a">(x) }', "line 2: attribute 'alpha' has a value of another type"),
    ("value", HEADER + "g () => () { y = Relu<alpha = ?>(x) }", "line 2: expected the value of attribute 'alpha'"),
    ("reference", HEADER + "g () => () { y = Relu<alpha = @beta>(x) }", "line 2: attribute 'alpha' refers to one of the function, and has no type"),
    ("number", HEADER + "g () => () <float[1] w = {1.2.3}> {}", "line 2: expected a number, got '1.2.3'"),
    ("sign", HEADER + "g () => () <uint64[1] w = {-1}> {}", "line 2: expected a number of 0 or more, got '-1'"),
    ("half", HEADER + "g () => () <float16[1] w = {1}> {}", "line 2: constants of 16-bit floats are written as int32 with a Cast"),
    ("types", HEADER + "g (" + "seq(" * 70 + "float" + ")" * 70 + " x) => () {}", "line 2: types are nested more than 64 deep"),
    ("graphs", HEADER + "g () => () {" + "y = If<then_branch = g () => () {" * 70, "line 2: graphs are nested more than 64 deep"),
    ("function", HEADER + "g () => () {}\n<name: 1>", "line 3: 'name' is no key of a function's header"),
    ("rest", HEADER + "g () => () {}\nmore", "line 3: expected a function or the end"),
]


def read(path):
    done = subprocess.run(["kiln-import", path], capture_output=True, text=True, timeout=10)
    return done.returncode, done.stdout, done.stderr


def compare(folder, tests):
    same = 0
    for test in tests:
        sections = re.split(r"^//--- (\S+)\n", pathlib.Path(test).read_text(), flags=re.M)[1:]
        for name, body in zip(sections[::2], sections[1::2]):
            text = "".join(line for line in body.splitlines(True) if not line.startswith("//"))
            if name.endswith(".textproto"):
                continue
            text = text if text.lstrip().startswith("<") else HEADER + text
            (folder / f"{name}.onnxtxt").write_text(text)
            onnx.save(onnx_types.parse_model(text), str(folder / f"{name}.onnx"))
            own, other = read(folder / f"{name}.onnxtxt"), read(folder / f"{name}.onnx")
            if own[:2] != other[:2]:
                print(f"{name}: {own} and {other}")
            same += own[:2] == other[:2]
    print(f"{same} models are the same")


def break_texts(folder):
    for name, text, words in BROKEN:
        path = folder / f"{name}.onnxtxt"
        path.write_text(text)
        status, _, said = read(path)
        if status != 1 or f"cannot parse as ONNX text: {words}" not in said:
            print(f"{name}: status {status}, {said}")
    print(f"{len(BROKEN)} faults")
    numbers = random.Random(1)
    for number in range(80):
        text = list(LIBRARY)
        for _ in range(numbers.randint(1, 4)):
            at = numbers.randrange(len(text))
            text[at:at + numbers.randint(0, 3)] = numbers.choice(['"', "<", ">", "(", "{", "}", "[", "@", ",", "9", "\\", "x", ""])
        path = folder / "mutant.onnxtxt"
        path.write_text("".join(text))
        status, _, said = read(path)
        if status not in (0, 1) or "internal error" in said:
            print(f"mutant {number}: status {status}, {said}\n{''.join(text)}")
    print("80 mutants")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "library.onnxtxt").write_text(LIBRARY)
    break_texts(folder) if sys.argv[2] == "--broken" else compare(folder, sys.argv[2:])


if __name__ == "__main__":
    main()
