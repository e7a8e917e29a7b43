"""BeamSearch over a small GPT: the sequences and scores are those of ONNX Runtime 1.30, which beam_search.json has.

Usage: beam_search.py DIR [--record LIBRARY], where LIBRARY is libonnxruntime.so.1 of that release, writes the file anew. It asks for the best candidate of
another entry when it looks whether an entry is done, so each entry is recorded by itself.
"""

import json
import pathlib
import sys

import model_run
import numpy as np
import search_models
from greedy_search import PADDING, PROMPT, mask, number

ORDER = ["input_ids", "max_length", "min_length", "num_beams", "num_return_sequences", "length_penalty", "repetition_penalty", "vocab_mask", "prefix_vocab_mask", "attention_mask"]
RECORDS = pathlib.Path(__file__).with_name("beam_search.json")
OUTPUTS = {"sequences": ("i4", ["rows", "kept", "most"]), "sequences_scores": ("f4", ["rows", "kept"]), "scores": ("f4", ["steps", "rows", "beams", search_models.VOCABULARY])}


def cases():
    """(name, inputs, which of them are constants, symbolic dimensions, attributes, whether the scores of all steps are compared)"""
    # ONNX Runtime wants a min_length, and a length_penalty where a model has scores.
    base = {"input_ids": PROMPT, "max_length": number(12), "min_length": number(0), "num_beams": number(3), "num_return_sequences": number(2),
            "length_penalty": number(1, "f4")}
    known = ("max_length", "num_beams", "num_return_sequences")
    symbolic = {"input_ids": ["batch", "length"]}
    yield "no end", base, known, {}, {}, True
    yield "symbolic sizes", {**base, "length_penalty": number(0.7, "f4")}, known[1:], symbolic, {"eos_token_id": 4}, False
    yield "one beam", {**base, "num_beams": number(1), "num_return_sequences": number(1)}, known, {}, {"eos_token_id": 12}, False
    yield "one step", {**base, "max_length": number(5)}, known, {}, {"eos_token_id": 1}, True
    for end in (1, 12):
        yield f"an end, {end}", {**base, "length_penalty": number(1.5, "f4")}, known + ("length_penalty",), {}, {"eos_token_id": end}, False
    yield "early", {**base, "num_beams": number(4)}, known, {}, {"eos_token_id": 1, "early_stopping": 1}, False
    yield "early, with scores", {**base, "input_ids": PROMPT[1:2], "num_beams": number(2)}, known, symbolic, {"eos_token_id": 1, "early_stopping": 1}, True
    rules = {"min_length": number(7), "repetition_penalty": number(1.3, "f4"), "vocab_mask": mask(5, 6), "prefix_vocab_mask": mask(7, 9, rows=3),
             "attention_mask": np.array([[0, 1, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1]], "i4")}
    yield "all rules", {**base, **rules}, known, {}, {"eos_token_id": 12, "no_repeat_ngram_size": 2}, False


def record(library, build, inputs, known, names, folder):
    """The outputs, each entry by itself."""
    entries = []
    for row in range(len(inputs["input_ids"])):
        own = {name: array[row:row + 1] if name in ("input_ids", "prefix_vocab_mask", "attention_mask") else array for name, array in inputs.items()}
        given = {name: array for name, array in own.items() if name not in known}
        entries.append(search_models.run_onnxruntime(library, build(own), given, names, folder))
    return {name: np.concatenate(parts, 1 if name == "scores" else 0).tolist() for name, parts in zip(names, zip(*entries))}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    records = {} if "--record" in sys.argv else json.loads(RECORDS.read_text())
    for case, inputs, known, dims, attributes, has_scores in cases():
        attributes = {"eos_token_id": 22, "pad_token_id": PADDING, **attributes}
        outputs = {name: type for name, type in OUTPUTS.items() if has_scores or name != "scores"}
        build = lambda own: search_models.search_model("BeamSearch", ORDER, own, outputs, known, dims, decoder=search_models.gpt_decoder(sharpness=0.04), **attributes)
        if "--record" in sys.argv:
            records[case] = record(sys.argv[-1], build, inputs, known, list(outputs), folder)
            continue
        got = model_run.run(folder, build(inputs), {name: array for name, array in inputs.items() if name not in known}, outputs)
        wrong = []
        for name, array in zip(outputs, got):
            expected = np.array(records[case][name])
            if name == "scores" and case.startswith("early"):
                # What ONNX Runtime has for steps that it leaves out is the memory as it was.
                assert array[0].any() and not array[-1].any()
                expected[~array.any((1, 2, 3))] = 0
            same = np.array_equal(array, expected) if name == "sequences" else np.allclose(array, expected, 1e-4, 1e-4)
            wrong += [] if same else [f"{name}: {array.tolist()}, expected {expected.tolist()}"]
        print(f"{case}: equal" if not wrong else f"{case}: {'; '.join(wrong)}")
    if "--record" in sys.argv:
        RECORDS.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(parts)}" for name, parts in records.items()) + "\n}\n")


if __name__ == "__main__":
    main()
