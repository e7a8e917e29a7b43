"""Operators with attributes and operands that no reading of the standard allows."""

import numpy as np
from onnx import TensorProto, helper
from suite import FLOAT, INT64, model, node, value

F = (FLOAT, (2, 3))
IMAGE = (FLOAT, (1, 4, 8, 8))
UINT8, BOOL, STRING = TensorProto.UINT8, TensorProto.BOOL, TensorProto.STRING
HUGE = 1 << 62


def ints(*numbers):
    return np.array(numbers, np.int64)


def floats(*shape):
    return np.ones(shape, np.float32)


#: name: (operator, inputs, what the message has, attributes); the operator set is 21 unless an attribute `opset` says so.
CASES = {
    "alpha_string": ("LeakyRelu", [F], "alpha", {"alpha": "steep"}),
    "axis_list": ("Softmax", [F], "axis", {"axis": [1]}),
    "axis_7": ("Softmax", [F], "axis", {"axis": 7}),
    "axis_minus_3": ("LogSoftmax", [F], "axis", {"axis": -3}),
    "hardmax_axis": ("Hardmax", [F], "axis", {"axis": 2}),
    "concat_no_axis": ("Concat", [F, F], "axis", {}),
    "concat_sizes": ("Concat", [F, (FLOAT, (3, 3))], "dim|shape|size", {"axis": 1}),
    "concat_types": ("Concat", [F, (INT64, (2, 3))], "type", {"axis": 0}),
    "perm_negative": ("Transpose", [F], None, {"perm": [0, -1]}),
    "perm_long": ("Transpose", [F], "perm", {"perm": list(range(2000))}),
    "gather_axis": ("Gather", [F, ints(0)], "axis", {"axis": 2}),
    "gather_float_index": ("Gather", [F, floats(1)], "type|ind", {}),
    "gather_huge_index": ("Gather", [F, ints(HUGE)], "ind|range|bound", {}),
    "gather_nd_batch": ("GatherND", [F, ints(0).reshape(1, 1)], "batch_dims|shape|rank", {"batch_dims": 5}),
    "gather_elements_axis": ("GatherElements", [F, np.zeros((2, 3), np.int64)], "axis", {"axis": -3}),
    "scatter_elements_axis": ("ScatterElements", [F, np.zeros((1, 1), np.int64), floats(1, 1)], "axis", {"axis": 4}),
    "scatter_nd_updates": ("ScatterND", [F, np.zeros((1, 1), np.int64), floats(2, 3)], "shape|rank|update", {}),
    "split_outputs_0": ("Split", [F], "num_outputs|output", {"axis": 0, "num_outputs": 0}),
    "split_outputs_huge": ("Split", [F], "num_outputs|output", {"axis": 0, "num_outputs": HUGE}),
    "split_axis": ("Split", [F, ints(2)], "axis", {"axis": 2}),
    "reduce_axis": ("ReduceSum", [F, ints(2)], "ax", {}),
    "reduce_axis_twice": ("ReduceMax", [F, ints(0, -2)], "ax", {}),
    "reduce_axes_float": ("ReduceSum", [F, floats(1)], "ax|type", {}),
    "argmax_axis": ("ArgMax", [F], "axis", {"axis": 2}),
    "topk_negative": ("TopK", [F, ints(-1)], "k", {}),
    "topk_matrix": ("TopK", [F, np.ones((2, 2), np.int64)], "k|K|shape|element", {}),
    "topk_axis": ("TopK", [F, ints(1)], "axis", {"axis": 2}),
    "cumsum_axis": ("CumSum", [F, np.int64(2)], "axis", {}),
    "onehot_depth_0": ("OneHot", [(INT64, (2,)), np.int64(-1), floats(2)], "depth", {}),
    "onehot_values": ("OneHot", [(INT64, (2,)), np.int64(3), floats(3)], "values|element|shape", {}),
    "pad_mode": ("Pad", [F, ints(0, 0, 0, 0)], "mode", {"mode": "sideways"}),
    "pad_float": ("Pad", [F, floats(4)], "pads|type", {}),
    "pad_value_type": ("Pad", [F, ints(0, 0, 1, 1), ints(1)], "type|value", {}),
    "resize_mode": ("Resize", [IMAGE, None, floats(4)], "mode", {"mode": "fractal"}),
    "resize_coordinates": ("Resize", [IMAGE, None, floats(4)], "coordinate", {"coordinate_transformation_mode": "polar"}),
    "resize_nothing": ("Resize", [IMAGE], "scales|sizes|input", {}),
    "resize_both": ("Resize", [IMAGE, None, floats(4), ints(1, 4, 8, 8)], "scales|sizes|both", {}),
    "resize_count": ("Resize", [IMAGE, None, floats(3)], "scales|rank|element", {}),
    "resize_nan": ("Resize", [IMAGE, None, np.float32([1, 1, np.nan, 1])], "scale|size", {}),
    "resize_inf": ("Resize", [IMAGE, None, np.float32([1, 1, np.inf, 1])], "scale|size|large|limit", {}),
    "upsample_scales": ("Upsample", [IMAGE, np.float32([1, 1, 0.5, 0])], "scale|size", {"opset": 9}),
    "cast_to_0": ("Cast", [F], "to|type", {"to": 0}),
    "cast_to_negative": ("Cast", [F], "to|type", {"to": -1}),
    "range_nan": ("Range", [np.float32(0), np.float32(np.nan), np.float32(1)], "nan|number|size|limit|finite", {}),
    "range_inf": ("Range", [np.float32(0), np.float32(np.inf), np.float32(1)], "inf|size|limit|large|finite", {}),
    "range_types": ("Range", [np.float32(0), np.int64(3), np.float32(1)], "type", {}),
    "eyelike_rank": ("EyeLike", [(FLOAT, (2, 3, 4))], "rank|matrix|dim", {}),
    "trilu_rank": ("Trilu", [(FLOAT, (3,))], "rank|dim|matri", {}),
    "batch_norm_scale": ("BatchNormalization", [IMAGE, floats(3), floats(4), floats(4), floats(4)], "scale|shape|channel|dim", {}),
    "instance_norm_scale": ("InstanceNormalization", [IMAGE, floats(5), floats(4)], "scale|shape|channel|dim", {}),
    "group_norm_0": ("GroupNormalization", [IMAGE, floats(4), floats(4)], "group", {"num_groups": 0}),
    "group_norm_3": ("GroupNormalization", [IMAGE, floats(4), floats(4)], "group", {"num_groups": 3}),
    "layer_norm_scale": ("LayerNormalization", [F, floats(7)], "shape|dim|broadcast|scale", {}),
    "lrn_size_0": ("LRN", [IMAGE], "size", {"size": 0}),
    "lrn_no_size": ("LRN", [IMAGE], "size", {}),
    "gemm_rank": ("Gemm", [(FLOAT, (2, 3, 4)), floats(4, 2)], "rank|dim|matri", {}),
    "gemm_inner": ("Gemm", [F, floats(3, 2)], "dim|shape|inner|size", {"transA": 1}),
    "matmul_scalar": ("MatMul", [F, np.float32(1)], "rank|scalar|dim", {}),
    "matmul_batches": ("MatMul", [(FLOAT, (2, 3, 4)), (FLOAT, (3, 4, 5))], "shape|dim|broadcast", {}),
    "einsum_twice": ("Einsum", [F], "equation|einsum|->", {"equation": "ij->i->j"}),
    "einsum_dots": ("Einsum", [F], "equation|einsum|ellipsis", {"equation": "...i...->i"}),
    "einsum_sizes": ("Einsum", [F, F], "equation|einsum|dim|size", {"equation": "ij,jk->ik"}),
    "conv_channels": ("Conv", [IMAGE, floats(2, 3, 3, 3)], "channel", {}),
    "conv_huge_group": ("Conv", [IMAGE, floats(4, 1, 3, 3)], "group|channel", {"group": HUGE}),
    "conv_kernel_over_input": ("Conv", [IMAGE, floats(2, 4, 9, 9)], "kernel|negative|reach|size", {}),
    "conv_huge_dilation": ("Conv", [IMAGE, floats(2, 4, 3, 3)], "dilation|kernel|reach|overflow", {"dilations": [HUGE, HUGE]}),
    "conv_strides_length": ("Conv", [IMAGE, floats(2, 4, 3, 3)], "strides", {"strides": [1, 1, 1]}),
    "conv_bias": ("Conv", [IMAGE, floats(2, 4, 3, 3), floats(3)], "bias|shape|size", {}),
    "deconv_output_padding": ("ConvTranspose", [IMAGE, floats(4, 2, 3, 3)], "output_padding", {"output_padding": [-1, 0]}),
    "deconv_huge_stride": ("ConvTranspose", [IMAGE, floats(4, 2, 3, 3)], "stride|large|overflow|limit|size", {"strides": [HUGE, 1]}),
    "deconv_group": ("ConvTranspose", [IMAGE, floats(4, 2, 3, 3)], "group|channel", {"group": 3}),
    "pool_dilation_0": ("MaxPool", [IMAGE], "dilation", {"kernel_shape": [2, 2], "dilations": [0, 1]}),
    "pool_kernel_negative": ("AveragePool", [IMAGE], "kernel", {"kernel_shape": [2, -2]}),
    "pool_stride_huge": ("MaxPool", [IMAGE], None, {"kernel_shape": [2, 2], "strides": [HUGE, HUGE]}),
    "pool_p_0": ("LpPool", [IMAGE], None, {"kernel_shape": [2, 2], "p": 0}),
    "global_pool_rank": ("GlobalMaxPool", [F], "rank", {}),
    "roi_pool_shape": ("MaxRoiPool", [IMAGE, floats(1, 5)], "pooled_shape|MaxRoiPool", {}),
    "unpool_indices": ("MaxUnpool", [IMAGE, (INT64, (1, 4, 8, 9))], "shape|ind", {"kernel_shape": [2, 2]}),
    "d2s_mode": ("DepthToSpace", [IMAGE], "mode", {"blocksize": 2, "mode": "XYZ"}),
    "s2d_rank": ("SpaceToDepth", [F], "rank", {"blocksize": 2}),
    "squeeze_not_1": ("Squeeze", [F, ints(0)], "1|size|ax", {}),
    "unsqueeze_far": ("Unsqueeze", [F, ints(9)], "ax", {}),
    "unsqueeze_many": ("Unsqueeze", [F, np.arange(5000)], "rank|dim|limit|ax", {}),
    "reshape_minus_2": ("Reshape", [F, ints(-2, 3)], "-2|negative|shape|dim", {}),
    "reshape_count": ("Reshape", [F, ints(4, 2)], "element|shape|size", {}),
    "reshape_zero_and_infer": ("Reshape", [F, ints(0, -1)], "0|-1|allowzero", {"allowzero": 1}),
    "reshape_rank_5000": ("Reshape", [F, ints(6, *[1] * 5000)], "rank|dim|limit", {}),
    "slice_axis": ("Slice", [F, ints(0), ints(1), ints(2)], "ax", {}),
    "slice_float": ("Slice", [F, floats(1), floats(1)], "type|start|constant", {}),
    "slice_matrix": ("Slice", [F, np.zeros((1, 1), np.int64), np.ones((1, 1), np.int64)], "start|rank|shape|1-D|element", {}),
    "expand_size": ("Expand", [F, ints(4)], "broadcast|shape|expand|dim", {}),
    "tile_huge": ("Tile", [F, ints(HUGE, HUGE)], "large|overflow|limit|size|negative", {}),
    "constant_nothing": ("Constant", [], "value", {}),
    "constant_two": ("Constant", [], "value", {"value_int": 1, "value_float": 1.0}),
    "constant_of_shape_two": ("ConstantOfShape", [ints(2)], "value|element", {"value": helper.make_tensor("v", FLOAT, [2], [1, 2])}),
    "where_types": ("Where", [(BOOL, (2, 3)), F, (INT64, (2, 3))], "type", {}),
    "where_condition": ("Where", [F, F, F], "bool|type", {}),
    "shift_no_direction": ("BitShift", [(UINT8, (3,)), (UINT8, (3,))], "direction", {}),
    "shift_direction": ("BitShift", [(UINT8, (3,)), (UINT8, (3,))], "direction", {"direction": "UP"}),
    "bitwise_float": ("BitwiseAnd", [F, F], "type", {}),
    "broadcast_sizes": ("Add", [F, (FLOAT, (2, 4))], "broadcast|shape|dim", {}),
    "clip_bound_vector": ("Clip", [F, floats(2)], "scalar|element|min|shape", {}),
    "lstm_hidden_0": ("LSTM", [(FLOAT, (2, 1, 3)), floats(1, 16, 3), floats(1, 16, 4)], "hidden_size|shape", {"hidden_size": 0}),
    "lstm_direction": ("LSTM", [(FLOAT, (2, 1, 3)), floats(1, 16, 3), floats(1, 16, 4)], "direction", {"hidden_size": 4, "direction": "up"}),
    "gru_activation": ("GRU", [(FLOAT, (2, 1, 3)), floats(1, 12, 3), floats(1, 12, 4)], "activation|Wobble", {"hidden_size": 4, "activations": ["Wobble", "Tanh"]}),
    "rnn_weights": ("RNN", [(FLOAT, (2, 1, 3)), floats(1, 4, 9), floats(1, 4, 4)], "W|shape|size|dim", {"hidden_size": 4}),
    "reverse_same_axes": ("ReverseSequence", [F, ints(1, 1)], "ax", {"batch_axis": 0, "time_axis": 0}),
    "grid_mode": ("GridSample", [IMAGE, (FLOAT, (1, 2, 2, 2))], "mode", {"mode": "best"}),
    "grid_last": ("GridSample", [IMAGE, (FLOAT, (1, 2, 2, 5))], "grid|shape|dim|last", {}),
    "dft_axis": ("DFT", [(FLOAT, (1, 8, 1)), None, np.int64(5)], "axis", {}),
    "window_huge": ("HannWindow", [ints(HUGE).reshape(())], "size|large|limit|overflow", {}),
    "q_scale_rank": ("QuantizeLinear", [F, floats(2, 2)], "scale|shape|rank|dim", {}),
    "q_zero_shape": ("QuantizeLinear", [F, np.float32(1), np.zeros(2, np.uint8)], "zero|shape|dim|scale", {}),
    "qconv_inputs": ("QLinearConv", [(UINT8, (1, 4, 8, 8)), np.float32(1)], "input", {}),
    "integer_matmul_float": ("MatMulInteger", [F, F], "type", {}),
    "unique_axis": ("Unique", [F], "axis|Unique", {"axis": 4}),
    "random_shape": ("RandomUniform", [], None, {"shape": [-3]}),
    "attention_heads": ("Attention", [(FLOAT, (1, 2, 6))] * 3, "head", {"q_num_heads": 4, "kv_num_heads": 4, "opset": 23}),
}


def add(suite):
    for name, (op, inputs, say, attributes) in CASES.items():
        attributes = dict(attributes)
        opset = attributes.pop("opset", 21)
        suite.operator(name, op, inputs, "reject" if say else "either", say or (), opset, outputs={"TopK": 2}.get(op, 1), **attributes)
    suite.operator("indices_of_large_pool", "MaxPool", [(FLOAT, (1, 1, 20000, 20000))], "either", (), outputs=2, kernel_shape=[3, 3])
    suite.operator("eye_200000", "EyeLike", [(FLOAT, (200000, 200000))], "either", ())
    deep = node("Constant", (), ("y",))
    graph = helper.make_graph([node("Nope", (), ("z",))], "inner", [], [value("z", None)])
    for _ in range(30):
        graph = helper.make_graph([helper.make_node("Constant", [], ["z"], "n", value_graph=graph)], "inner", [], [value("z", None)])
    deep.attribute.append(helper.make_attribute("value_graph", graph))
    suite.add("graph_for_value", model([deep], []), say="value|attribute", node="bad_node")
    many = node("Relu")
    many.attribute.extend(helper.make_attribute(f"a{index}", 1) for index in range(2000))
    suite.add("attributes_2000", model([many]), say="a0", node="bad_node")
    unnamed = node("Softmax")
    unnamed.attribute.append(helper.make_attribute("", 1))
    suite.add("attribute_unnamed", model([unnamed]), say="attribute", node="bad_node")
