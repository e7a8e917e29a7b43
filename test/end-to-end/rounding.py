"""How close the values of a quantised model come to where rounding turns."""

import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime

#: What sums in another order may move a value by, in steps of its quantisation.
NEEDED = 1e-4
#: Operators that round their first input.
QUANTIZERS = ("QuantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeMatMul")


def smallest_margin(case, run):
    """The smallest distance of any quantised value from the middle between two integers, in steps; what is saturated anyway does not count."""
    model = onnx.load(str(case.path))
    inputs = case.inputs(run)
    # What the caller gives is no sum.
    nodes = [node for node in model.graph.node if node.op_type in QUANTIZERS and node.input[0] not in inputs]
    if not nodes:
        return 0.5
    names = list(dict.fromkeys(name for node in nodes for name in (node.input[0], node.output[0])))
    weights = {weight.name: onnx.numpy_helper.to_array(weight) for weight in model.graph.initializer}
    del model.graph.output[:]
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.onnx"
        onnx.save(model, str(file))
        values = dict(onnxruntime.run_file(file, inputs))
    return min(margin(node, values, weights) for node in nodes)


def margin(node, values, weights):
    x = values[node.input[0]].astype(np.float64)
    if node.op_type == "QuantizeLinear":
        scaled, turns = x / weights[node.input[1]], []
    else:
        low, high = min(x.min(), 0), max(x.max(), 0)
        scaled, turns = x * 255 / (high - low), [-low * 255 / (high - low)]
    inside = scaled.reshape(-1)
    if node.op_type != "DynamicQuantizeMatMul":  # its bytes are not to be seen
        bounds = np.iinfo(values[node.output[0]].dtype)
        inside = scaled[(values[node.output[0]] > bounds.min) & (values[node.output[0]] < bounds.max)]
    scaled = np.concatenate([inside, turns])
    return float(np.min(np.abs(scaled - np.floor(scaled) - 0.5), initial=0.5))
