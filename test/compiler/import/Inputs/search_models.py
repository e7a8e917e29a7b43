"""Small decoders, and models of one search over them. What ONNX Runtime 1.30 computes for the cases of a script is recorded beside it."""

import pathlib
import sys
import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

VOCABULARY, HEADS, SIZE, PLACES, LAYERS = 24, 2, 4, 32, 2
HIDDEN = HEADS * SIZE
TYPES = {"i4": TensorProto.INT32, "f4": TensorProto.FLOAT, "f2": TensorProto.FLOAT16}


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, TYPES[kind], shape)


def gpt_decoder(seed=5, sharpness=0.7, half=False):
    """A GPT-2 of two layers as ONNX Runtime's converter writes it: embeddings, Attention with past and present, and a layer of four times the width. With
    `half`, its weights and states are f16."""
    random = np.random.RandomState(seed)
    weights, nodes = [], []

    def weight(*shape, scale=0.7):
        weights.append(numpy_helper.from_array((random.standard_normal(shape) * scale).astype("f2" if half else "f4"), f"w{len(weights)}"))
        return weights[-1].name

    def node(op, inputs, count=1, **attributes):
        outputs = [f"{op}{len(nodes)}_{i}" for i in range(count)]
        domain = "com.microsoft" if op in ("Attention", "FastGelu", "SkipLayerNormalization") else ""
        nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        return outputs[0] if count == 1 else outputs

    words = weight(VOCABULARY, HIDDEN, scale=1)
    x = node("Add", [node("Gather", [words, "input_ids"]), node("Gather", [weight(PLACES, HIDDEN, scale=1), "position_ids"])])
    for layer in range(LAYERS):
        normal = node("LayerNormalization", [x, weight(HIDDEN, scale=1), weight(HIDDEN)], axis=-1)
        attended, present = node("Attention", [normal, weight(HIDDEN, 3 * HIDDEN), weight(3 * HIDDEN), "attention_mask", f"past_{layer}"], 2, num_heads=HEADS, unidirectional=1)
        nodes[-1].output[1] = f"present_{layer}"
        x = node("Add", [x, node("MatMul", [attended, weight(HIDDEN, HIDDEN)])])
        wide = node("FastGelu", [node("MatMul", [x, weight(HIDDEN, 4 * HIDDEN)]), weight(4 * HIDDEN)])
        x = node("Add", [x, node("MatMul", [wide, weight(4 * HIDDEN, HIDDEN)])])
    nodes.append(helper.make_node("MatMul", [x, weight(HIDDEN, VOCABULARY, scale=sharpness)], ["logits"]))
    kind = "f2" if half else "f4"
    state = lambda name, length: value(name, kind, [2, "rows", HEADS, length, SIZE])
    inputs = [value("input_ids", "i4", ["rows", "tokens"]), value("position_ids", "i4", ["rows", "tokens"]), value("attention_mask", "i4", ["rows", "all"])]
    return helper.make_graph(nodes, "decoder", inputs + [state(f"past_{layer}", "past") for layer in range(LAYERS)],
                             [value("logits", kind, ["rows", "tokens", VOCABULARY]), *(state(f"present_{layer}", "all") for layer in range(LAYERS))], weights)


class Layers:
    """The nodes of a graph over weights that have the same numbers by name in each graph."""

    def __init__(self):
        self.nodes, self.weights = [], {}

    def weight(self, name, *shape, scale=0.7):
        array = np.random.RandomState(zlib.crc32(name.encode())).standard_normal(shape) * scale
        return self.constant(name, array.astype("f4"))

    def constant(self, name, array):
        self.weights[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def node(self, op, *inputs, output=None, **attributes):
        output = output or f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        return output

    def heads(self, x, name, output=None):
        """[rows, heads, tokens, size] of a projection."""
        apart = self.node("Reshape", self.node("MatMul", x, self.weight(name, HIDDEN, HIDDEN)), self.constant("apart", np.array([0, -1, HEADS, SIZE])))
        return self.node("Transpose", apart, perm=[0, 2, 1, 3], output=output)

    def attend(self, query, key, value, added, name, seen_as=None):
        """What [rows, heads, tokens, size] see, projected back. `seen_as` names how much of each place."""
        scores = self.node("Mul", self.node("MatMul", query, self.node("Transpose", key, perm=[0, 1, 3, 2])), self.constant("scale", np.array(SIZE**-0.5, "f4")))
        seen = self.node("MatMul", self.node("Softmax", self.node("Add", scores, added) if added else scores, axis=-1, output=seen_as), value)
        joined = self.node("Reshape", self.node("Transpose", seen, perm=[0, 2, 1, 3]), self.constant("joined", np.array([0, -1, HIDDEN])))
        return self.node("MatMul", joined, self.weight(name, HIDDEN, HIDDEN))

    def hide(self, mask):
        """What is added to scores where a mask [rows, tokens] is 0."""
        missing = self.node("Sub", self.node("Cast", mask, to=TensorProto.FLOAT), self.constant("one", np.array(1, "f4")))
        return self.node("Unsqueeze", self.node("Mul", missing, self.constant("far", np.array(1e4, "f4"))), self.constant("middle", np.array([1, 2])))

    def attend_cache(self, x, pasts):
        """What one token sees by DecoderMaskedMultiHeadAttention, whose caches have room for all tokens."""
        parts = [self.node("MatMul", x, self.weight(f"self_{part}", HIDDEN, HIDDEN)) for part in ("query", "key", "value")]
        self.nodes.append(helper.make_node("DecoderMaskedMultiHeadAttention", [*parts, "", "", *pasts, "past_sequence_length", "beam_width", "cache_indirection"],
                                           ["seen", "present_key_self_0", "present_value_self_0"], domain="com.microsoft", num_heads=HEADS, past_present_share_buffer=1))
        return self.node("MatMul", "seen", self.weight("self_out", HIDDEN, HIDDEN))

    def write_past(self, pasts, new, names):
        """The caches with the tokens' heads from place past_sequence_length on, and what is added to scores of places that are not yet written."""
        most = self.node("Gather", self.node("Shape", pasts[0]), self.constant("minus_two", np.array(-2)), axis=0)
        length = self.node("Gather", self.node("Shape", new[0]), self.constant("minus_two", np.array(-2)), axis=0)
        from_0 = [self.constant("zero", np.array(0)), self.constant("step", np.array(1))]
        past = self.node("Squeeze", self.node("Cast", "past_sequence_length", to=TensorProto.INT64))
        places, steps = (self.node("Range", from_0[0], end, from_0[1]) for end in (most, length))
        column = self.node("Unsqueeze", self.node("Add", steps, past), self.constant("behind", np.array([1])))
        shapes = [self.node("Shape", each) for each in new]
        caches = [self.node("ScatterElements", cache, self.node("Expand", column, shape), each, axis=2, output=name)
                  for cache, each, shape, name in zip(pasts, new, shapes, names)]
        later = self.node("Where", self.node("Greater", places, column), self.constant("low", np.array(-1e4, "f4")), self.constant("none", np.array(0, "f4")))
        return caches, later

    def decode(self, ids, pasts, cross, added, first, cache=None):
        """The logits of a decoder of one layer; presents get their names. Positions are those behind the past; without one, tokens see those before them. With a
        `cache`, pasts have room for all tokens: "indirect", where an indirection says which beam wrote them, or "plain"."""
        x = self.node("Gather", self.weight("words", VOCABULARY, HIDDEN, scale=1), ids)
        if cache == "indirect":
            return self.finish(self.node("Add", self.node("Neg", x), self.attend_cache(x, pasts)), cross, added)
        names = ["present_key_self_0", "present_value_self_0"]
        if cache:
            heads = [self.heads(x, "self_key"), self.heads(x, "self_value")]
            (key, value), later = self.write_past(pasts, heads, names)
            return self.finish(self.node("Add", self.node("Neg", x), self.attend(self.heads(x, "self_query"), key, value, later, "self_out")), cross, added)
        key, value = self.heads(x, "self_key", "present_key_self_0" if not pasts else None), self.heads(x, "self_value", "present_value_self_0" if not pasts else None)
        if pasts:
            key, value = (self.node("Concat", past, new, axis=2, output=f"present_{name}_self_0") for past, new, name in zip(pasts, (key, value), ("key", "value")))
        later = None
        if first:
            length = self.node("Slice", self.node("Shape", ids), self.constant("at1", np.array([1])), self.constant("at2", np.array([2])))
            twice = self.node("Concat", length, length, axis=0)
            triangle = self.constant("triangle", np.triu(np.full((8, 8), -1e4, "f4"), 1))
            later = self.node("Slice", triangle, self.constant("zeros", np.array([0, 0])), twice)
        return self.finish(self.node("Add", self.node("Neg", x), self.attend(self.heads(x, "self_query"), key, value, later, "self_out")), cross, added)

    def finish(self, x, cross, added):
        """The layer behind its self attention, and the logits."""
        if cross:
            x = self.node("Add", x, self.attend(self.heads(x, "cross_query"), *cross, added, "cross_out", "output_cross_qk_0"))
        x = self.node("Add", x, self.node("MatMul", self.node("Tanh", self.node("MatMul", x, self.weight("up", HIDDEN, 2 * HIDDEN))), self.weight("down", 2 * HIDDEN, HIDDEN)))
        self.node("MatMul", x, self.weight("logits_of", HIDDEN, VOCABULARY, scale=0.05), output="logits")

    def graph(self, name, inputs, outputs):
        return helper.make_graph(self.nodes, name, inputs, outputs, list(self.weights.values()))


FEATURES = 3


def shared_inputs(cache):
    """What a decoder takes behind pasts that have room for all tokens."""
    beams = [value("beam_width", "i4", [1]), value("cache_indirection", "i4", ["batch", "beams", "most"])]
    return [value("past_sequence_length", "i4", [1])] * bool(cache) + beams * (cache == "indirect")


def shared_gpt_decoder():
    """A decoder of the GPT-2 form of one layer, with a buffer that past and present share."""
    d = Layers()
    halves = ["past_key", "past_value"]
    d.nodes.append(helper.make_node("Split", ["past_0"], halves, axis=0))
    pasts = [d.node("Squeeze", half, d.constant("front", np.array([0]))) for half in halves]
    d.decode("input_ids", pasts, None, None, False, "plain")
    caches = [d.node("Unsqueeze", f"present_{name}_self_0", d.constant("front", np.array([0]))) for name in ("key", "value")]
    d.node("Concat", *caches, axis=0, output="present_0")
    state = lambda name: value(name, "f4", [2, "rows", HEADS, "most", SIZE])
    inputs = [value("input_ids", "i4", ["rows", "tokens"]), value("position_ids", "i4", ["rows", "tokens"]), value("attention_mask", "i4", ["rows", "all"])]
    return d.graph("decoder", [*inputs, state("past_0"), *shared_inputs("plain")], [value("logits", "f4", ["rows", "tokens", VOCABULARY]), state("present_0")])


def encoder_decoder(form, cache=None, scores=False):
    """An encoder and a decoder of one layer each: t5, whose encoder does the decoder's first step; t5 new, whose encoder does not; whisper. `cache`: see decode. With
    `scores`, the decoder gives what its cross attention sees as well."""
    state = lambda name, length: value(name, "f4", ["rows", HEADS, length, SIZE])
    selfs = lambda what, length: [state(f"{what}_key_self_0", length), state(f"{what}_value_self_0", length)]
    crosses = lambda what: [state(f"{what}_key_cross_0", "source"), state(f"{what}_value_cross_0", "source")]
    logits, hidden = value("logits", "f4", ["rows", "tokens", VOCABULARY]), value("encoder_hidden_states", "f4", ["rows", "source", HIDDEN])
    ids, mask = value("decoder_input_ids", "i4", ["rows", "tokens"]), value("encoder_attention_mask", "i4", ["rows", "source"])
    e, has_mask = Layers(), form != "whisper"
    if has_mask:
        x = e.node("Gather", e.weight("source_words", VOCABULARY, HIDDEN, scale=1), "encoder_input_ids")
    else:
        x = e.node("MatMul", e.node("Transpose", "encoder_input_ids", perm=[0, 2, 1]), e.weight("features", FEATURES, HIDDEN))
    added = e.hide("encoder_attention_mask") if has_mask else None
    x = e.node("Add", x, e.attend(e.heads(x, "query"), e.heads(x, "key"), e.heads(x, "value"), added, "out"), output="encoder_hidden_states")
    cross = [e.heads(x, "cross_key", "present_key_cross_0"), e.heads(x, "cross_value", "present_value_cross_0")]
    source = value("encoder_input_ids", "i4", ["rows", "source"]) if has_mask else value("encoder_input_ids", "f4", ["rows", FEATURES, "source"])
    inputs, outputs = [source] + [mask] * has_mask, crosses("present")
    if form != "t5 new":
        e.decode("decoder_input_ids", None, cross, added, True)
        inputs, outputs = inputs + [ids], [logits, hidden] + selfs("present", "tokens") + outputs
    d = Layers()
    d.decode("input_ids", ["past_key_self_0", "past_value_self_0"], ["past_key_cross_0", "past_value_cross_0"], d.hide("encoder_attention_mask") if has_mask else None, False, cache)
    most, every = ("most", "most") if cache else ("past", "all")
    fed = [value("input_ids", "i4", ["rows", 1])] + [mask] * has_mask + [hidden] * (form == "t5") + selfs("past", most) + crosses("past") + shared_inputs(cache)
    seen = lambda tokens: [value("output_cross_qk_0", "f4", ["rows", HEADS, tokens, "source"])] * scores
    return e.graph("encoder", inputs, outputs), d.graph("decoder", fed, [value("logits", "f4", ["rows", 1, VOCABULARY]), *selfs("present", every), *seen(1)])


def search_model(op, order, inputs, outputs, known=(), dims=(), **attributes):
    """One node of `op`. `inputs` are arrays by name, `order` the operands' names; those of `known` are initializers, and `dims` gives inputs' shapes."""
    node = helper.make_node(op, [name if name in inputs else "" for name in order], list(outputs), "search", domain="com.microsoft", **attributes)
    while node.input and not node.input[-1]:
        del node.input[-1]
    given = [value(name, array.dtype.str[1:], dict(dims).get(name, array.shape)) for name, array in inputs.items() if name not in known]
    graph = helper.make_graph([node], "g", given, [value(name, *type) for name, type in outputs.items()],
                              [numpy_helper.from_array(inputs[name], name) for name in inputs if name in known])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def run_onnxruntime(library, model, inputs, outputs, folder):
    """What ONNX Runtime gives for the outputs of a model."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "operators"))
    import onnx
    from onnxruntime_library import OnnxRuntime
    onnx.save(model, str(folder / "model.onnx"))
    names = {"i4": "i32", "f4": "f32"}
    return OnnxRuntime(library).run(folder / "model.onnx", {name: (array, names[array.dtype.str[1:]]) for name, array in inputs.items()}, list(outputs))
