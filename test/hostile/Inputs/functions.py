"""Functions of the model's own."""

import onnx
from onnx import helper
from suite import model, node, value


def function(name, nodes, inputs=("a",), outputs=("b",), attributes=(), opset=21, domains=("d",)):
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_function("d", name, list(inputs), list(outputs), list(nodes), imports, list(attributes))


def call(name, inputs=("x",), outputs=("y",), **attributes):
    return node(name, inputs, outputs, domain="d", **attributes)


def relu(**given):
    return node("Relu", ("a",), ("b",), "inner", **given)


def calling(suite, name, functions, expect="reject", say=(), node=None, nodes=None, **budget):
    suite.add(name, model(nodes or [call("f")], functions=functions, domains=("d",)), expect, say, node, **budget)


def add(suite):
    calling(suite, "good", [function("f", [relu()])], "accept")
    calling(suite, "mutual_recursion", [function("f", [node("g", ("a",), ("b",), "to_g", domain="d")]), function("g", [node("f", ("a",), ("b",), "to_f", domain="d")])], say="recurs|cycl|nest")
    hidden = helper.make_graph([node("f", ("a",), ("t",), "again", domain="d")], "then", [], [value("t", None)])
    other = helper.make_graph([node("Neg", ("a",), ("e",), "neg")], "else", [], [value("e", None)])
    inside = [node("Constant", (), ("c",), "cond", value=onnx.numpy_helper.from_array(onnx.numpy_helper.np.array(True))), node("If", ("c",), ("b",), "choice", then_branch=hidden, else_branch=other)]
    calling(suite, "recursion_in_branch", [function("f", inside)], say="recurs|cycl|nest")
    chain = [function("f", [node("f0", ("a",), ("b",), "n", domain="d")])] + [function(f"f{i}", [node(f"f{i + 1}", ("a",), ("b",), f"n{i}", domain="d")]) for i in range(120)] + [function("f120", [relu()])]
    calling(suite, "nested_120", chain, say="nest|deep|depth|recurs")
    def doubled(index):
        return [node(f"g{index + 1}", ("a",), ("t",), "one", domain="d"), node(f"g{index + 1}", ("t",), ("b",), "two", domain="d")]
    laughs = [function("f", doubled(-1))] + [function(f"g{i}", doubled(i)) for i in range(30)] + [function("g30", [relu()])]
    calling(suite, "doubled_31_times", laughs, say="nodes|expan|limit|many")
    calling(suite, "input_twice", [function("f", [relu()], ("a", "a"))], say="a", nodes=[call("f", ("x", "x"))])
    calling(suite, "output_twice", [function("f", [relu()], outputs=("b", "b"))], say="b", nodes=[call("f", outputs=("y", "z"))])
    calling(suite, "output_is_input", [function("f", [], outputs=("a",))], "accept")
    calling(suite, "without_nodes_or_outputs", [function("f", [], (), ())], say="output", nodes=[call("f", ())])
    calling(suite, "too_few_inputs", [function("f", [node("Add", ("a", "c"), ("b",), "inner")], ("a", "c"))], say="input", node="inner")
    calling(suite, "too_many_inputs", [function("f", [relu()])], say="input", node="bad_node", nodes=[call("f", ("x", "x"))])
    calling(suite, "too_many_outputs", [function("f", [relu()])], say="output", node="bad_node", nodes=[call("f", outputs=("y", "z"))])
    calling(suite, "missing", [function("g", [relu()])], say="f", node="bad_node")
    calling(suite, "sees_outside", [function("f", [node("Relu", ("x",), ("b",), "inner")])], say="x", node="inner")
    calling(suite, "bad_operator_inside", [function("f", [node("Nope", ("a",), ("b",), "inner")])], say="Nope", node="inner")
    calling(suite, "bad_attribute_inside", [function("f", [node("Softmax", ("a",), ("b",), "inner", axis=5)])], say="axis", node="inner")
    calling(suite, "value_twice_inside", [function("f", [relu(), node("Neg", ("a",), ("b",), "second")])], say="b", node="second")
    calling(suite, "opset_of_future", [function("f", [relu()], opset=99)], say="opset|99")
    calling(suite, "opset_missing", [function("f", [node("Relu", ("a",), ("b",), "inner", domain="other")])], say="other|domain", node="inner")
    calling(suite, "unnamed", [function("", [relu()])], "either", nodes=[call("")])
    calling(suite, "unused_and_broken", [function("f", [relu()]), function("broken", [node("Nope", ("a",), ("b",), "inner")])], "accept")
    calling(suite, "name_of_operator", [helper.make_function("", "Relu", ["a"], ["b"], [node("Neg", ("a",), ("b",), "inner")], [helper.make_opsetid("", 21)])], "either", nodes=[node("Relu")])
    add_attributes(suite)


def add_attributes(suite):
    def referring(name, kind):
        inner = node("LeakyRelu", ("a",), ("b",), "inner")
        inner.attribute.append(onnx.AttributeProto(name=name, type=kind, ref_attr_name="slope"))
        return inner
    kinds = onnx.AttributeProto
    calling(suite, "attribute_given", [function("f", [referring("alpha", kinds.FLOAT)], attributes=("slope",))], "accept", nodes=[call("f", slope=0.5)])
    calling(suite, "attribute_default", [function("f", [referring("alpha", kinds.FLOAT)], attributes=("slope",))], "accept")
    calling(suite, "attribute_of_other_type", [function("f", [referring("alpha", kinds.FLOAT)], attributes=("slope",))], say="alpha|slope", node="inner", nodes=[call("f", slope="steep")])
    calling(suite, "attribute_unknown", [function("f", [referring("beta", kinds.FLOAT)], attributes=("slope",))], say="beta", node="inner", nodes=[call("f", slope=0.5)])
    calling(suite, "attribute_not_declared", [function("f", [relu()])], "either", nodes=[call("f", slope=0.5)])
