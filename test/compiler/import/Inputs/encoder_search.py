"""Searches over a small encoder and decoder, and over a decoder in f16: the sequences are those of ONNX Runtime 1.30, which encoder_search.json has.

Usage: encoder_search.py DIR [--record LIBRARY], where LIBRARY is libonnxruntime.so.1 of that release, writes the file anew. It has no searches in f16: what is
recorded for these is a decoder in f32. Its CPU build refuses decoders with DecoderMaskedMultiHeadAttention, and for others with a buffer that past and present
share it never counts past_sequence_length up: what is recorded for these is the same decoder with presents of its own. Each entry is recorded by itself, as in
beam_search.py.
"""

import json
import pathlib
import sys

import model_run
import numpy as np
import search_models
from beam_search import ORDER
from greedy_search import PADDING, PROMPT, number

RECORDS = pathlib.Path(__file__).with_name("encoder_search.json")
OUTPUTS = {"sequences": ("i4", ["rows", "kept", "most"]), "sequences_scores": ("f4", ["rows", "kept"])}
ORDERS = {"BeamSearch": [*ORDER, "decoder_input_ids", "logits_processor"], "WhisperBeamSearch": [*ORDER, "decoder_input_ids", "logits_processor", "cross", "extra", "temperature"],
          "GreedySearch": ["input_ids", "max_length"]}
# Inputs with a row for each entry.
ROWS = ("input_ids", "attention_mask", "decoder_input_ids", "extra")


def cases():
    """(name, operator, inputs, which of them are constants, symbolic dimensions, attributes and graphs). A function gives these for a run (True) or a record."""
    base = {"input_ids": PROMPT, "max_length": number(9), "min_length": number(0), "num_beams": number(3), "num_return_sequences": number(2), "length_penalty": number(1, "f4")}
    known = ("max_length", "num_beams", "num_return_sequences")
    t5 = lambda form: dict(zip(("encoder", "decoder"), search_models.encoder_decoder(form)), model_type=1, decoder_start_token_id=2)
    masked = {**base, "attention_mask": np.array([[0, 1, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1]], "i4"), "repetition_penalty": number(1.3, "f4")}
    yield "T5, symbolic sizes", "BeamSearch", base, known, {"input_ids": ["batch", "source"]}, {**t5("t5"), "eos_token_id": 4}
    yield "T5, with a mask", "BeamSearch", masked, known, {}, {**t5("t5 new"), "eos_token_id": 12}
    spoken = {**base, "input_ids": np.random.RandomState(3).standard_normal((2, search_models.FEATURES, 5)).astype("f4"),
              "decoder_input_ids": np.array([[2, 7], [3, 9]], "i4"), "temperature": number(0.7, "f4")}
    whisper = dict(zip(("encoder", "decoder"), search_models.encoder_decoder("whisper")), model_type=2, eos_token_id=4)
    yield "Whisper", "WhisperBeamSearch", spoken, known, {}, whisper
    yield "Whisper, as a BeamSearch", "BeamSearch", {name: array for name, array in spoken.items() if name != "temperature"}, known, {}, whisper
    longer = {**spoken, "max_length": number(14), "num_beams": number(4), "logits_processor": number(1)}
    times = {"beginning_timestamp_token_id": 12, "no_timestamps_token_id": 11, "start_of_lm_token_id": 10, "transcribe_token_id": 9, "translate_token_id": 7, "decoder_start_token_id": 2}
    yield "Whisper, with timestamps", "WhisperBeamSearch", longer, (*known, "logits_processor"), {}, {**whisper, **times}
    # Tokens from 12 on stand for times, of which the first prompt has one and the second a pair.
    begun = {**longer, "decoder_input_ids": np.array([[2, 15, 7], [3, 14, 14]], "i4"), "num_return_sequences": number(4)}
    yield "Whisper, behind timestamps", "WhisperBeamSearch", begun, (*known, "logits_processor"), {}, {**whisper, **times}
    shared = lambda form, cache, rest: lambda run: {**rest, **dict(zip(("encoder", "decoder"), search_models.encoder_decoder(form, cache if run else None)))}
    yield "T5, with a shared buffer", "BeamSearch", masked, known, {"input_ids": ["batch", "source"]}, shared("t5", "indirect", {**t5("t5"), "eos_token_id": 12})
    yield "T5, without the first step and with a shared buffer", "BeamSearch", masked, known, {}, shared("t5 new", "plain", {**t5("t5 new"), "eos_token_id": 12})
    ignored = {**spoken, "cross": np.array([[0, 0], [0, 1]], "i4"), "extra": np.array([[5], [6]], "i4")}
    yield "Whisper, with a shared buffer", "WhisperBeamSearch", ignored, known, {}, shared("whisper", "indirect", whisper)
    half = lambda half: {"decoder": search_models.gpt_decoder(half=half), "init_decoder": search_models.gpt_decoder(half=half)}
    gpt = lambda run: {"decoder": search_models.shared_gpt_decoder()}
    yield "GPT, with a shared buffer", "GreedySearch", {"input_ids": PROMPT, "max_length": number(10)}, ("max_length",), {"input_ids": ["batch", "length"]}, gpt
    yield "in f16, with an init_decoder", "GreedySearch", {"input_ids": PROMPT, "max_length": number(10)}, ("max_length",), {}, half


def build(op, inputs, known, dims, attributes):
    outputs = {"sequences": ("i4", ["rows", "most"])} if op == "GreedySearch" else OUTPUTS
    return search_models.search_model(op, ORDERS[op], inputs, outputs, known, dims, **{"eos_token_id": 22, "pad_token_id": PADDING, **attributes}), list(outputs)


def record(library, op, inputs, known, attributes, folder):
    """The outputs, each entry by itself."""
    entries = []
    for row in range(len(inputs["input_ids"])):
        own = {name: array[row:row + 1] if name in ROWS else array for name, array in inputs.items()}
        model, names = build(op, own, known, {}, attributes)
        entries.append(search_models.run_onnxruntime(library, model, {name: array for name, array in own.items() if name not in known}, names, folder))
    return [np.concatenate(parts).tolist() for parts in zip(*entries)]


def judge_no_speech(folder):
    """The probability of no speech is what the encoder's logits behind the prompt give the token. ONNX Runtime's CPU build leaves it 0."""
    _, op, inputs, known, _, attributes = next(case for case in cases() if case[0] == "Whisper")
    outputs = {"sequences": OUTPUTS["sequences"], "": None, " ": None, "  ": None, "silence": ("f4", ["batch"])}
    model = search_models.search_model(op, ORDERS[op], inputs, {name: type for name, type in outputs.items() if type}, known, {}, **{"pad_token_id": PADDING, **attributes, "no_speech_token_id": 8})
    model.graph.node[0].output[:] = [name.strip() for name in outputs]
    (silence,) = model_run.run(folder, model, {name: array for name, array in inputs.items() if name not in known}, ["silence"])
    encoder = search_models.helper.make_model(attributes["encoder"], opset_imports=[search_models.helper.make_opsetid("", 17)], ir_version=8)
    (logits,) = model_run.run(folder, encoder, {"encoder_input_ids": inputs["input_ids"], "decoder_input_ids": inputs["decoder_input_ids"]}, ["logits"])
    powers = np.exp(logits[:, -1] - logits[:, -1].max(-1, keepdims=True))
    expected = powers[:, 8] / powers.sum(-1)
    print("no speech: equal" if np.allclose(silence, expected, 1e-5) else f"no speech: {silence}, expected {expected}")


def judge_scores(folder, case, cache, **more):
    """The scores of the cross attention are what the encoder's graph sees behind all tokens at once, and 0 behind the end. ONNX Runtime's CPU build has none."""
    padding = 5
    _, op, inputs, known, _, attributes = next(each for each in cases() if each[0] == "Whisper")
    inputs = {**inputs, **more}
    encoder, decoder = search_models.encoder_decoder("whisper", cache, scores=True)
    outputs = {"sequences": OUTPUTS["sequences"], "scores": ("f4", ["batch", "kept", "pairs", "steps", "frames"])}
    model = search_models.search_model(op, ORDERS[op], inputs, outputs, known, {"input_ids": ["batch", search_models.FEATURES, "frames"], "decoder_input_ids": ["batch", "length"]},
                                       **{**attributes, "pad_token_id": padding, "encoder": encoder, "decoder": decoder, "decoder_output_cross_qk": 1})
    model.graph.node[0].output[:] = ["sequences", "", "", "scores"]
    sequences, scores = model_run.run(folder, model, {name: array for name, array in inputs.items() if name not in known}, list(outputs))
    seen = search_models.value("output_cross_qk_0", "f4", ["rows", search_models.HEADS, "tokens", "source"])
    whole = search_models.helper.make_model(encoder, opset_imports=[search_models.helper.make_opsetid("", 17)], ir_version=8)
    whole.graph.output.append(seen)
    length, steps = inputs["decoder_input_ids"].shape[1], scores.shape[3]
    pairs = more.get("cross", np.array([[0, head] for head in range(search_models.HEADS)]))
    wrong = scores.shape[:3] + scores.shape[4:] != (*sequences.shape[:2], len(pairs), inputs["input_ids"].shape[2])
    for kept in range(sequences.shape[1]):
        tokens = sequences[:, kept, :length + steps]
        (all_scores,) = model_run.run(folder, whole, {"encoder_input_ids": inputs["input_ids"], "decoder_input_ids": np.ascontiguousarray(tokens)}, ["output_cross_qk_0"])
        expected = all_scores[:, pairs[:, 1], length:] * (tokens[:, None, length:, None] != padding)
        wrong = wrong or not np.allclose(scores[:, kept], expected, 1e-4, 1e-5)
    forced = more.get("extra", np.full((1, 1), -1))
    kept_forced = ((sequences[:, :, length:length + forced.shape[1]] == forced[:, None]) | (forced[:, None] < 0)).all()
    ended = (sequences == padding).any()
    print(f"{case}: equal" if not wrong and kept_forced and ended and steps else f"{case}: {scores}, expected the encoder's; {sequences}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    records = {} if "--record" in sys.argv else json.loads(RECORDS.read_text())
    for case, op, inputs, known, dims, attributes in cases():
        make = attributes if callable(attributes) else lambda half: attributes
        if "--record" in sys.argv:
            records[case] = record(sys.argv[-1], op, inputs, known, make(False), folder)
            continue
        model, names = build(op, inputs, known, dims, make(True))
        got = model_run.run(folder, model, {name: array for name, array in inputs.items() if name not in known}, names)
        wrong = [f"{name}: {array.tolist()}, expected {expected}" for name, array, expected in zip(names, got, records[case]) if not np.allclose(array, expected, 1e-4, 1e-4)]
        print(f"{case}: equal" if not wrong else f"{case}: {'; '.join(wrong)}")
    if "--record" not in sys.argv:
        judge_no_speech(folder)
        judge_scores(folder, "scores of all heads", None)
        judge_scores(folder, "scores of some heads behind given tokens", "indirect", cross=np.array([[0, 1]], "i4"), extra=np.array([[7, 16], [19, -1]], "i4"))
    if "--record" in sys.argv:
        RECORDS.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(parts)}" for name, parts in records.items()) + "\n}\n")


if __name__ == "__main__":
    main()
