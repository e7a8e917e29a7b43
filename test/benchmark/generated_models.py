"""Models that are only measured and too large to be kept: written when they are asked for, with seeded weights."""

import functools
import pathlib
import sys

import onnx

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "end-to-end")]
import cases  # noqa: E402
import int4_chains  # noqa: E402
from seeded.exported import GroupedDecoder  # noqa: E402


class LlamaDecoder(GroupedDecoder):
    """Two layers with the shape of those of Llama 3.2 1B, weights of four bits, and a vocabulary of 32,000 words."""

    SIZE, HEADS, KEY_HEADS, HEAD, WIDE, WORDS, PLACES = 2048, 32, 8, 64, 8192, 32000, 512


#: By name: what makes the model, and an entry as in cases.json.
MODELS = {"llama_decode": (lambda: LlamaDecoder().model("llama_decode"),
                           {"dims": {"batch": 1, "seq": 1, "past": 128, "total": 129}, "fill": {"input_ids": "randint:0:32000", "attention_mask": "1"}}),
          "int4_decode_chain": (lambda: int4_chains.Chain(1).model(), {}),
          "int4_prefill_chain": (lambda: int4_chains.Chain(128).model(), {})}


class Case(cases.Case):
    """One of these models."""

    def __init__(self, name):
        super().__init__(name, MODELS[name][1])

    @functools.cached_property
    def path(self):
        file = cases.written_models() / f"{self.name}.onnx"
        onnx.save(MODELS[self.name][0](), str(file))
        return file
