"""Small transformers: an encoder as PyTorch exports one, and a step of a decoder with caches of keys and values."""

import numpy as np

from .graph import Graph


def linear(g, x, inputs, outputs):
    return g.add("Add", g.add("MatMul", x, g.weight(inputs, outputs, scale=inputs ** -0.5)), g.weight(outputs, scale=0.1))


def split_heads(g, x, heads, size, perm=(0, 2, 1, 3)):
    return g.add("Transpose", g.add("Reshape", x, g.integers(0, 0, heads, size)), perm=perm)


def written_out_norm(g, x, size):
    """A layer norm as exporters wrote it before it was an operator."""
    centered = g.add("Sub", x, g.add("ReduceMean", x, axes=[-1], keepdims=1))
    variance = g.add("ReduceMean", g.add("Pow", centered, g.scalar(2)), axes=[-1], keepdims=1)
    scaled = g.add("Div", centered, g.add("Sqrt", g.add("Add", variance, g.scalar(1e-5))))
    return g.add("Add", g.add("Mul", scaled, g.weight(size, scale=0.1, offset=1.0)), g.weight(size, scale=0.1))


def gelu(g, x):
    erf = g.add("Add", g.add("Erf", g.add("Div", x, g.scalar(2 ** 0.5))), g.scalar(1))
    return g.add("Mul", g.add("Mul", x, erf), g.scalar(0.5))


def encoder_layer(g, x, bias, size, heads, wide, linear=linear):
    """`bias` hides what is padding. `linear` makes the products with weights, which a quantised encoder has in another form."""
    q = split_heads(g, linear(g, x, size, size), heads, size // heads)
    k = split_heads(g, linear(g, x, size, size), heads, size // heads, (0, 2, 3, 1))
    v = split_heads(g, linear(g, x, size, size), heads, size // heads)
    scores = g.add("Add", g.add("Div", g.add("MatMul", q, k), g.scalar((size // heads) ** 0.5)), bias)
    mixed = g.add("Transpose", g.add("MatMul", g.add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    x = written_out_norm(g, g.add("Add", x, linear(g, g.add("Reshape", mixed, g.integers(0, 0, size)), size, size)), size)
    return written_out_norm(g, g.add("Add", x, linear(g, gelu(g, linear(g, x, size, wide)), wide, size)), size)


def encode(g, layers, size, heads, wide, linear=linear):
    """The result of so many layers on embedded words, and their mean over what is not padding."""
    ids, mask = (g.input(name, np.int64, ["batch", "seq"]) for name in ("input_ids", "attention_mask"))
    seq = g.add("Unsqueeze", g.add("Gather", g.add("Shape", ids), g.constant(np.array(1)), axis=0), g.integers(0))
    places = g.add("Slice", g.weight(64, size, scale=0.3), g.integers(0), seq, g.integers(0))
    x = written_out_norm(g, g.add("Add", g.add("Gather", g.weight(100, size), ids), places), size)
    kept = g.add("Cast", mask, to=1)
    hidden = g.add("Mul", g.add("Sub", g.scalar(1), g.add("Unsqueeze", kept, g.integers(1, 2))), g.scalar(-10000))
    for _ in range(layers):
        x = encoder_layer(g, x, hidden, size, heads, wide, linear)
    weights = g.add("Unsqueeze", kept, g.integers(-1))
    mean = g.add("Div", g.add("ReduceSum", g.add("Mul", x, weights), g.integers(1), keepdims=0), g.add("ReduceSum", weights, g.integers(1), keepdims=0))
    return x, mean


def encoder():
    g = Graph(201)
    hidden, pooled = encode(g, 4, 64, 4, 160)
    g.output("hidden", hidden, shape=["batch", "seq", 64])
    g.output("pooled", pooled, shape=["batch", 64])
    return g.model("encoder", 13)


class Decoder:
    """Layers as in Llama: RMS norm, rotated positions, fewer heads of keys than of queries, a gated MLP."""

    SIZE, HEADS, KEY_HEADS, HEAD, WIDE, WORDS, PLACES = 64, 4, 2, 16, 112, 90, 64

    def __init__(self):
        self.g = g = Graph(202)
        self.ids = g.input("input_ids", np.int64, ["batch", "seq"])
        positions = g.input("position_ids", np.int64, ["batch", "seq"])
        self.past = [g.input(f"past_{kind}_{layer}", np.float32, ["batch", self.KEY_HEADS, "past", self.HEAD]) for layer in range(2) for kind in ("key", "value")]
        angles = np.outer(np.arange(self.PLACES), 100.0 ** -(np.arange(self.HEAD) % (self.HEAD // 2) / (self.HEAD / 2)))
        self.cos, self.sin = (g.add("Unsqueeze", g.add("Gather", g.constant(table.astype(np.float32)), positions), g.integers(1))
                              for table in (np.cos(angles), np.sin(angles)))
        self.bias = self.causal_bias(positions)

    def size_of(self, value, axis):
        return self.g.add("Gather", self.g.add("Shape", value), self.g.constant(np.array(axis)), axis=0)

    def causal_bias(self, positions):
        """0 where a key is no later than the query, much less where it is: [batch, 1, seq, past + seq]."""
        g = self.g
        total = g.add("Add", self.size_of(self.past[0], 2), self.size_of(self.ids, 1))
        keys = g.add("Range", g.constant(np.array(0)), total, g.constant(np.array(1)))
        late = g.add("Greater", keys, g.add("Unsqueeze", positions, g.integers(1, 3)))
        return g.add("Where", late, g.scalar(-1e9), g.scalar(0))

    def norm(self, x):
        g = self.g
        power = g.add("ReduceMean", g.add("Pow", x, g.scalar(2)), axes=[-1], keepdims=1)
        scaled = g.add("Mul", x, g.add("Reciprocal", g.add("Sqrt", g.add("Add", power, g.scalar(1e-6)))))
        return g.add("Mul", g.weight(self.SIZE, scale=0.1, offset=1.0), scaled)

    def product(self, x, inputs, outputs):
        return self.g.add("MatMul", x, self.g.weight(inputs, outputs, scale=inputs ** -0.5))

    def rotate(self, x):
        g, half = self.g, self.HEAD // 2
        first = g.add("Slice", x, g.integers(0), g.integers(half), g.integers(-1))
        second = g.add("Slice", x, g.integers(half), g.integers(2 ** 63 - 1), g.integers(-1))
        turned = g.add("Concat", g.add("Neg", second), first, axis=-1)
        return g.add("Add", g.add("Mul", x, self.cos), g.add("Mul", turned, self.sin))

    def repeat(self, x):
        """Every head of keys or values once for each head of queries that reads it."""
        g, times = self.g, self.HEADS // self.KEY_HEADS
        wide = g.add("Expand", g.add("Unsqueeze", x, g.integers(2)), g.integers(1, 1, times, 1, 1))
        return g.add("Reshape", wide, g.integers(0, self.HEADS, -1, self.HEAD))

    def attention(self, x, layer):
        g, keys = self.g, self.KEY_HEADS * self.HEAD
        q = self.rotate(split_heads(g, self.product(x, self.SIZE, self.HEADS * self.HEAD), self.HEADS, self.HEAD))
        k = self.rotate(split_heads(g, self.product(x, self.SIZE, keys), self.KEY_HEADS, self.HEAD))
        v = split_heads(g, self.product(x, self.SIZE, keys), self.KEY_HEADS, self.HEAD)
        k, v = (g.add("Concat", self.past[2 * layer + index], value, axis=2) for index, value in enumerate((k, v)))
        for kind, value in (("key", k), ("value", v)):
            g.output(f"present_{kind}_{layer}", value, shape=["batch", self.KEY_HEADS, None, self.HEAD])
        scores = g.add("MatMul", q, g.add("Transpose", self.repeat(k), perm=[0, 1, 3, 2]))
        weights = g.add("Softmax", g.add("Add", g.add("Mul", scores, g.scalar(self.HEAD ** -0.5)), self.bias), axis=-1)
        mixed = g.add("Transpose", g.add("MatMul", weights, self.repeat(v)), perm=[0, 2, 1, 3])
        return self.product(g.add("Reshape", mixed, g.integers(0, 0, self.HEADS * self.HEAD)), self.HEADS * self.HEAD, self.SIZE)

    def mlp(self, x):
        g = self.g
        gate = self.product(x, self.SIZE, self.WIDE)
        gate = g.add("Mul", gate, g.add("Sigmoid", gate))
        return self.product(g.add("Mul", gate, self.product(x, self.SIZE, self.WIDE)), self.WIDE, self.SIZE)

    def model(self):
        g = self.g
        words = g.weight(self.WORDS, self.SIZE)
        x = g.add("Gather", words, self.ids)
        for layer in range(2):
            x = g.add("Add", x, self.attention(self.norm(x), layer))
            x = g.add("Add", x, self.mlp(self.norm(x)))
        g.output("logits", g.add("MatMul", self.norm(x), g.add("Transpose", words, perm=[1, 0])), shape=["batch", "seq", self.WORDS])
        return g.model("decoder_step", 17)


def decoder_step():
    return Decoder().model()


MODELS = [encoder, decoder_step]
