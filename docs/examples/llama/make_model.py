#!/usr/bin/env python3
"""A decoder of Llama's form with weights of four bits, all of them drawn: make_model.py MODEL.onnx [--small] [--layers 24].

The nodes are those that ONNX Runtime's model builder writes: MatMulNBits with a scale for each block of 32 weights, GroupQueryAttention with rotation and with
caches whose past and present are one buffer, SimplifiedLayerNormalization and SkipSimplifiedLayerNormalization, GatherBlockQuantized for the table of words.
The weights lie beside the model in MODEL.onnx.data. Without --small, the sizes are those of TinyLlama-1.1B.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

CONTRIB = "com.microsoft"
BLOCK = 32
# Sixteen numbers of four bits whose mean is the zero point 8, and whose spread is like that of rounded weights; a byte of random bits draws two of them.
NUMBERS = np.array([1, 3, 4, 5, 6, 6, 7, 8, 8, 9, 10, 10, 11, 12, 13, 15], "u1")
PAIRS = (NUMBERS[None, :] | NUMBERS[:, None] << 4).reshape(-1)
SPREAD = float((NUMBERS.astype("f8") - 8).std())


class Weights:
    """The file beside the model. Arrays are written when they are drawn, so that only one of them is in memory."""

    def __init__(self, path):
        self.name, self.file, self.tensors, self.random = path.name, open(path, "wb"), [], np.random.Generator(np.random.PCG64(22))

    def add(self, name, array):
        self.file.write(b"\0" * (-self.file.tell() % 4096))
        element = TensorProto.UINT8 if array.dtype == "u1" else TensorProto.FLOAT
        tensor = TensorProto(name=name, dims=array.shape, data_type=element, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.name), ("offset", self.file.tell()), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        self.file.write(array.tobytes())
        self.tensors.append(tensor)
        return name

    def integers(self, name, *values):
        """Sizes and axes, which are in the model itself."""
        self.tensors.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def four_bits(self, name, rows, columns, shape, spread):
        """Numbers of `rows` rows, two in a byte, and their scales. The weights have the standard deviation `spread`."""
        numbers = PAIRS[np.frombuffer(self.random.bytes(rows * columns // 2), "u1")].reshape(shape)
        scales = self.random.uniform(0.75, 1.25, (rows, columns // BLOCK)) * (spread / SPREAD)
        return self.add(f"{name}.numbers", numbers), self.add(f"{name}.scales", scales.astype("f4"))


class Decoder:
    def __init__(self, sizes, weights):
        self.sizes, self.weights, self.nodes, self.inputs, self.outputs = sizes, weights, [], [], []

    def add(self, op, *inputs, outputs=1, name=None, domain="", **attributes):
        name = name or f"{op}_{len(self.nodes)}"
        names = [name] + [f"{name}.{i}" for i in range(1, outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def input(self, name, element, *dims):
        self.inputs.append(helper.make_tensor_value_info(name, element, dims))
        return name

    def output(self, name, *dims):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))

    def product(self, name, x, inputs, outputs):
        packed = self.weights.four_bits(name, outputs, inputs, (outputs, inputs // BLOCK, BLOCK // 2), inputs**-0.5)
        return self.add("MatMulNBits", x, *packed, name=f"/{name}/MatMulNBits", domain=CONTRIB, K=inputs, N=outputs, bits=4, block_size=BLOCK)

    def scale(self, name):
        return self.weights.add(f"{name}.weight", self.weights.random.normal(1, 0.1, self.sizes.hidden).astype("f4"))

    def norm_of_sum(self, name, x, more):
        """The sum of both, and its norm."""
        names = [f"/{name}/normal", "", "", f"/{name}/sum"]
        self.nodes.append(helper.make_node("SkipSimplifiedLayerNormalization", [x, more, self.scale(name)], names, f"/{name}", domain=CONTRIB, epsilon=1e-5))
        return names[0], names[3]

    def lengths(self):
        """What GroupQueryAttention wants to know: the last place of the sequence, and the length of the caches."""
        mask = self.input("attention_mask", TensorProto.INT64, "batch_size", "total_sequence_length")
        one = self.weights.integers("one", 1)
        self.last = self.add("Cast", self.add("Sub", self.add("ReduceSum", mask, one, keepdims=0), one), to=TensorProto.INT32)
        length = self.add("Gather", self.add("Shape", mask), self.weights.integers("axis_of_length", 1), axis=0)
        self.total = self.add("Cast", length, to=TensorProto.INT32)

    def tables_of_angles(self):
        half = self.sizes.hidden // self.sizes.heads // 2
        angles = np.outer(np.arange(self.sizes.places), 10000.0 ** -(np.arange(half) / half))
        return [self.weights.add(f"{name}_cache", table(angles).astype("f4")) for name, table in (("cos", np.cos), ("sin", np.sin))]

    def attention(self, layer, x):
        s, name = self.sizes, f"model/layers.{layer}/attn"
        head = s.hidden // s.heads
        if s.packed:
            own = [self.product(f"{name}/qkv_proj", x, s.hidden, (s.heads + 2 * s.kv_heads) * head), "", ""]
        else:
            own = [self.product(f"{name}/{kind}_proj", x, s.hidden, heads * head) for kind, heads in (("q", s.heads), ("k", s.kv_heads), ("v", s.kv_heads))]
        caches = [f"{{}}.{layer}.{kind}" for kind in ("key", "value")]
        past = [self.input(cache.format("past_key_values"), TensorProto.FLOAT, "batch_size", s.kv_heads, "past_sequence_length", head) for cache in caches]
        present = [cache.format("present") for cache in caches]
        for cache in present:
            self.output(cache, "batch_size", s.kv_heads, "total_sequence_length", head)
        operands = [*own, *past, self.last, self.total, *self.angles]
        self.nodes.append(helper.make_node("GroupQueryAttention", operands, [f"/{name}/heads", *present], f"/{name}", domain=CONTRIB, num_heads=s.heads,
                                           kv_num_heads=s.kv_heads, do_rotary=1))
        return self.product(f"{name}/o_proj", f"/{name}/heads", s.hidden, s.hidden)

    def feed_forward(self, layer, x):
        s, name = self.sizes, f"model/layers.{layer}/mlp"
        gate, up = (self.product(f"{name}/{kind}_proj", x, s.hidden, s.inner) for kind in ("gate", "up"))
        return self.product(f"{name}/down_proj", self.add("Mul", self.add("Mul", gate, self.add("Sigmoid", gate)), up), s.inner, s.hidden)

    def build(self):
        s = self.sizes
        ids = self.input("input_ids", TensorProto.INT64, "batch_size", "sequence_length")
        self.lengths()
        self.angles = self.tables_of_angles()
        self.output("logits", "batch_size", "sequence_length" if s.all_scores else 1, s.words)
        table = self.weights.four_bits("model.embed_tokens", s.words, s.hidden, (s.words, s.hidden // 2), 1)
        x = self.add("GatherBlockQuantized", table[0], ids, table[1], domain=CONTRIB, bits=4, block_size=BLOCK, gather_axis=0, quantize_axis=1)
        normal = self.add("SimplifiedLayerNormalization", x, self.scale("model/layers.0/input_layernorm"), axis=-1, epsilon=1e-5, stash_type=1)
        for layer in range(s.layers):
            normal, x = self.norm_of_sum(f"model/layers.{layer}/post_attention_layernorm", x, self.attention(layer, normal))
            after = f"model/layers.{layer + 1}/input_layernorm" if layer + 1 < s.layers else "model/norm"
            normal, x = self.norm_of_sum(after, x, self.feed_forward(layer, normal))
        # Only behind the last word another one is chosen.
        if not s.all_scores:
            end = [self.weights.integers(name, value) for name, value in (("from_last", -1), ("to_end", np.iinfo("i8").max))]
            normal = self.add("Slice", normal, *end, "one")
        self.product("lm_head", normal, s.hidden, s.words)
        self.nodes[-1].output[0] = "logits"
        graph = helper.make_graph(self.nodes, "llama", self.inputs, self.outputs, self.weights.tensors)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--small", action="store_true", help="a hidden size of 256 and 1,000 words")
    parser.add_argument("--packed", action="store_true", help="one product for queries, keys and values")
    parser.add_argument("--all-scores", action="store_true", help="scores behind each word of the prompt, not only behind the last one")
    parser.add_argument("--layers", type=int, default=24)
    sizes = parser.parse_args()
    small = {"hidden": 256, "heads": 8, "kv_heads": 4, "inner": 768, "words": 1000, "places": 256}
    full = {"hidden": 2048, "heads": 32, "kv_heads": 4, "inner": 5632, "words": 32000, "places": 2048}
    vars(sizes).update(small if sizes.small else full)
    sizes.model.parent.mkdir(parents=True, exist_ok=True)
    weights = Weights(sizes.model.with_name(sizes.model.name + ".data"))
    sizes.model.write_bytes(Decoder(sizes, weights).build().SerializeToString())


if __name__ == "__main__":
    main()
