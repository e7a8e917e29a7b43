"""Models in the operators that ONNX Runtime's tools write: a step of a decoder with four-bit weights and grouped queries."""

import numpy as np
from onnx import helper

from .graph import Graph

DOMAIN = "com.microsoft"


class GroupedDecoder:
    """Layers as in Llama, as ONNX Runtime's model builder exports them: GroupQueryAttention with rotation inside, MatMulNBits, norms with their sums."""

    SIZE, HEADS, KEY_HEADS, HEAD, WIDE, WORDS, PLACES, BLOCK = 64, 4, 2, 16, 96, 90, 64, 32

    def __init__(self):
        self.g = g = Graph(204)
        self.ids = g.input("input_ids", np.int64, ["batch", "seq"])
        mask = g.input("attention_mask", np.int64, ["batch", "total"])
        self.past = [g.input(f"past_{kind}_{layer}", np.float32, ["batch", self.KEY_HEADS, "past", self.HEAD]) for layer in range(2) for kind in ("key", "value")]
        # What GroupQueryAttention wants to know of the lengths, as the exporter writes it.
        self.last = g.add("Cast", g.add("Sub", g.add("ReduceSum", mask, g.integers(1), keepdims=0), g.integers(1)), to=6)
        self.total = g.add("Cast", g.add("Gather", g.add("Shape", mask), g.constant(np.array(1)), axis=0), to=6)
        angles = np.outer(np.arange(self.PLACES), 100.0 ** -(np.arange(self.HEAD // 2) / (self.HEAD / 2)))
        self.cos, self.sin = (g.constant(table.astype(np.float32)) for table in (np.cos(angles), np.sin(angles)))

    def product(self, x, inputs, outputs):
        """Weights of four bits, two in a byte, with a scale for each block."""
        blocks = inputs // self.BLOCK
        numbers = self.g.random.randint(0, 16, (outputs, blocks, self.BLOCK // 2, 2))
        packed = self.g.constant((numbers[..., 0] + 16 * numbers[..., 1]).astype(np.uint8))
        scales = self.g.constant((self.g.random.uniform(0.5, 1.5, (outputs, blocks)) * inputs ** -0.5 / 4).astype(np.float32))
        return self.g.add("MatMulNBits", x, packed, scales, domain=DOMAIN, K=inputs, N=outputs, bits=4, block_size=self.BLOCK)

    def attention(self, x, layer):
        g, own, keys = self.g, self.HEADS * self.HEAD, self.KEY_HEADS * self.HEAD
        packed = self.product(x, self.SIZE, own + 2 * keys)
        mixed, *present = g.add("GroupQueryAttention", packed, "", "", self.past[2 * layer], self.past[2 * layer + 1], self.last, self.total, self.cos, self.sin,
                                outputs=3, domain=DOMAIN, num_heads=self.HEADS, kv_num_heads=self.KEY_HEADS, do_rotary=1)
        for kind, value in zip(("key", "value"), present):
            g.output(f"present_{kind}_{layer}", value, shape=["batch", self.KEY_HEADS, "total", self.HEAD])
        return self.product(mixed, own, self.SIZE)

    def mlp(self, x):
        g = self.g
        gate = self.product(x, self.SIZE, self.WIDE)
        gate = g.add("Mul", gate, g.add("Sigmoid", gate))
        return self.product(g.add("Mul", gate, self.product(x, self.SIZE, self.WIDE)), self.WIDE, self.SIZE)

    def norm(self, x, more):
        """(the norm of the sum, the sum)"""
        g = self.g
        scale, names = g.weight(self.SIZE, scale=0.1, offset=1.0), [g.name("norm"), "", "", g.name("sum")]
        g.nodes.append(helper.make_node("SkipSimplifiedLayerNormalization", [x, more, scale], names, name=names[0], domain=DOMAIN, epsilon=1e-6))
        return names[0], names[3]

    def model(self):
        g = self.g
        words = g.weight(self.WORDS, self.SIZE)
        x = g.add("Gather", words, self.ids)
        normal = g.add("SimplifiedLayerNormalization", x, g.weight(self.SIZE, scale=0.1, offset=1.0), axis=-1, epsilon=1e-6, stash_type=1)
        for layer in range(2):
            normal, x = self.norm(x, self.attention(normal, layer))
            normal, x = self.norm(x, self.mlp(normal))
        g.output("logits", self.product(normal, self.SIZE, self.WORDS), shape=["batch", "seq", self.WORDS])
        return g.model("grouped_decoder", 17, [DOMAIN])


def grouped_decoder():
    return GroupedDecoder().model()


MODELS = [grouped_decoder]
