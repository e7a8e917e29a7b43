"""Transformers as ONNX Runtime's optimiser leaves them (onnxruntime.transformers.optimizer): BERT, GPT-2 and the decoder of Whisper, and BERT quantised afterwards."""

import numpy as np

from .graph import Graph
from .quantized import rounded

DOMAIN = "com.microsoft"


class Fused:
    """What the optimised models share: projections, norms of sums, and gelu with the bias of the product before it."""

    HEADS, WORDS, PLACES, EPSILON = 4, 100, 64, 1e-5

    def __init__(self, seed, size, wide):
        self.g, self.size, self.wide = Graph(seed), size, wide

    def fused(self, kind, *inputs, **attributes):
        return self.g.add(kind, *inputs, domain=DOMAIN, **attributes)

    def matrix(self, inputs, outputs):
        return self.g.weight(inputs, outputs, scale=inputs ** -0.5)

    def bias(self, size):
        return self.g.weight(size, scale=0.1)

    def norm(self):
        """Scale and offset of a layer norm."""
        return self.g.weight(self.size, scale=0.1, offset=1.0), self.bias(self.size)

    def product(self, x, inputs, outputs):
        return self.g.add("MatMul", x, self.matrix(inputs, outputs))

    def mlp(self, x, gelu):
        wide = self.fused(gelu, self.product(x, self.size, self.wide), self.bias(self.wide))
        return self.product(wide, self.wide, self.size)

    def integer(self, x):
        """The 32 bits that the fused operators take."""
        return self.g.add("Cast", x, to=6)


class Bert(Fused):
    """Embeddings with a mask that becomes a number of tokens for each entry of the batch, layers that normalise their sums, and the pooler."""

    def attention(self, x, mask):
        return self.fused("Attention", x, self.matrix(self.size, 3 * self.size), self.bias(3 * self.size), mask, num_heads=self.HEADS)

    def add_norm(self, x, more):
        scale, offset = self.norm()
        return self.fused("SkipLayerNormalization", more, x, scale, offset, self.bias(self.size), epsilon=1e-12)

    def embed(self, ids, segments, mask):
        g = self.g
        tables = [g.weight(rows, self.size, scale=scale) for rows, scale in ((self.WORDS, 1.0), (self.PLACES, 0.3), (2, 0.3))]
        return self.fused("EmbedLayerNormalization", ids, segments, *tables, *self.norm(), mask, outputs=2, epsilon=1e-12)

    def model(self, name, layers):
        g = self.g
        values = [self.integer(g.input(input, np.int64, ["batch", "seq"])) for input in ("input_ids", "token_type_ids", "attention_mask")]
        x, count = self.embed(*values)
        for _ in range(layers):
            x = self.add_norm(x, self.product(self.attention(x, count), self.size, self.size))
            x = self.add_norm(x, self.mlp(x, "BiasGelu"))
        g.output("hidden", x, shape=["batch", "seq", self.size])
        first = g.add("Gather", x, g.constant(np.array(0)), axis=1)
        g.output("pooled", g.add("Tanh", g.add("Gemm", first, self.matrix(self.size, self.size), self.bias(self.size))), shape=["batch", self.size])
        return g.model(name, 17, [DOMAIN])


class QuantizedBert(Bert):
    """The same behind quantize_dynamic: attention on bytes, and products that quantise their left side, with and without a scale for each column."""

    def attention(self, x, mask):
        g = self.g
        values, scale = rounded(g.draw(self.size, 3 * self.size, scale=self.size ** -0.5), (0, 1))
        bytes_, step, zero = g.add("DynamicQuantizeLinear", x, outputs=3)
        return self.fused("QAttention", bytes_, g.constant(values), self.bias(3 * self.size), step, g.constant(scale), mask, zero, g.constant(np.int8(0)),
                          num_heads=self.HEADS)

    def product(self, x, inputs, outputs):
        g = self.g
        # The weights that lead back have a scale for each column.
        values, scale = rounded(g.draw(inputs, outputs, scale=inputs ** -0.5), (0,) if outputs == self.size else (0, 1))
        return self.fused("DynamicQuantizeMatMul", x, g.constant(values), g.constant(scale), g.constant(np.zeros(scale.shape, np.int8)), self.bias(outputs))


class Gpt2(Fused):
    """A step of a decoder whose caches hold keys and values in one tensor. Sums go on beside their norms."""

    def norm_of_sum(self, x, more, bias):
        """(the norm of the sum, the sum)"""
        return self.fused("SkipLayerNormalization", x, more, *self.norm(), bias, outputs=(True, False, False, True), epsilon=self.EPSILON)

    def embed(self):
        """The words and their places, whose sum the first norm takes."""
        g, words = self.g, self.g.weight(self.WORDS, self.size)
        ids, positions = (g.input(name, np.int64, ["batch", "seq"]) for name in ("input_ids", "position_ids"))
        return words, g.add("Add", g.add("Gather", words, ids), g.add("Gather", g.weight(self.PLACES, self.size, scale=0.3), positions))

    def attention(self, x, mask, past, layer):
        g = self.g
        mixed, present = self.fused("Attention", x, self.matrix(self.size, 3 * self.size), self.bias(3 * self.size), mask, past, outputs=2,
                                    num_heads=self.HEADS, unidirectional=1)
        g.give(f"present_{layer}", present, [2, "batch", self.HEADS, "total", self.size // self.HEADS])
        return self.product(mixed, self.size, self.size)

    def model(self, layers):
        g = self.g
        words, x = self.embed()
        mask = self.integer(g.input("attention_mask", np.int64, ["batch", "total"]))
        pasts = [g.input(f"past_{layer}", np.float32, [2, "batch", self.HEADS, "past", self.size // self.HEADS]) for layer in range(layers)]
        normal = g.add("LayerNormalization", x, *self.norm(), epsilon=self.EPSILON, axis=-1)
        for layer, past in enumerate(pasts):
            normal, x = self.norm_of_sum(x, self.attention(normal, mask, past, layer), self.bias(self.size))
            normal, x = self.norm_of_sum(x, self.mlp(normal, "FastGelu"), self.bias(self.size))
        logits = g.add("MatMul", normal, g.add("Transpose", words, perm=[1, 0]))
        g.output("logits", logits, shape=["batch", "seq", self.WORDS])
        return g.model("optimized_gpt2", 17, [DOMAIN])


class Whisper(Gpt2):
    """Attention to what was said before and to what an encoder heard, each a MultiHeadAttention with the biases of its projections."""

    def heads(self, name, length):
        return self.g.input(name, np.float32, ["batch", self.HEADS, length, self.size // self.HEADS])

    def own_attention(self, x, layer):
        g = self.g
        projected = [self.product(x, self.size, self.size) for _ in range(3)]
        past = [self.heads(f"past_{kind}_{layer}", "past") for kind in ("key", "value")]
        mixed, *present = self.fused("MultiHeadAttention", *projected, self.bias(3 * self.size), "", "", *past, outputs=3, num_heads=self.HEADS,
                                     unidirectional=1)
        for kind, value in zip(("key", "value"), present):
            g.give(f"present_{kind}_{layer}", value, ["batch", self.HEADS, "total", self.size // self.HEADS])
        return self.product(mixed, self.size, self.size)

    def cross_attention(self, x, layer):
        heard = [self.heads(f"heard_{kind}_{layer}", "frames") for kind in ("key", "value")]
        mixed = self.fused("MultiHeadAttention", self.product(x, self.size, self.size), *heard, self.bias(3 * self.size), num_heads=self.HEADS)
        return self.product(mixed, self.size, self.size)

    def model(self, layers):
        g = self.g
        words, x = self.embed()
        normal = g.add("LayerNormalization", x, *self.norm(), epsilon=self.EPSILON, axis=-1)
        for layer in range(layers):
            normal, x = self.norm_of_sum(x, self.own_attention(normal, layer), self.bias(self.size))
            normal, x = self.norm_of_sum(x, self.cross_attention(normal, layer), self.bias(self.size))
            normal, x = self.norm_of_sum(x, self.mlp(normal, "BiasGelu"), self.bias(self.size))
        g.output("logits", g.add("MatMul", normal, g.add("Transpose", words, perm=[1, 0])), shape=["batch", "seq", self.WORDS])
        return g.model("optimized_whisper", 17, [DOMAIN])


def optimized_bert():
    return Bert(501, 64, 160).model("optimized_bert", 3)


def optimized_gpt2():
    return Gpt2(502, 64, 192).model(2)


def optimized_whisper():
    return Whisper(503, 48, 128).model(2)


def quantized_bert():
    return QuantizedBert(507, 32, 64).model("quantized_bert", 2)


MODELS = [optimized_bert, optimized_gpt2, optimized_whisper, quantized_bert]
