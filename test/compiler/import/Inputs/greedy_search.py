"""GreedySearch over a small GPT: the tokens are those of ONNX Runtime 1.30, which greedy_search.json has.

Usage: greedy_search.py DIR [--record LIBRARY], where LIBRARY is libonnxruntime.so.1 of that release, writes the file anew.
"""

import json
import pathlib
import sys

import model_run
import numpy as np
import search_models

ORDER = ["input_ids", "max_length", "min_length", "repetition_penalty", "vocab_mask", "prefix_vocab_mask", "attention_mask"]
PROMPT = np.array([[3, 7, 11, 2], [23, 23, 5, 9], [23, 14, 1, 20]], "i4")
PADDING = 23
RECORDS = pathlib.Path(__file__).with_name("greedy_search.json")


def number(value, kind="i4"):
    return np.array([value], kind)


def mask(*forbidden, rows=None):
    allowed = np.ones((search_models.VOCABULARY,), "i4")
    allowed[list(forbidden)] = 0
    return allowed if rows is None else np.stack([np.roll(allowed, row) for row in range(rows)])


def cases():
    """(name, inputs, which of them are constants, symbolic dimensions, attributes)"""
    base = {"input_ids": PROMPT, "max_length": number(16)}
    known = ("max_length",)
    yield "symbolic sizes", base, known, {"input_ids": ["batch", "length"]}, {}
    yield "a length that run time knows", base, (), {"input_ids": ["batch", "length"]}, {}
    yield "one step", {**base, "max_length": number(5)}, known, {}, {}
    yield "an end", base, known, {}, {"eos_token_id": 4}
    yield "all rows end", {**base, "input_ids": PROMPT[:1]}, known, {}, {"eos_token_id": 12}
    yield "no end before", {**base, "min_length": number(9)}, known, {}, {"eos_token_id": 12}
    yield "a penalty", {**base, "repetition_penalty": number(1.6, "f4")}, known + ("repetition_penalty",), {}, {}
    yield "a penalty that run time knows", {**base, "repetition_penalty": number(1.3, "f4")}, known, {"input_ids": ["batch", "length"]}, {}
    yield "no token again", base, known, {}, {"no_repeat_ngram_size": 1}
    yield "no n-grams of 6 again", {**base, "max_length": number(24)}, known, {}, {"no_repeat_ngram_size": 6}
    yield "no pairs again, of symbolic sizes", base, (), {"input_ids": ["batch", "length"]}, {"no_repeat_ngram_size": 2}
    yield "a vocabulary", {**base, "vocab_mask": mask(0, 4, 12, 15)}, known, {}, {}
    yield "a vocabulary of the first step", {**base, "prefix_vocab_mask": mask(0, 4, 5, 6, 12, 15, 17, 18, rows=3)}, known, {}, {}
    yield "a mask", {**base, "attention_mask": np.array([[0, 1, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1]], "i4")}, known, {}, {}
    everything = {"min_length": number(8), "repetition_penalty": number(1.2, "f4"), "vocab_mask": mask(1, 3), "prefix_vocab_mask": mask(5, 6, rows=3)}
    yield "everything", {**base, **everything}, known, {"input_ids": ["batch", "length"]}, {"eos_token_id": 12, "no_repeat_ngram_size": 2}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    records = {} if "--record" in sys.argv else json.loads(RECORDS.read_text())
    for name, inputs, known, dims, attributes in cases():
        attributes = {"eos_token_id": 22, "pad_token_id": PADDING, **attributes}
        model = search_models.search_model("GreedySearch", ORDER, inputs, {"sequences": ("i4", ["rows", "most"])}, known, dims,
                                           decoder=search_models.gpt_decoder(), **attributes)
        given = {name: array for name, array in inputs.items() if name not in known}
        if "--record" in sys.argv:
            rows = search_models.run_onnxruntime(sys.argv[-1], model, given, ["sequences"], folder)[0].copy()
            # Behind the end of the last row it leaves the memory as it is.
            while not rows[:, -1].any():
                rows = rows[:, :-1]
            records[name] = np.pad(rows, ((0, 0), (0, inputs["max_length"][0] - rows.shape[1])), constant_values=PADDING).tolist()
            continue
        got = model_run.run(folder, model, given, ["sequences"])[0].tolist()
        print(f"{name}: equal" if got == records[name] else f"{name}: {got}, expected {records[name]}")
    if "--record" in sys.argv:
        RECORDS.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in records.items()) + "\n}\n")


if __name__ == "__main__":
    main()
