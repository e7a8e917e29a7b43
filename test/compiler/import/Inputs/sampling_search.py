"""Sampling over a small GPT: the tokens are those of ONNX Runtime 1.32, which sampling_search.json has. Its CPU kernel does not give the second output, the
scores that the last tokens are drawn from; they are checked by themselves.

Usage: sampling_search.py DIR [--record LIBRARY], where LIBRARY is libonnxruntime.so.1 of that release, writes the file anew.
"""

import json
import pathlib
import sys

import model_run
import numpy as np
import onnx
import search_models
from greedy_search import PADDING, PROMPT, mask, number

ORDER = ["input_ids", "max_length", "min_length", "repetition_penalty", "vocab_mask", "prefix_vocab_mask", "attention_mask", "presence_mask", "seed"]
ENDS = {"eos_token_id": 22, "pad_token_id": PADDING, "vocab_size": search_models.VOCABULARY}
RECORDS = pathlib.Path(__file__).with_name("sampling_search.json")


def cases():
    """(name, inputs, which of them are constants, symbolic dimensions, attributes)"""
    base = {"input_ids": PROMPT, "max_length": number(16), "seed": number(7)}
    known, symbols = ("max_length",), {"input_ids": ["batch", "length"]}
    most = {"top_p": 0.9}
    yield "nearly all tokens", base, known, {}, most
    yield "another seed, symbolic sizes", {**base, "seed": number(12345)}, known, symbols, most
    yield "no seed", {name: base[name] for name in ("input_ids", "max_length")}, known, {}, most
    yield "the greatest seed, and a constant", {**base, "seed": number(2147483647)}, ("max_length", "seed"), {}, most
    yield "one step", {**base, "max_length": number(5)}, known, {}, most
    yield "the likeliest tokens", base, known, {}, {"top_p": 0.3}
    yield "at least three", base, known, {}, {"top_p": 0.1, "min_tokens_to_keep": 3}
    yield "hot", base, known, {}, {**most, "temperature": 2.5}
    yield "cold", base, known, {}, {**most, "temperature": 0.1}
    yield "its own rules", base, known, {}, {"top_p": 0.6, "custom": 1}
    yield "a filter that still counts", base, known, {}, {"top_p": 0.4, "filter_value": -1.0}
    yield "many rows", {**base, "input_ids": np.resize(PROMPT, (11, 4))}, known, {}, {**most, "eos_token_id": 4}
    rules = {"min_length": number(8), "repetition_penalty": number(1.2, "f4"), "vocab_mask": mask(1, 3), "prefix_vocab_mask": mask(5, 6, rows=3)}
    yield "everything", {**base, **rules}, known, symbols, {**most, "eos_token_id": 12, "no_repeat_ngram_size": 2, "temperature": 1.5}


def check_scores(scores, tokens):
    """Whether scores of one step fit what was drawn: some are filtered, which lie below all others, and the tokens are of the others."""
    kept = scores > np.float32(-1e20)
    return kept[np.arange(len(tokens)), tokens].all() and (kept.sum(1) < scores.shape[1]).all() and (scores[~kept] == np.float32(-1e20)).all()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    records = {} if "--record" in sys.argv else json.loads(RECORDS.read_text())
    for name, inputs, known, dims, attributes in cases():
        attributes = {**ENDS, **attributes}
        outputs = {"sequences": ("i4", ["rows", "most"])}
        if name == "one step" and "--record" not in sys.argv:
            outputs["filtered_logits"] = ("f4", ["rows", "words"])
        model = search_models.search_model("Sampling", ORDER, inputs, outputs, known, dims, decoder=search_models.gpt_decoder(sharpness=0.015), **attributes)
        given = {name: array for name, array in inputs.items() if name not in known}
        if "--record" in sys.argv:
            rows = search_models.run_onnxruntime(sys.argv[-1], model, given, list(outputs), folder)[0].copy()
            # Behind the end of the last row it leaves the memory as it is.
            while not rows[:, -1].any():
                rows = rows[:, :-1]
            records[name] = np.pad(rows, ((0, 0), (0, inputs["max_length"][0] - rows.shape[1])), constant_values=PADDING).tolist()
            continue
        got, *scores = model_run.run(folder, model, given, list(outputs))
        if got.tolist() != records[name]:
            print(f"{name}: {got.tolist()}, expected {records[name]}")
        elif scores and not check_scores(scores[0], got[:, -1]):
            print(f"{name}: expected other scores than {scores[0].tolist()}")
        else:
            print(f"{name}: equal")
    model = search_models.search_model("Sampling", ORDER, {"input_ids": PROMPT, "max_length": number(9), "presence_mask": mask(1, rows=3)},
                                       {"sequences": ("i4", ["rows", "most"])}, decoder=search_models.gpt_decoder(), presence_penalty=0.5, **ENDS)
    onnx.save(model, str(folder / "model.onnx"))
    if "--record" not in sys.argv:
        print(model_run.kiln_calls.call(folder / "model.onnx", "--emit=header", "-o", folder / "out").stderr.strip().split(".onnx: ")[-1])
    if "--record" in sys.argv:
        RECORDS.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in records.items()) + "\n}\n")


if __name__ == "__main__":
    main()
