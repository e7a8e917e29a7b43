"""DynamicQuantizeLSTM of symbolic and of fixed sizes: both give the same numbers, those of ONNX Runtime 1.30, with all states and without.

Usage: quantized_lstm.py DIR
"""

import pathlib
import sys

import model_run
import numpy as np
from onnx import TensorProto, helper, numpy_helper

FEATURES, HIDDEN, STEPS, BATCH = 3, 2, 4, 3
#: The last hidden states of ONNX Runtime 1.30. The rows that are finished count for the scale of the others where nobody asks for all states.
EXPECTED = {
    True: [[0.050719734, 0.0021139386], [-0.00024335056, -0.75402468], [0.26397669, -0.008862732]],
    False: [[0.050493132, 0.0021350787], [-0.00024335056, -0.75402468], [0.26511717, -0.0092399316]],
}


def model(sizes, has_all):
    random = np.random.RandomState(7)
    weights = {"w": random.randint(-100, 100, (1, FEATURES, 4 * HIDDEN)).astype("i1"), "r": random.randint(-100, 100, (1, HIDDEN, 4 * HIDDEN)).astype("i1"),
               "scale": np.full(1, 0.03, "f4"), "zero": np.zeros(1, "i1")}
    outputs = ["all" if has_all else "", "hidden", "cell"]
    node = helper.make_node("DynamicQuantizeLSTM", ["x", "w", "r", "", "lengths", "", "", "", "scale", "zero", "scale", "zero"], outputs, "layer",
                            domain="com.microsoft", hidden_size=HIDDEN)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [*sizes, FEATURES]), helper.make_tensor_value_info("lengths", TensorProto.INT32, [sizes[1]])]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name]
    graph = helper.make_graph([node], "g", inputs, results, [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def given():
    return {"x": np.random.RandomState(8).standard_normal((STEPS, BATCH, FEATURES)).astype("f4"), "lengths": np.array([4, 1, 3], "i4")}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for has_all, expected in EXPECTED.items():
        fixed, symbolic = (model_run.run(folder, model(sizes, has_all), given(), ("hidden", "cell")) for sizes in ((STEPS, BATCH), ("steps", "batch")))
        same = all(np.array_equal(a, b) for a, b in zip(fixed, symbolic))
        close = np.allclose(fixed[0].reshape(BATCH, HIDDEN), expected, rtol=0, atol=1e-6)
        print(f"all states: {has_all}, symbolic: {'same' if same else 'other'} numbers, ONNX Runtime: {'equal' if close else fixed[0].tolist()}")


if __name__ == "__main__":
    main()
