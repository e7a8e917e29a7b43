"""One violated "must" each of the format itself: names and order, tensors, declared types, functions, and the counts of bodies.

Most stand where an import has no reason to look: a branch that is not taken, a loop without steps, a function that nobody calls, a weight without a use.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper
from operators import Case
from schemas import list_operators
from suite import FLOAT, INT64, model, node, value, weight

BITS = {1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16, 17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2}
#: The field of a type's values, and one that is none of it.
FIELDS = {1: ("float_data", "int32_data"), 7: ("int64_data", "int32_data"), 11: ("double_data", "float_data"), 12: ("uint64_data", "int32_data"), 13: ("uint64_data", "int64_data"),
          14: ("float_data", "double_data"), 15: ("double_data", "float_data")}


def proto(element, dims=(8,), name="w", **fields):
    made = TensorProto(name=name, dims=dims, **fields)
    made.MergeFromString(b"\x10" + bytes([element]))  # Debian's onnx knows no names for the newest types.
    return made


def external(element, **entries):
    made = proto(element)
    made.data_location = TensorProto.EXTERNAL
    for key, text in entries.items():
        made.external_data.add(key=key, value=text)
    return made


def broken_tensors(element):
    right, wrong = FIELDS.get(element, ("int32_data", "float_data"))
    size = BITS[element]
    field = {right: [1] * (8 if size >= 8 else size)} if element < 14 or element > 15 else {right: [1.0] * 16}
    yield "short", proto(element, raw_data=bytes(size - 1)), "data|element|byte"
    yield "long", proto(element, raw_data=bytes(size + 1)), "data|element|byte"
    yield "wrong_field", proto(element, **{wrong: [1] * 8}), "data|element"
    yield "two_fields", proto(element, raw_data=bytes(size), **field), "fields"
    yield "few", proto(element, **{right: field[right][1:]}), "data|element"
    yield "nothing", proto(element), "data|element"
    yield "negative", proto(element, (-8,), raw_data=bytes(size)), "negative"
    yield "overflow", proto(element, (1 << 62, 1 << 62), raw_data=bytes(size)), "large"
    yield "segment", proto(element, raw_data=bytes(size), segment=TensorProto.Segment(begin=0, end=8)), "segment"
    yield "nowhere", external(element), "location"
    yield "gone", external(element, location="no_such_file"), "no_such_file"
    yield "outside", external(element, location="../x"), "outside"
    yield "entries", proto(element, raw_data=bytes(size), external_data=[onnx.StringStringEntryProto(key="location", value="x")]), "external"


def relu(source="x", out="y", name="good", **rest):
    return node("Relu", (source,), (out,), name, **rest)


def in_branch(nodes, outputs=("b",)):
    """An If whose condition is known: the broken branch is not taken."""
    broken = helper.make_graph(list(nodes), "broken", [], [value(o, None) for o in outputs])
    good = helper.make_graph([relu(out="g")], "right", [], [value("g", None)])
    return model([node("If", ("c",), ("y",), "choice", then_branch=good, else_branch=broken)], weights=[weight("c", np.bool_(True))])


def in_loop(nodes):
    """A Loop without steps."""
    inputs = [value("i", (), INT64), value("more_in", (), TensorProto.BOOL), value("s")]
    body = helper.make_graph([node("Identity", ("more_in",), ("more",), "on"), *nodes], "step", inputs, [value("more", (), TensorProto.BOOL), value("b", None)])
    return model([node("Loop", ("n", "", "x"), ("y",), "loop", body=body)], weights=[weight("n", np.int64(0))])


def in_function(nodes):
    """A function that nobody calls."""
    unused = helper.make_function("d", "unused", ["x"], ["b"], list(nodes), [helper.make_opsetid("", 21)])
    return model([relu()], functions=[unused], domains=("d",))


def in_main(nodes):
    return model([relu(), *nodes])


def in_branch_of_function(nodes):
    inner = in_branch(nodes).graph.node[0]
    constant = node("Constant", (), ("c",), "cond", value=weight("v", np.bool_(True)))
    body = [constant, inner, node("Identity", ("y",), ("b",), "last")]
    return in_function(body)


PLACES = {"main": in_main, "branch": in_branch, "loop": in_loop, "function": in_function, "deep": in_branch_of_function}


def bad(op="Relu", inputs=("x",), outputs=("b",), **attributes):
    return node(op, inputs, outputs, "bad_node", **attributes)


def broken_nodes():
    def edited(made, **fields):
        attribute = made.attribute.add()
        for name, content in fields.items():
            (getattr(attribute, name).CopyFrom if isinstance(content, onnx.TensorProto) else lambda c: setattr(attribute, name, c))(content)
        return made
    yield "input_of_nothing", [bad(inputs=("ghost",))], "ghost"
    yield "cycle_of_one", [bad(inputs=("b",))], "b"
    yield "cycle_of_two", [bad(inputs=("t",)), relu("b", "t")], "t"
    yield "output_twice", [relu(out="b"), bad()], "already|twice|duplicate"
    yield "output_twice_in_node", [bad("TopK", ("x", "k1"), ("b", "b"))], "k1|twice|already"
    yield "output_is_input", [bad(outputs=("x",)), relu(out="b")], "already|hides|duplicate"
    yield "inputs_missing", [bad(inputs=())], "input"
    yield "input_blank", [bad("Add", ("x", ""))], "input"
    yield "inputs_many", [bad(inputs=("x", "x"))], "input"
    yield "outputs_blank", [bad(outputs=("",)), relu(out="b")], "output"
    yield "outputs_none", [bad(outputs=()), relu(out="b")], "output"
    yield "outputs_many", [bad(outputs=("b", "c"))], "output"
    yield "attribute_unknown", [bad(slope=1.0)], "slope"
    yield "attribute_twice", [edited(edited(bad("Softmax"), name="axis", i=1, type=2), name="axis", i=1, type=2)], "twice"
    yield "attribute_kind", [bad("Softmax", axis="last")], "axis"
    yield "attribute_kind_disagrees", [edited(bad("Softmax"), name="axis", i=1, type=1)], "axis"
    yield "attribute_without_value", [edited(bad("Constant", ()), name="value", type=4)], "value"
    yield "attribute_unnamed", [edited(bad(), i=1, type=2)], "name"
    yield "attribute_missing", [bad("Concat", ("x", "x"))], "axis"
    yield "attribute_range", [bad("MaxPool", kernel_shape=[0, 0])], "kernel_shape"
    yield "attribute_word", [bad("DepthToSpace", blocksize=2, mode="ABC")], "ABC"
    yield "attribute_tensor", [edited(bad("Constant", ()), name="value", t=proto(1, raw_data=bytes(31)), type=4)], "data|byte"
    yield "domain_unknown", [bad("Thing", domain="com.example.unknown")], "com.example.unknown"
    yield "tensor_and_list", [bad("ConstantOfShape", ("x", "x"))], "input"


def add_nodes(suite):
    for place, put in PLACES.items():
        for name, nodes, say in broken_nodes():
            suite.add(f"node_{name}_in_{place}", put(nodes), "reject", say, "bad_node", is_import=True)
        # Nodes that are not in order are sorted, with a warning.
        suite.add(f"node_input_of_later_in_{place}", put([bad(inputs=("t",)), relu(out="t")]), "accept", is_import=True)


def add_tensors(suite):
    for element in BITS:
        for name, tensor, say in broken_tensors(element):
            suite.add(f"unused_{element}_{name}", model([relu()], weights=[tensor]), "reject", say, "'w'", is_import=True)
    for name, tensor, say in broken_tensors(1):
        branch = in_branch([relu(out="b")])
        branch.graph.node[0].attribute[1].g.initializer.append(tensor)
        suite.add(f"branch_{name}", branch, "reject", say, "'w'", is_import=True)
    for name, declared in {"type": value("w", (8,), INT64), "rank": value("w", (8, 1)), "size": value("w", (9,)), "sequence": helper.make_tensor_sequence_value_info("w", FLOAT, [8])}.items():
        suite.add(f"default_{name}", model([relu()], [value("x"), declared], weights=[weight("w", np.ones(8, "f4"))]), "reject", "declare", "'w'", is_import=True)
    suite.add("default_right", model([relu()], [value("x"), value("w", ("n",))], weights=[weight("w", np.ones(8, "f4"))]), "accept", is_import=True)
    for name, weights in {"twice": [weight("w", np.ones(2, "f4"))] * 2, "unnamed": [weight("", np.ones(2, "f4"))]}.items():
        suite.add(f"initializer_{name}", model([relu()], weights=weights), "reject", "twice|name", "initializer", is_import=True)


def add_sparse(suite):
    def sparse(dims=(4,), values=(1.0, 2.0), indices=(0, 2), shape=None, element=INT64, name="w"):
        kept = helper.make_tensor(name, FLOAT, [len(values)], values)
        return helper.make_sparse_tensor(kept, helper.make_tensor("", element, shape or [len(indices)], indices), list(dims))
    broken = {"no_dims": sparse(dims=()), "negative": sparse(dims=(-4,)), "few_values": sparse(values=(1.0,)), "index_type": sparse(element=TensorProto.INT32), "indices_3d": sparse(shape=[1, 2, 1]),
              "columns": sparse(dims=(2, 2), indices=(0, 0, 1, 1, 1, 1), shape=[2, 3]), "overflow": sparse(dims=(1 << 62, 1 << 62))}
    for name, tensor in broken.items():
        made = model([relu()])
        made.graph.sparse_initializer.append(tensor)
        suite.add(f"sparse_{name}", made, "reject", "sparse", "'w'", is_import=True)
    unnamed = model([relu()])
    unnamed.graph.sparse_initializer.append(sparse(name=""))
    suite.add("sparse_unnamed", unnamed, "reject", "name", "sparse", is_import=True)


def add_declarations(suite):
    """Results that contradict their declarations, for each operator; and types that are none."""
    last = {(domain, operator): (opset, facts) for domain, operator, opset, facts in list_operators()}
    for (domain, operator), (opset, facts) in last.items():
        case = Case(domain, operator, opset)
        if any(isinstance(given, str) for given in case.inputs) or not facts.outputs or max(facts.outputs[0].types) >= 100 and operator not in ("If", "Loop"):
            continue
        wrong = [e for e in (TensorProto.STRING, TensorProto.BOOL, TensorProto.FLOAT, TensorProto.UINT16) if e not in facts.outputs[0].types]
        if wrong:
            case.declared = {"y": helper.make_tensor_value_info("y", wrong[0], None)}
            suite.add(f"declared_type_{operator}", case.write(), "reject", "declares", "bad_node", is_import=True)
        case.declared = {"y": helper.make_value_info("y", helper.make_tensor_type_proto(0, [1] * 11))}
        # A warning, and an error where only data decide the shape.
        suite.add(f"declared_rank_{operator}", case.write(), "either", (), is_import=True)
    for name, info in {"type_99": value("y", (2, 3), 99), "type_negative": value("y", (2, 3), -1), "dim": value("y", (-7, 3))}.items():
        suite.add(f"output_{name}", model([relu()], outputs=[info]), "reject", "number|negative|unknown element type", "'y'", is_import=True)
        made = model([relu(), relu("y", "z")], outputs=[value("z", None)])
        made.graph.value_info.append(info)
        suite.add(f"value_{name}", made, "reject", "number|negative|unknown element type", "'y'", is_import=True)


def add_functions(suite):
    def function(name, nodes, inputs=("x",), outputs=("b",), attributes=(), opset=21, more=()):
        return helper.make_function("d", name, list(inputs), list(outputs), list(nodes), [helper.make_opsetid("", opset), helper.make_opsetid("d", 1), *more], list(attributes))
    def calls(name):
        return node(name, ("x",), ("b",), f"to_{name}", domain="d")
    one = relu(out="b")
    cases = {"self": [function("f", [calls("f")])], "mutual": [function("f", [calls("g")]), function("g", [calls("f")])], "three": [function("f", [calls("g")]), function("g", [calls("h")]), function("h", [calls("f")])],
             "twice": [function("f", [one])] * 2, "unnamed": [function("", [one])], "input_unnamed": [function("f", [one], ("x", ""))], "input_twice": [function("f", [one], ("x", "x"))],
             "output_undefined": [function("f", [one], outputs=("b", "c"))], "output_twice": [function("f", [one], outputs=("b", "b"))], "attribute_twice": [function("f", [one], attributes=("a", "a"))],
             "attribute_unnamed": [function("f", [one], attributes=("",))], "opset_0": [function("f", [one], opset=0)], "opset_negative": [function("f", [one], opset=-1)], "opset_future": [function("f", [one], opset=99)],
             "opset_twice": [function("f", [one], more=[helper.make_opsetid("", 20)])]}
    for name, functions in cases.items():
        suite.add(f"function_{name}", model([relu()], functions=functions, domains=("d",)), "reject", (), "function", is_import=True)
    good = function("f", [one], attributes=("slope",))
    suite.add("function_right", model([node("f", domain="d", slope=1.0)], functions=[good], domains=("d",)), "accept", is_import=True)
    for name, call in {"attribute": node("f", domain="d", slop=1.0), "inputs": node("f", ("x", "x"), domain="d"), "outputs": node("f", outputs=("y", "z"), domain="d")}.items():
        suite.add(f"call_{name}", model([call], functions=[good], domains=("d",)), "reject", "attribute|input|output", "bad_node", is_import=True)
    again = node("f", domain="d", slope=1.0)
    again.attribute.append(again.attribute[0])
    suite.add("call_attribute_twice", model([again], functions=[good], domains=("d",)), "reject", "twice", "bad_node", is_import=True)
    # What a call gives an attribute of the body is checked like one that stands there.
    for op, name, kind, wrong in (("DepthToSpace", "mode", 3, "ABC"), ("DepthToSpace", "blocksize", 2, 0), ("Softmax", "axis", 2, "x"), ("MaxPool", "kernel_shape", 7, [0, 0]), ("MaxPool", "auto_pad", 3, "SAME")):
        inner = node(op, ("x",), ("b",), "inner", **({"blocksize": 2} if name == "mode" else {"kernel_shape": [2, 2]} if name == "auto_pad" else {}))
        inner.attribute.append(onnx.AttributeProto(name=name, type=kind, ref_attr_name="given"))
        taking = function("f", [inner], attributes=("given",))
        suite.add(f"call_gives_{op}_{name}", model([node("f", domain="d", given=wrong)], [value("x", (1, 4, 8, 8))], functions=[taking], domains=("d",)), "reject", name, "inner", is_import=True)


def add_bodies(suite):
    def graph(nodes, inputs, outputs):
        return helper.make_graph([node(op, i, o, f"in_{o[0]}") for op, i, o in nodes], "body", list(inputs), [value(o, None, kind) for o, kind in outputs])
    x, condition, number = value("x"), weight("c", np.bool_(True)), weight("n", np.int64(2))
    one = graph([("Relu", ["x"], ["t"])], [], [("t", FLOAT)])
    two = graph([("Relu", ["x"], ["e"]), ("Neg", ["x"], ["g"])], [], [("e", FLOAT), ("g", FLOAT)])
    taking = graph([("Relu", ["a"], ["h"])], [value("a")], [("h", FLOAT)])
    for name, (then, other) in {"else_more": (one, two), "then_more": (two, one), "else_inputs": (one, taking), "then_inputs": (taking, one)}.items():
        suite.add(f"if_{name}", model([bad("If", ("c",), ("y",), then_branch=then, else_branch=other)], [x], weights=[condition]), "reject", "branch", "bad_node", is_import=True)
    step = [value("i", (), INT64), value("m", (), TensorProto.BOOL), value("s")]
    on = ("Identity", ["m"], ["more"])
    bodies = {"no_condition": graph([("Relu", ["s"], ["r"])], step, [("r", FLOAT)]), "no_inputs": graph([("Relu", ["x"], ["r"]), ("Identity", ["c"], ["more"])], [], [("more", 9), ("r", FLOAT)]),
              "few_inputs": graph([on, ("Relu", ["x"], ["r"])], step[:2], [("more", 9), ("r", FLOAT)]), "many_inputs": graph([on, ("Relu", ["s"], ["r"])], [*step, value("u")], [("more", 9), ("r", FLOAT)]),
              "few_outputs": graph([on], step, [("more", 9)]), "condition_float": graph([("Relu", ["s"], ["more"]), ("Relu", ["s"], ["r"])], step, [("more", FLOAT), ("r", FLOAT)])}
    for name, made in bodies.items():
        suite.add(f"loop_{name}", model([bad("Loop", ("n", "c", "x"), ("y",), body=made)], [x], weights=[condition, number]), "reject", (), "bad_node", is_import=True)
    row = [value("s", (3,)), value("e", (3,))]
    rows = {"few_inputs": graph([("Relu", ["s"], ["a"]), ("Relu", ["s"], ["b"])], row[:1], [("a", FLOAT), ("b", FLOAT)]), "many_inputs": graph([("Add", ["s", "e"], ["a"]), ("Relu", ["e"], ["b"])], [*row, value("u", (3,))], [("a", FLOAT), ("b", FLOAT)]),
            "few_outputs": graph([("Add", ["s", "e"], ["a"])], row, [("a", FLOAT)]), "no_outputs": graph([("Add", ["s", "e"], ["a"])], row, [])}
    for name, made in rows.items():
        suite.add(f"scan_{name}", model([bad("Scan", ("w", "x"), ("y", "z"), body=made, num_scan_inputs=1)], [x], [value("y", None), value("z", None)], [weight("w", np.zeros(3, "f4"))]), "reject", (), "bad_node", is_import=True)


def add_header(suite):
    def changed(change):
        good = model([relu()])
        change(good)
        return good

    def imports(*versions):
        def change(good):
            del good.opset_import[:]
            good.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in versions)
        return changed(change)
    cases = {"ir_missing": changed(lambda m: m.ClearField("ir_version")), "ir_0": changed(lambda m: setattr(m, "ir_version", 0)), "ir_negative": changed(lambda m: setattr(m, "ir_version", -3)),
             "ir_future": changed(lambda m: setattr(m, "ir_version", 99)), "graph_missing": changed(lambda m: m.ClearField("graph")), "opset_missing": imports(), "opset_0": imports(("", 0)), "opset_negative": imports(("", -1)),
             "opset_absurd": imports(("", 1 << 40)), "opset_conflict": imports(("", 13), ("", 21)), "opset_conflict_of_names": imports(("", 13), ("ai.onnx", 21)), "opset_other_0": imports(("", 21), ("d", 0)), "opset_other_conflict": imports(("", 21), ("d", 1), ("d", 2)),
             "input_twice": model([relu()], [value("x"), value("x")]), "input_unnamed": model([relu()], [value("x"), value("")]), "input_untyped": model([relu()], [onnx.ValueInfoProto(name="x")]), "input_type_99": model([relu()], [value("x", (2, 3), 99)]),
             "input_type_0": model([relu()], [value("x", (2, 3), 0)]), "input_dim": model([relu()], [value("x", (-7, 3))]), "output_unnamed": model([relu()], outputs=[value("y", None), value("", None)]), "output_twice": model([relu()], outputs=[value("y", None)] * 2),
             "output_none": model([relu()], outputs=[]), "output_undefined": model([relu()], outputs=[value("ghost", None)]), "output_of_branch": model([node("If", ("c",), ("y",), then_branch=helper.make_graph([relu(out="t")], "t", [], [value("t", None)]), else_branch=helper.make_graph([relu(out="e")], "e", [], [value("e", None)]))], outputs=[value("t", None)], weights=[weight("c", np.bool_(True))])}
    for name, made in cases.items():
        suite.add(f"header_{name}", made, "reject", (), None, is_import=True)


def add(suite):
    for part in (add_header, add_nodes, add_tensors, add_sparse, add_declarations, add_functions, add_bodies):
        part(suite)
