"""How nodes, values and bodies hang together."""

import numpy as np
from onnx import TensorProto, helper
from suite import FLOAT, INT64, model, node, value, weight


def body(nodes, inputs=(), outputs=("r",), name="body", element=FLOAT, dims=None):
    return helper.make_graph(list(nodes), name, [value(i, d, e) for i, d, e in inputs], [value(o, dims, element) for o in outputs])


def branch(name, op="Relu", source="x", outputs=("r",), **rest):
    return body([node(op, (source,), (f"{name}_{o}",), f"{name}_{o}_node") for o in outputs], outputs=[f"{name}_{o}" for o in outputs], name=name, **rest)


def choice(then, other, condition="c", outputs=("y",), **attributes):
    return node("If", (condition,), outputs, then_branch=then, else_branch=other, **attributes)


def add(suite):
    add_names(suite)
    add_order(suite)
    add_arity(suite)
    add_interface(suite)
    add_branches(suite)
    add_loops(suite)
    add_scans(suite)


def add_names(suite):
    suite.add("node_twice", model([node("Relu", name="n"), node("Relu", ("y",), ("z",), "n")], outputs=[value("z", None)]), "accept")
    suite.add("operator_unnamed", model([node("")]), say="op_type|operator|empty", node="bad_node")
    suite.add("operator_control_bytes", model([node("Re\x1b[31mlu\n\r")]), say="operator|known|Re", node="bad_node")
    suite.add("operator_1mib", model([node("R" * (1 << 20))]), say="RRRR", node="bad_node")
    suite.add("operator_lower_case", model([node("relu")]), say="relu", node="bad_node")
    suite.add("node_name_1mib", model([node("Nope", name="n" * (1 << 20))]), say=["Nope", "nnnn"])
    suite.add("value_names_of_cpp", model([node("Relu", ("int",), ("class",))], [value("int")], [value("class", None)]), "accept")
    suite.add("value_names_that_collide", model([node("Relu", ("a.b",), ("c",)), node("Relu", ("a_b",), ("d",))], [value("a.b"), value("a_b")], [value("c", None), value("d", None)]), "accept")
    suite.add("value_name_is_path", model([node("Relu", ("x",), ("../../y",))], outputs=[value("../../y", None)]), "accept")
    suite.add("value_name_blank", model([node("Relu", (" ",), ("y",))], [value(" ")]), "accept")
    suite.add("comment_in_name", model([node("Relu", name="*/ #error \\\n //")]), "accept")


def add_order(suite):
    ring = [node("Relu", (f"v{(i + 2) % 3}",), (f"v{i}",), f"n{i}") for i in range(3)]
    suite.add("cycle_3", model(ring, outputs=[value("v0", None)]), say="cycl|order|undefined|before", node="n0")
    suite.add("cycle_unused", model([node("Relu"), *ring]), say="cycl|order|undefined|before", node="n0")
    suite.add("output_of_nothing", model([node("Relu")], outputs=[value("y", None), value("z", None)]), say="z")
    suite.add("output_unnamed", model([node("Relu")], outputs=[value("y", None), value("", None)]), say="output|name")
    suite.add("name_used_by_two", model([node("Relu", ("x",), ("t",), "a"), node("Neg", ("x",), ("t",), "b"), node("Relu", ("t",))]), say=["t", "twice|already|more than once|duplicate"], node="b")
    suite.add("one_node_same_output_twice", model([node("Split", ("x",), ("y", "y"), axis=0)]), say=["y", "twice|already|more than once|duplicate"], node="bad_node")
    suite.add("weight_and_node", model([node("Relu", outputs=("w",)), node("Relu", ("w",), name="b")], weights=[weight("w", np.ones(3, "f4"))]), say="w", node="bad_node")
    suite.add("dead_code_undefined", model([node("Relu"), node("Relu", ("ghost",), ("dead",), "late")]), say="ghost", node="late")
    suite.add("identities_3000", model([node("Identity", (f"v{i}",), (f"v{i + 1}",), f"n{i}") for i in range(3000)] + [node("Relu", ("v3000",))], [value("v0")]), "accept", seconds=20)


def add_arity(suite):
    for op in ("Relu", "Add", "Concat", "Sum", "Max", "MatMul", "Gather", "Where"):
        suite.add(f"no_inputs_{op}", model([node(op, (), ("y",))]), say="input", node="bad_node")
    suite.add("left_out_Add", model([node("Add", ("x", ""))]), say="input", node="bad_node")
    suite.add("left_out_Concat", model([node("Concat", ("x", "", "x"), axis=0)]), say="input", node="bad_node")
    suite.add("no_outputs", model([node("Relu"), node("Neg", ("x",), (), "empty")]), "either")
    suite.add("blank_outputs", model([node("Relu"), node("Neg", ("x",), ("",), "empty")]), "either")
    suite.add("three_for_Add", model([node("Add", ("x", "x", "x"))]), say="input", node="bad_node")
    suite.add("output_too_many_Split", model([node("Split", ("x",), ("y", "b", "c", "d"), axis=0)]), say="split|output|divide", node="bad_node")
    suite.add("inputs_1000_of_Clip", model([node("Clip", ("x",) * 1000)]), say="input", node="bad_node")


def add_interface(suite):
    suite.add("result_of_other_type", model([node("Relu")], outputs=[value("y", None, INT64)]), say="y|type")
    suite.add("result_of_other_rank", model([node("Relu")], outputs=[value("y", (2, 3, 1))]), "accept")
    suite.add("result_of_other_size", model([node("Relu")], outputs=[value("y", (2, 4))]), "accept")
    suite.add("result_of_symbol", model([node("Relu")], outputs=[value("y", ("N", "M"))]), "either")
    wrong = model([node("Relu", outputs=("t",)), node("Relu", ("t",), name="b")])
    wrong.graph.value_info.append(value("t", (9, 9)))
    suite.add("value_info_wrong", wrong, "accept")
    suite.add("input_returned", model([], outputs=[value("x")]), "accept")
    suite.add("input_returned_twice", model([node("Relu")], outputs=[value("x"), value("x"), value("y", None)]), "either")
    suite.add("inputs_500", model([node("Sum", [f"x{i}" for i in range(500)])], [value(f"x{i}", (4,)) for i in range(500)]), "accept", seconds=20)


def add_branches(suite):
    c = value("c", (), TensorProto.BOOL)
    x = value("x")
    both = [c, x]
    suite.add("if_fewer_outputs", model([choice(branch("t", outputs=("r", "s")), branch("e"), outputs=("y", "z"))], both, [value("y", None), value("z", None)]), say="output|branch", node="bad_node")
    suite.add("if_more_outputs", model([choice(branch("t", outputs=("r", "s")), branch("e", outputs=("r", "s")))], both), say="output|branch", node="bad_node")
    suite.add("if_branch_inputs", model([choice(body([node("Relu", ("a",), ("r",), "in")], [("a", (2, 3), FLOAT)]), branch("e"))], both), say="input|branch", node="bad_node")
    suite.add("if_condition_float", model([choice(branch("t"), branch("e"), "x")], [x]), say="bool|condition|type", node="bad_node")
    suite.add("if_ranks_differ", model([choice(branch("t"), body([node("ReduceMax", ("x",), ("r",), "in", keepdims=0)]))], both), say="shape|rank|branch|type", node="output 'y'")
    suite.add("if_empty_branch", model([choice(body([], outputs=("x",)), branch("e"))], both), "either")
    suite.add("if_branch_is_number", model([node("If", ("c",), then_branch=1, else_branch=branch("e"))], both), say="then_branch", node="bad_node")
    suite.add("if_sees_sibling", model([choice(branch("t", source="e_r"), branch("e"))], both), say="e_r", node="t_r_node")
    deep = branch("leaf")
    for level in range(110):
        deep = body([node("If", ("c",), (f"r{level}",), f"if{level}", then_branch=deep, else_branch=branch(f"e{level}"))], outputs=(f"r{level}",), name=f"b{level}")
    suite.add("if_nested_110", model([choice(deep, branch("e"))], both), say="nest|deep|depth|pars")
    wide = [choice(branch(f"t{i}"), branch(f"e{i}"), outputs=(f"v{i}",)) for i in range(60)] + [node("Sum", [f"v{i}" for i in range(60)], name="sum")]
    suite.add("if_60_in_a_row", model(wide, both), "accept", seconds=20)


def loop(inputs, carried, outputs=("y",), name="bad_node"):
    return node("Loop", inputs, outputs, name, body=carried)


def step(nodes, outputs=("more", "r"), inputs=(("i", (), INT64), ("more_in", (), TensorProto.BOOL), ("s", (2, 3), FLOAT))):
    graph = helper.make_graph(list(nodes), "step", [value(n, d, e) for n, d, e in inputs], [])
    graph.output.extend(value(name, None, TensorProto.BOOL if name == "more" else FLOAT) for name in outputs)
    return graph


def add_loops(suite):
    going = node("Identity", ("more_in",), ("more",), "going")
    good = [going, node("Neg", ("s",), ("r",), "neg")]
    three = weight("n", np.int64(3))
    suite.add("loop_good", model([loop(("n", "", "x"), step(good))], weights=[three]), "accept")
    suite.add("loop_count_float", model([loop(("n", "", "x"), step(good))], weights=[weight("n", np.float32(3))]), say="int64|type|count|trip", node="bad_node")
    suite.add("loop_count_largest", model([loop(("n", "", "x"), step(good))], weights=[weight("n", np.int64(2**63 - 1))]), "accept")
    suite.add("loop_count_vector", model([loop(("n", "", "x"), step(good))], weights=[weight("n", np.int64([3, 4]))]), say="scalar|element|count|trip|shape", node="bad_node")
    suite.add("loop_condition_float", model([loop(("n", "x", "x"), step(good))], weights=[three]), say="bool|condition|type", node="bad_node")
    suite.add("loop_type_changes", model([loop(("n", "", "x"), step([going, node("Cast", ("s",), ("r",), "cast", to=INT64)]))], weights=[three]), say="type|carried", node="bad_node")
    suite.add("loop_rank_changes", model([loop(("n", "", "x"), step([going, node("ReduceMax", ("s",), ("r",), "max", keepdims=0)]))], weights=[three]), "either")
    suite.add("loop_grows", model([loop(("n", "", "x"), step([going, node("Concat", ("s", "s"), ("r",), "cat", axis=0)]))], weights=[three]), "either")
    suite.add("loop_grows_forever", model([loop(("n", "", "x"), step([going, node("Concat", ("s", "s"), ("r",), "cat", axis=0)]))], weights=[weight("n", np.int64(4000))]), say="large|limit|shape|size|overflow", node="cat")
    suite.add("loop_no_body", model([node("Loop", ("n", "", "x"))], weights=[three]), say="body", node="bad_node")
    suite.add("loop_body_misses_value", model([loop(("n", "", "x"), step([going, node("Neg", ("gone",), ("r",), "neg")]))], weights=[three]), say="gone", node="neg")
    suite.add("loop_too_many_carried", model([loop(("n", "", "x", "x"), step(good), ("y", "z"))], weights=[three]), say="input|carried|body", node="bad_node")
    suite.add("loop_million_steps", model([loop(("n", "", "x"), step(good))], weights=[weight("n", np.int64(1000000))]), "either", seconds=20)
    inner = [going, node("Loop", ("n", "", "s"), ("r",), "inner", body=step([node("Identity", ("more_in",), ("more",), "on"), node("Neg", ("s",), ("r",), "neg")]))]
    suite.add("loop_hides_names", model([loop(("n", "", "x"), step(inner))], weights=[three]), say="hides|already|twice|more than once|duplicate|shadow")
    suite.add("loop_of_loops", model([loop(("n", "", "x"), step(good))] + [loop(("n", "", "y" if i == 0 else f"y{i}"), step(good), (f"y{i + 1}",), f"l{i}") for i in range(20)], weights=[weight("n", np.int64(50))]), "either", seconds=20)


def add_scans(suite):
    inside = helper.make_graph([node("Add", ("s", "e"), ("s_out",), "sum"), node("Neg", ("e",), ("o",), "neg")], "step",
                               [value("s", (3,)), value("e", (3,))], [value("s_out", None), value("o", None)])
    start = weight("w", np.zeros(3, "f4"))
    outputs = [value("y", None), value("z", None)]

    def scan(say, expect="reject", inputs=("w", "x"), **attributes):
        return model([node("Scan", inputs, ("y", "z"), body=inside, **attributes)], outputs=outputs, weights=[start, weight("short", np.zeros((1, 3), "f4"))]), expect, say, "bad_node" if expect == "reject" else None
    suite.add("scan_good", *scan("", "accept", num_scan_inputs=1))
    for name, attributes in {"inputs_0": {"num_scan_inputs": 0}, "inputs_3": {"num_scan_inputs": 3}, "axis_9": {"num_scan_inputs": 1, "scan_input_axes": [9]}, "axes_length": {"num_scan_inputs": 1, "scan_input_axes": [0, 0]},
                             "direction_2": {"num_scan_inputs": 1, "scan_input_directions": [2]}, "directions_length": {"num_scan_inputs": 1, "scan_input_directions": [0, 1]},
                             "output_axis_9": {"num_scan_inputs": 1, "scan_output_axes": [9]}, "missing": {}}.items():
        suite.add(f"scan_{name}", *scan("scan|ax|direction", **attributes))
