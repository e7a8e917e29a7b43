"""Compares the example of similarity with what TensorFlow.js computes of the same weights (use_lite.json).

Usage: use_lite.py lines                         prints the lines for the tokenizer
       use_lite.py pieces < NUMBERS              compares its numbers
       use_lite.py vectors KILN MODEL VOCABULARY TOKENIZER FOLDER    runs the encoder on single sentences, and compares vectors
       use_lite.py cosines PROGRAM VOCABULARY    runs the example, and compares cosines and ranking
"""
import json
import pathlib
import subprocess
import sys

import numpy

recorded = json.loads((pathlib.Path(__file__).parent / "use_lite.json").read_text(encoding="utf-8"))


def compare_pieces():
    lines = sys.stdin.read().split("\n")[:-1]
    assert len(lines) == len(recorded["lines"]), len(lines)
    for got, line in zip(lines, recorded["lines"]):
        assert [int(number) for number in got.split()] == line["pieces"], (line, got)
    print(f"{len(lines)} lines have the same pieces")


def compare_vectors(kiln, model, vocabulary, tokenizer, folder):
    worst = 0
    for group in recorded["groups"]:
        sentence = group["sentences"][0]
        pieces = subprocess.run([tokenizer, vocabulary], input=sentence + "\n", capture_output=True, text=True, check=True).stdout.split()
        numpy.save(f"{folder}/pieces.npy", numpy.array([pieces], numpy.int64))
        subprocess.run([kiln, "run", model, "--input", f"pieces={folder}/pieces.npy", "--output-dir", folder, "-q"], check=True)
        worst = max(worst, numpy.abs(numpy.load(f"{folder}/vectors.npy")[0] - group["vector"]).max())
    print(f"vectors: largest difference {worst:.1e}")
    assert worst < 1e-6


def compare_cosines(program, vocabulary):
    for group in recorded["groups"]:
        first, *others = group["sentences"]
        printed = subprocess.run([program, vocabulary, first, *others], capture_output=True, text=True, check=True).stdout
        got = [(float(line[:7]), line[9:]) for line in printed.splitlines()]
        expected = sorted(zip(group["cosines"], others), reverse=True)
        assert [sentence for _, sentence in got] == [sentence for _, sentence in expected], (got, expected)
        assert all(abs(a - b) < 1e-4 for (a, _), (b, _) in zip(got, expected)), (got, expected)
    print(f"{len(recorded['groups'])} rankings agree")


if __name__ == "__main__":
    if sys.argv[1] == "lines":
        print("\n".join(line["text"] for line in recorded["lines"]))
    else:
        {"pieces": compare_pieces, "vectors": compare_vectors, "cosines": compare_cosines}[sys.argv[1]](*sys.argv[2:])
