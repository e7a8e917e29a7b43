"""What stands around the graph: versions, operator sets, producers."""

from onnx import helper
from suite import FLOAT, model, node, value


def changed(change):
    good = model([node("Relu")])
    change(good)
    return good


def imports(*versions):
    def change(good):
        del good.opset_import[:]
        good.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in versions)
    return changed(change)


def add(suite):
    for version in (-1, 15, 1 << 31, (1 << 63) - 1):
        suite.add(f"ir_{version}", changed(lambda good: setattr(good, "ir_version", version)), say="ir_version")
    for version in (-5, 29, 1 << 31):
        suite.add(f"opset_{version}", imports(("", version)), say=["opset", str(version)])
    suite.add("opset_other_domain_only", imports(("ai.onnx.ml", 3)), say="opset|domain")
    suite.add("opset_unused_domain", imports(("", 21), ("com.example", 1)), "accept")
    suite.add("opset_unused_domain_new", imports(("", 21), ("com.example", 1 << 40)), "either")
    suite.add("opset_same_twice", imports(("", 21), ("ai.onnx", 21)), "accept")
    suite.add("opset_1000_domains", imports(("", 21), *((f"d{index}", 1) for index in range(1000))), "accept")
    suite.add("opset_1000_conflicts", imports(*(("", version) for version in range(1, 1001))), say="opset")
    suite.add("domain_not_imported", model([node("Scaler", domain="ai.onnx.ml")]), say="ai.onnx.ml|domain", node="bad_node")
    suite.add("domain_control_bytes", model([node("Relu", domain="a\x1b[2Jb\x07")], domains=("a\x1b[2Jb\x07",)), say="Relu", node="bad_node")
    suite.add("domain_1mib", model([node("Relu", domain="d" * (1 << 20))]), say="Relu", node="bad_node")
    suite.add("domain_training", model([node("Relu", domain="ai.onnx.training")]), say="Relu", node="bad_node")
    suite.add("producer_1mib", changed(lambda good: setattr(good, "producer_name", "p" * (1 << 20))), "accept")
    suite.add("model_version_negative", changed(lambda good: setattr(good, "model_version", -7)), "accept")
    suite.add("graph_unnamed", changed(lambda good: good.graph.ClearField("name")), "accept")
    suite.add("metadata_twice", changed(lambda good: helper.set_model_props(good, {"a": "1"}) or good.metadata_props.add(key="a", value="2")), "either")
    suite.add("ir_3_weight_no_input", changed(lambda good: setattr(good, "ir_version", 3)), "accept")
    suite.add("operator_of_old_opset", model([node("Affine", alpha=1.0, beta=0.0)]), say=["Affine", "opset|version"], node="bad_node")
    suite.add("operator_of_newer_opset", model([node("Mish")], opset=17), say=["Mish", "17"], node="bad_node")
    suite.add("attribute_of_newer_opset", model([node("Softmax", axis=0)], opset=13), "accept")
    suite.add("attribute_unknown", model([node("Relu", slope=1.0)]), say="slope", node="bad_node")
    suite.add("input_of_newer_opset", model([node("Clip", ("x", "x"))], opset=6), say="input", node="bad_node")
    suite.add("output_float_of_nothing", model([], [], [value("y", (1,), FLOAT)]), say="y")
