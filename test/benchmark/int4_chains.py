"""The products of a Llama of 1.1 billion parameters, with weights of four bits in blocks of 32 and activations of bytes (accuracy_level 4), in the order of
a token."""

import numpy
from growing_models import FLOAT, Graph
from onnx import helper

DOMAIN = "com.microsoft"
LAYERS, SIZE, KEYS, WIDE, WORDS, BLOCK = 22, 2048, 256, 5632, 32000, 32


class Chain:
    def __init__(self, rows):
        self.rows, self.graph, self.random = rows, Graph(), numpy.random.default_rng(rows)

    def product(self, x, inputs, outputs):
        packed = self.random.integers(0, 256, (outputs, inputs // BLOCK, BLOCK // 2), numpy.uint8)
        # The mean square of seeded numbers of four bits is about 21: results are about as large as what is multiplied.
        scales = self.random.uniform(0.5, 1.5, outputs * inputs // BLOCK) * (21 * inputs) ** -0.5
        return self.graph.MatMulNBits(x, self.graph.weight(packed, numpy.uint8), self.graph.weight(scales), domain=DOMAIN, K=inputs, N=outputs, bits=4,
                                      block_size=BLOCK, accuracy_level=4)

    def columns(self, x, begin, end):
        bounds = (self.graph.weight([bound], numpy.int64) for bound in (begin, end, 1))
        return self.graph.Slice(x, *bounds)

    def model(self):
        g = self.graph
        x, scale = g.input([self.rows, SIZE]), g.weight(numpy.ones(SIZE))
        for _ in range(LAYERS):
            mixed = self.product(x, SIZE, SIZE + 2 * KEYS)
            x = self.product(self.columns(mixed, 0, SIZE), SIZE, SIZE)
            gates = self.product(x, SIZE, 2 * WIDE)
            gate, up = self.columns(gates, 0, WIDE), self.columns(gates, WIDE, 2 * WIDE)
            x = self.product(g.Mul(g.Mul(gate, g.Sigmoid(gate)), up), WIDE, SIZE)
            x = g.LayerNormalization(x, scale, axis=-1)
        g.output(self.product(x, SIZE, WORDS), FLOAT)
        model = g.model()
        model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
        return model
