#!/usr/bin/env python3
"""What ONNX Runtime translates with the three graphs of docs/examples/translation: record-translation.py FOLDER SENTENCES

Needs ORT_LIB, the path of libonnxruntime.so. Prints a line of words for each sentence, and fails where two words are nearly as good as each other, so that
another order of additions could take the other one. translation-f32.txt and translation-int8.txt are what it printed.
"""
import os
import pathlib
import sys

import numpy as np

root = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(root / "test/operators"))
from onnxruntime_library import OnnxRuntime

HEADS, WIDTH, LAYERS, LONGEST, END = 4, 16, 2, 32, 0
#: The least distance between the best two scores.
MARGIN = 0.002
KINDS = [f"{kind}_{i}" for i in range(LAYERS) for kind in ("key", "value")]


def translate(ort, folder, source, shortlist):
    def integers(*numbers):
        return np.array(numbers, "i8"), "i64"

    about_source = ort.run(folder / "encoder.onnx", {"source": integers(*source), "positions_of_source": integers(*range(len(source)))},
                           [f"source_{kind}" for kind in KINDS])
    caches, word, words = [np.zeros((HEADS, 0, WIDTH), "f4") for _ in KINDS], END, []
    while len(words) < LONGEST:
        inputs = {"word": integers(word), "position": integers(len(words))}
        inputs |= {f"past_{kind}": (cache, "f32") for kind, cache in zip(KINDS, caches)}
        inputs |= {f"source_{kind}": (tensor, "f32") for kind, tensor in zip(KINDS, about_source)}
        hidden, *caches = ort.run(folder / "decoder.onnx", inputs, ["hidden", *(f"present_{kind}" for kind in KINDS)])
        (scores,) = ort.run(folder / "output.onnx", {"hidden": (hidden, "f32"), "shortlist": integers(*shortlist)}, ["scores"])
        second, best = np.sort(scores[0])[-2:]
        if best - second < MARGIN:
            sys.exit(f"word {len(words)} of {source}: the best scores are {best} and {second}")
        word = shortlist[int(np.argmax(scores))]
        if word == END:
            break
        words.append(word)
    return words


def main():
    folder, ort = pathlib.Path(sys.argv[1]), OnnxRuntime(os.environ["ORT_LIB"])
    for line in pathlib.Path(sys.argv[2]).read_text().splitlines():
        source, shortlist = ([int(word) for word in half.split()] for half in line.split(":"))
        print(*translate(ort, folder, source, shortlist))


if __name__ == "__main__":
    main()
