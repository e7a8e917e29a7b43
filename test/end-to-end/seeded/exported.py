"""Models in the operators that ONNX Runtime's tools write: steps of decoders with four-bit weights and grouped queries, as its model builder and as Olive write them."""

import numpy as np

from .graph import Graph

DOMAIN = "com.microsoft"


class GroupedDecoder:
    """Layers as in Llama, as ONNX Runtime's model builder exports them: GroupQueryAttention with rotation inside, MatMulNBits, norms with their sums."""

    SIZE, HEADS, KEY_HEADS, HEAD, WIDE, WORDS, PLACES, BLOCK = 64, 4, 2, 16, 96, 90, 64, 32

    def __init__(self, seed=204):
        self.g = g = Graph(seed)
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
            g.give(f"present_{kind}_{layer}", value, ["batch", self.KEY_HEADS, "total", self.HEAD])
        return self.product(mixed, own, self.SIZE)

    def mlp(self, x):
        g = self.g
        gate = self.product(x, self.SIZE, self.WIDE)
        gate = g.add("Mul", gate, g.add("Sigmoid", gate))
        return self.product(g.add("Mul", gate, self.product(x, self.SIZE, self.WIDE)), self.WIDE, self.SIZE)

    def norm(self, x, more):
        """(the norm of the sum, the sum)"""
        g = self.g
        scale = g.weight(self.SIZE, scale=0.1, offset=1.0)
        return g.add("SkipSimplifiedLayerNormalization", x, more, scale, outputs=(True, False, False, True), domain=DOMAIN, epsilon=1e-6)

    def words(self):
        return self.g.add("Gather", self.g.weight(self.WORDS, self.SIZE), self.ids)

    def logits(self, x):
        return self.product(x, self.SIZE, self.WORDS)

    def model(self, name):
        g = self.g
        x = self.words()
        normal = g.add("SimplifiedLayerNormalization", x, g.weight(self.SIZE, scale=0.1, offset=1.0), axis=-1, epsilon=1e-6, stash_type=1)
        for layer in range(2):
            normal, x = self.norm(x, self.attention(normal, layer))
            normal, x = self.norm(x, self.mlp(normal))
        g.output("logits", self.logits(normal), shape=["batch", "seq", self.WORDS])
        return g.model(name, 17, [DOMAIN])


class OliveDecoder(GroupedDecoder):
    """The same shape as Olive quantises it: zero points, biases, one table of four bits for words and logits, products of eight bits that lead back, and
    products by dot products of bytes; rotation in nodes of its own, norms of queries and keys, a window and a cap of scores."""

    def __init__(self):
        super().__init__(seed=205)
        self.positions = self.g.input("position_ids", np.int64, ["batch", "seq"])

    def quantized(self, inputs, outputs, bits=4):
        """Constants of MatMulNBits: packed numbers, scales and zero points."""
        g, blocks, per_byte = self.g, inputs // self.BLOCK, 8 // bits
        numbers = g.random.randint(0, 1 << bits, (outputs, blocks, self.BLOCK))
        zeros = g.random.randint((1 << bits) // 2 - 1, (1 << bits) // 2 + 2, (outputs, blocks))
        scales = g.random.uniform(0.5, 1.5, (outputs, blocks)) * inputs ** -0.5 * 4 / (1 << bits)
        zeros = np.pad(zeros, ((0, 0), (0, -blocks % per_byte)))

        def packed(values):
            parts = values.reshape(*values.shape[:-1], -1, per_byte)
            return (parts << (bits * np.arange(per_byte))).sum(-1).astype(np.uint8)

        return [g.constant(packed(numbers)), g.constant(scales.astype(np.float32)), g.constant(packed(zeros))]

    def product(self, x, inputs, outputs, bits=4, biased=False, level=0):
        rest = ["", self.g.weight(outputs, scale=0.1)] if biased else []
        return self.g.add("MatMulNBits", x, *self.quantized(inputs, outputs, bits), *rest, domain=DOMAIN, K=inputs, N=outputs, bits=bits, block_size=self.BLOCK,
                          accuracy_level=level)

    def rotated(self, x, heads):
        """A norm for each head, then its rotation."""
        g, width = self.g, heads * self.HEAD
        apart = g.add("Reshape", x, g.integers(0, 0, heads, self.HEAD))
        normal = g.add("SimplifiedLayerNormalization", apart, g.weight(self.HEAD, scale=0.1, offset=1.0), axis=-1, epsilon=1e-6, stash_type=1)
        return g.add("RotaryEmbedding", g.add("Reshape", normal, g.integers(0, 0, width)), self.positions, self.cos, self.sin, domain=DOMAIN)

    def attention(self, x, layer):
        g, own, keys = self.g, self.HEADS * self.HEAD, self.KEY_HEADS * self.HEAD
        q, k, v = (self.product(x, self.SIZE, width, biased=True) for width in (own, keys, keys))
        # The first layer sees a window of tokens, the second one all.
        mixed, *present = g.add("GroupQueryAttention", self.rotated(q, self.HEADS), self.rotated(k, self.KEY_HEADS), v, *self.past[2 * layer:2 * layer + 2],
                                self.last, self.total, outputs=3, domain=DOMAIN, num_heads=self.HEADS, kv_num_heads=self.KEY_HEADS, softcap=8.0,
                                local_window_size=6 if layer == 0 else -1)
        for kind, value in zip(("key", "value"), present):
            g.give(f"present_{kind}_{layer}", value, ["batch", self.KEY_HEADS, "total", self.HEAD])
        return self.product(mixed, own, self.SIZE, level=4)

    def mlp(self, x):
        g = self.g
        gate = self.product(x, self.SIZE, self.WIDE)
        gate = g.add("Mul", gate, g.add("Sigmoid", gate))
        return self.product(g.add("Mul", gate, self.product(x, self.SIZE, self.WIDE)), self.WIDE, self.SIZE, bits=8)

    def words(self):
        self.table = self.quantized(self.SIZE, self.WORDS)
        rows = self.g.add("Reshape", self.table[0], self.g.integers(0, -1))
        return self.g.add("GatherBlockQuantized", rows, self.ids, *self.table[1:], domain=DOMAIN, bits=4, block_size=self.BLOCK, gather_axis=0, quantize_axis=1)

    def logits(self, x):
        return self.g.add("MatMulNBits", x, *self.table, domain=DOMAIN, K=self.SIZE, N=self.WORDS, bits=4, block_size=self.BLOCK)


def grouped_decoder():
    return GroupedDecoder().model("grouped_decoder")


def olive_decoder():
    return OliveDecoder().model("olive_decoder")


MODELS = [grouped_decoder, olive_decoder]
