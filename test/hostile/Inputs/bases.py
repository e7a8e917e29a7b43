"""A valid node for each operator and opset: what the violations in operators.py and rules.py start from.

An entry is (since, inputs, attributes), with the number of outputs as a fourth where it is not one. Inputs are (element type, dims) of the graph's inputs,
arrays that become constants, or None for one that is left out. The last entry whose opset is not above the wanted one counts.
"""

import numpy as np
from onnx import TensorProto, helper

TYPES = {"f2": TensorProto.FLOAT16, "f4": TensorProto.FLOAT, "f8": TensorProto.DOUBLE, "i1": TensorProto.INT8, "i2": TensorProto.INT16, "i4": TensorProto.INT32, "i8": TensorProto.INT64,
         "u1": TensorProto.UINT8, "u4": TensorProto.UINT32, "b": TensorProto.BOOL, "S": TensorProto.STRING}


def x(kind, *dims):
    return TYPES[kind], dims


def f(*dims):
    return x("f4", *dims)


def i8(*numbers):
    return np.array(numbers, np.int64)


def f4(*numbers):
    return np.array(numbers, np.float32)


I = np.int64
M = f(2, 3)
IMAGE = f(1, 4, 8, 8)
Q = x("u1", 1, 4, 8, 8)
HALF = np.float32(0.5)
ZERO = np.uint8(0)


def body(*nodes, inputs, outputs):
    def info(name, kind, dims):
        return helper.make_tensor_value_info(name, TYPES[kind], dims)
    return helper.make_graph([helper.make_node(op, i, o, f"in_{n}") for n, (op, i, o) in enumerate(nodes)], "body", [info(*v) for v in inputs], [info(*v) for v in outputs])


def branch(name):
    return body(("Not", ["i0"], [name]), inputs=[], outputs=[(name, "b", ())])


STEP = body(("Identity", ["more_in"], ["more"]), ("Relu", ["s"], ["r"]), inputs=[("i", "i8", ()), ("more_in", "b", ()), ("s", "f4", (2, 3))],
            outputs=[("more", "b", ()), ("r", "f4", (2, 3))])
ROW = body(("Add", ["s", "e"], ["s_out"]), ("Relu", ["e"], ["o"]), inputs=[("s", "f4", (3,)), ("e", "f4", (3,))], outputs=[("s_out", "f4", (3,)), ("o", "f4", (3,))])
# Logits from a table, and states of one number for each token.
DECODER = helper.make_graph(
    [helper.make_node("Gather", ["table", "input_ids"], ["logits"], "in_0"), helper.make_node("Gather", ["numbers", "input_ids"], ["flat"], "in_1"),
     helper.make_node("Reshape", ["flat", "shape"], ["row"], "in_2"), helper.make_node("Concat", ["row", "row"], ["rows"], "in_3", axis=0),
     helper.make_node("Concat", ["past_0", "rows"], ["present_0"], "in_4", axis=3)], "decoder",
    [helper.make_tensor_value_info(name, TYPES[kind], dims) for name, kind, dims in
     (("input_ids", "i4", "rt"), ("position_ids", "i4", "rt"), ("attention_mask", "i4", "ra"), ("past_0", "f4", (2, "r", 1, "p", 1)))],
    [helper.make_tensor_value_info("logits", TYPES["f4"], ("r", "t", 5)), helper.make_tensor_value_info("present_0", TYPES["f4"], (2, "r", 1, "a", 1))],
    [helper.make_tensor("table", TYPES["f4"], (9, 5), range(45)), helper.make_tensor("numbers", TYPES["f4"], (9,), range(9)), helper.make_tensor("shape", TYPES["i8"], (5,), (1, 1, 1, -1, 1))])
VALUE = helper.make_tensor("v", TensorProto.FLOAT, [2], [1, 2])
TREE = {"nodes_splits": helper.make_tensor("v", TensorProto.FLOAT, [1], [0.5]), "nodes_modes": helper.make_tensor("v", TensorProto.UINT8, [1], [0]),
        "leaf_weights": helper.make_tensor("v", TensorProto.FLOAT, [2], [1, 2]), "nodes_featureids": [0], "nodes_truenodeids": [0], "nodes_falsenodeids": [1],
        "nodes_trueleafs": [1], "nodes_falseleafs": [1], "tree_roots": [0], "leaf_targetids": [0, 0], "n_targets": 1}
LISTED_TREE = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0], "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.5, 0.0, 0.0],
               "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}
GRAMS = {"max_gram_length": 2, "max_skip_count": 0, "min_gram_length": 1, "mode": "TF", "ngram_counts": [0, 2], "ngram_indexes": [0, 1, 2], "pool_int64s": [2, 3, 5, 4]}

BASES = {
    "AffineGrid": [(20, [f(1, 2, 3), i8(1, 3, 4, 4)], {})],
    "Attention": [(23, [f(1, 2, 3, 4), f(1, 2, 5, 4), f(1, 2, 5, 4)], {})],
    "AveragePool": [(1, [IMAGE], {"kernel_shape": [2, 2]})],
    "BatchNormalization": [(1, [IMAGE, f(4), f(4), f(4), f(4)], {"is_test": 1}), (7, [IMAGE, f(4), f(4), f(4), f(4)], {})],
    "BitCast": [(26, [M], {"to": TensorProto.INT32})],
    "BitShift": [(11, [x("u1", 3), x("u1", 3)], {"direction": "LEFT"})],
    "BlackmanWindow": [(17, [I(8)], {})], "HammingWindow": [(17, [I(8)], {})], "HannWindow": [(17, [I(8)], {})],
    "Cast": [(1, [M], {"to": "INT32"}), (6, [M], {"to": TensorProto.INT32})],
    "CastLike": [(15, [M, x("i4", 1)], {})],
    "CausalConvWithState": [(27, [f(1, 4, 8), f(4, 1, 3)], {})],
    "CenterCropPad": [(18, [M, i8(4, 4)], {})],
    "Clip": [(1, [M], {"min": 0.0}), (11, [M, np.float32(0), np.float32(1)], {})],
    "Col2Im": [(18, [f(1, 4, 4), i8(4, 4), i8(2, 2)], {"strides": [2, 2]})],
    "Compress": [(9, [M, np.array([True, False])], {"axis": 0})],
    "Concat": [(1, [M, M], {"axis": 1})],
    "ConcatFromSequence": [(11, ["seq"], {"axis": 0})],
    "Constant": [(1, [], {"value": VALUE})],
    "ConstantOfShape": [(9, [i8(2, 3)], {})],
    "Conv": [(1, [IMAGE, f(2, 4, 3, 3), f(2)], {})],
    "ConvInteger": [(10, [Q, x("u1", 2, 4, 3, 3)], {})],
    "ConvTranspose": [(1, [IMAGE, f(4, 2, 3, 3), f(2)], {})],
    "CumSum": [(11, [M, I(1)], {})], "CumProd": [(26, [M, I(1)], {})],
    "DFT": [(17, [f(1, 8, 1)], {"axis": 1}), (20, [f(1, 8, 1), None, I(1)], {})],
    "DeformConv": [(19, [IMAGE, f(2, 4, 3, 3), f(1, 18, 6, 6)], {})],
    "DepthToSpace": [(1, [IMAGE], {"blocksize": 2})], "SpaceToDepth": [(1, [IMAGE], {"blocksize": 2})],
    "DequantizeLinear": [(10, [x("u1", 2, 3), HALF, ZERO], {})],
    "QuantizeLinear": [(10, [M, HALF, ZERO], {})],
    "Det": [(11, [f(3, 3)], {})],
    "DynamicQuantizeLinear": [(11, [M], {}, 3)],
    "Einsum": [(12, [M, f(3, 4)], {"equation": "ij,jk->ik"})],
    "Expand": [(8, [f(1, 3), i8(2, 3)], {})],
    "EyeLike": [(9, [f(3, 3)], {})],
    "GRU": [(1, [f(2, 1, 3), f(1, 12, 3), f(1, 12, 4)], {"hidden_size": 4}, 2), (3, [f(2, 1, 3), f(1, 12, 3), f(1, 12, 4)], {"hidden_size": 4})],
    "RNN": [(1, [f(2, 1, 3), f(1, 4, 3), f(1, 4, 4)], {"hidden_size": 4})],
    "LSTM": [(1, [f(2, 1, 3), f(1, 16, 3), f(1, 16, 4)], {"hidden_size": 4})],
    "Gather": [(1, [M, i8(0, 1)], {"axis": 1})],
    "GatherElements": [(11, [M, np.zeros((2, 1), np.int64)], {"axis": 1})],
    "GatherND": [(11, [M, np.zeros((2, 1), np.int64)], {})],
    "Gemm": [(1, [M, f(3, 4), f(2, 4)], {})],
    "GridSample": [(16, [IMAGE, f(1, 2, 2, 2)], {})],
    "GroupNormalization": [(18, [IMAGE, f(2), f(2)], {"num_groups": 2}), (21, [IMAGE, f(4), f(4)], {"num_groups": 2})],
    "Gradient": [(1, ["skip"], {})],
    "If": [(1, [np.bool_(True)], {"then_branch": branch("t"), "else_branch": branch("e")})],
    "ImageDecoder": [(20, [x("u1", 40)], {})],
    "InstanceNormalization": [(1, [IMAGE, f(4), f(4)], {})],
    "LRN": [(1, [IMAGE], {"size": 3})],
    "ai.onnx.ml.LabelEncoder": [(1, [x("i8", 3)], {"classes_strings": ["a", "b"]}), (2, [x("i8", 3)], {"keys_int64s": [1, 2], "values_int64s": [3, 4]})],
    "ai.onnx.ml.ArrayFeatureExtractor": [(1, [M, i8(0, 1)], {})],
    "ai.onnx.ml.CastMap": [(1, ["map"], {})],
    "ai.onnx.ml.DictVectorizer": [(1, ["map"], {"int64_vocabulary": [1, 2]})],
    "ai.onnx.ml.CategoryMapper": [(1, [x("S", 3)], {"cats_strings": ["a", "b"], "cats_int64s": [1, 2]})],
    "ai.onnx.ml.FeatureVectorizer": [(1, [M, M], {"inputdimensions": [3, 3]})],
    "ai.onnx.ml.Imputer": [(1, [M], {"imputed_value_floats": [1.0], "replaced_value_float": 0.5})],
    "ai.onnx.ml.LinearClassifier": [(1, [M], {"coefficients": [1.0, 2.0, 3.0], "intercepts": [1.0], "classlabels_ints": [1, 2]}, 2)],
    "ai.onnx.ml.OneHotEncoder": [(1, [M], {"cats_int64s": [1, 2]})],
    "ai.onnx.ml.SVMClassifier": [(1, [M], {"coefficients": [1.0, 2.0], "rho": [0.5], "support_vectors": [1.0] * 6, "vectors_per_class": [1, 1], "classlabels_ints": [1, 2]}, 2)],
    "ai.onnx.ml.SVMRegressor": [(1, [M], {"coefficients": [1.0, 2.0, 3.0], "rho": [0.5]})],
    "ai.onnx.ml.LinearRegressor": [(1, [M], {"coefficients": [1.0, 2.0, 3.0], "intercepts": [1.0]})],
    "ai.onnx.ml.Scaler": [(1, [M], {"offset": [1.0, 2.0, 3.0], "scale": [1.0, 2.0, 3.0]})],
    "ai.onnx.ml.TreeEnsemble": [(5, [M], TREE)],
    "ai.onnx.ml.TreeEnsembleClassifier": [(1, [M], {**LISTED_TREE, "class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 1], "class_weights": [1.0, 2.0], "classlabels_int64s": [3, 4]}, 2)],
    "ai.onnx.ml.TreeEnsembleRegressor": [(1, [M], {**LISTED_TREE, "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0], "n_targets": 1})],
    "ai.onnx.ml.ZipMap": [(1, [M], {"classlabels_int64s": [1, 2, 3]})],
    "com.microsoft.Attention": [(1, [f(1, 2, 4), f(4, 12)], {"num_heads": 2})],
    "com.microsoft.BiasAdd": [(1, [f(1, 2, 4), f(4), f(1, 2, 4)], {})],
    "com.microsoft.BiasGelu": [(1, [M, f(3)], {})],
    "com.microsoft.BiasSplitGelu": [(1, [f(1, 2, 4), f(4)], {})],
    "Affine": [(1, [M], {})],
    "Crop": [(1, [IMAGE], {"border": [0, 0, 1, 1]})],
    "DynamicSlice": [(1, [M, i8(0), i8(1)], {})],
    "ImageScaler": [(1, [IMAGE], {"bias": [1.0, 2.0, 3.0, 4.0]})],
    "MaxRoiPool": [(1, [IMAGE, f(2, 5)], {"pooled_shape": [2, 2]})],
    "ParametricSoftplus": [(1, [M], {"alpha": 1.0, "beta": 1.0})],
    "Scale": [(1, [M], {})],
    "ScaledTanh": [(1, [M], {"alpha": 1.0, "beta": 1.0})],
    "ai.onnx.contrib.Inverse": [(1, [f(3, 3)], {})],
    "ai.onnx.contrib.NegPos": [(1, [M], {}, 2)],
    "com.microsoft.CropAndResize": [(1, [IMAGE, f(2, 4), x("i4", 2), np.array([2, 2], np.int32)], {})],
    "com.microsoft.DynamicQuantizeLSTM": [(1, [f(3, 1, 4), x("u1", 1, 4, 8), x("u1", 1, 2, 8), None, None, None, None, None, f(1), x("u1", 1), f(1), x("u1", 1)], {"hidden_size": 2})],
    "com.microsoft.Inverse": [(1, [f(3, 3)], {})],
    "com.microsoft.WordConvEmbedding": [(1, [x("i4", 2, 4), f(3, 1, 2, 5), f(3), f(9, 5)], {})],
    "com.microsoft.EmbedLayerNormalization": [(1, [x("i4", 1, 2), None, f(9, 4), f(8, 4), None, f(4), f(4)], {})],
    "com.microsoft.FusedConv": [(1, [IMAGE, f(2, 4, 3, 3)], {"activation": "Relu"})],
    "com.microsoft.FusedGemm": [(1, [M, f(3, 4), f(4)], {"activation": "Relu"})],
    "com.microsoft.FusedMatMul": [(1, [M, f(3, 4)], {})],
    "com.microsoft.FusedMatMulActivation": [(1, [M, f(3, 4)], {"activation": "Relu"})],
    "com.microsoft.EngramGate": [(1, [f(1, 2, 3, 4), f(1, 2, 3, 4), f(1, 2, 4), f(3, 4), f(3, 4)], {})],
    "com.microsoft.GatedAdd": [(1, [M, M, f(2, 1)], {})],
    "com.microsoft.GatedRMSNorm": [(1, [M, f(3), M], {})],
    "com.microsoft.GatherBlockQuantized": [(1, [np.zeros((3, 8), np.uint8), np.zeros(2, np.int64), f(3, 1)], {"block_size": 16})],
    "com.microsoft.GatherND": [(1, [M, np.zeros((2, 1), np.int64)], {})],
    "com.microsoft.GridSample": [(1, [IMAGE, f(1, 2, 2, 2)], {})],
    "com.microsoft.GemmFastGelu": [(1, [M, f(3, 4)], {})],
    "com.microsoft.LinearAttentionGate": [(1, [f(1, 2, 4), f(4), f(4), f(1, 2, 4)], {}, 2)],
    "com.microsoft.MatMulNBits": [(1, [f(2, 16), np.zeros((3, 1, 8), np.uint8), f(3, 1)], {"K": 16, "N": 3, "block_size": 16})],
    "com.microsoft.MultiHeadAttention": [(1, [f(1, 2, 4), f(1, 2, 4), f(1, 2, 4)], {"num_heads": 2})],
    "com.microsoft.RotaryEmbedding": [(1, [f(1, 2, 4), i8(0), f(9, 2), f(9, 2)], {})],
    "com.microsoft.SkipLayerNormalization": [(1, [f(1, 2, 4), f(1, 2, 4), f(4)], {})],
    "com.microsoft.SkipSimplifiedLayerNormalization": [(1, [f(1, 2, 4), f(1, 2, 4), f(4)], {})],
    "com.microsoft.TransposeMatMul": [(1, [M, f(3, 4)], {})],
    "SimplifiedLayerNormalization": [(1, [M, f(3)], {})],
    "LayerNormalization": [(1, [M, f(3), f(3)], {}), (17, [M, f(3), f(3)], {})],
    "LinearAttention": [(27, [f(1, 2, 4), f(1, 2, 4), f(1, 2, 4)], {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"})],
    "Loop": [(1, [I(3), np.bool_(True), M], {"body": STEP})],
    "Scan": [(9, [f(3), M], {"body": ROW, "num_scan_inputs": 1}, 2)],
    "LpNormalization": [(1, [M], {})],
    "LpPool": [(1, [IMAGE], {"kernel_shape": [2, 2]})],
    "MatMul": [(1, [M, f(3, 4)], {})],
    "MatMulInteger": [(10, [x("u1", 2, 3), x("u1", 3, 4)], {})],
    "MaxPool": [(1, [IMAGE], {"kernel_shape": [2, 2]})],
    "MaxUnpool": [(9, [f(1, 1, 2, 2), np.array([[[[0, 3], [8, 10]]]], np.int64)], {"kernel_shape": [2, 2], "strides": [2, 2]})],
    "MeanVarianceNormalization": [(9, [IMAGE], {})],
    "MelWeightMatrix": [(17, [I(4), I(16), I(8000), np.float32(0), np.float32(4000)], {})],
    "Mod": [(10, [x("i4", 2, 3), x("i4", 2, 3)], {})],
    "Multinomial": [(7, [M], {"sample_size": 2})],
    "NegativeLogLikelihoodLoss": [(12, [M, x("i8", 2)], {})],
    "SoftmaxCrossEntropyLoss": [(12, [M, x("i8", 2)], {})],
    "NonMaxSuppression": [(10, [f(1, 6, 4), f(1, 2, 6), i8(3)], {})],
    "OneHot": [(9, [x("i8", 2), I(3), f4(0, 1)], {})],
    "Optional": [(15, [M], {})],
    "OptionalGetElement": [(15, ["opt"], {})], "OptionalHasElement": [(15, ["opt"], {})],
    "PRelu": [(1, [M, f(3)], {}), (7, [M, f(3)], {})],
    "Pad": [(1, [M], {"paddings": [0, 0, 1, 1]}), (2, [M], {"pads": [0, 0, 1, 1]}), (11, [M, i8(0, 0, 1, 1)], {})],
    "QLinearConv": [(10, [Q, HALF, ZERO, x("u1", 2, 4, 3, 3), HALF, ZERO, HALF, ZERO], {})],
    "QLinearMatMul": [(10, [x("u1", 2, 3), HALF, ZERO, x("u1", 3, 4), HALF, ZERO, HALF, ZERO], {})],
    "RMSNormalization": [(23, [M, f(3)], {})],
    "RandomNormal": [(1, [], {"shape": [2, 3]})], "RandomUniform": [(1, [], {"shape": [2, 3]})],
    "Range": [(11, [np.float32(0), np.float32(3), np.float32(1)], {})],
    "RegexFullMatch": [(20, [x("S", 2)], {"pattern": "a+"})],
    "Reshape": [(1, [M], {"shape": [3, 2]}), (5, [M, i8(3, 2)], {})],
    "Resize": [(10, [IMAGE, f4(1, 1, 2, 2)], {}), (11, [IMAGE, f4(), f4(1, 1, 2, 2)], {})],
    "ReverseSequence": [(10, [f(4, 2), i8(2, 3)], {})],
    "RoiAlign": [(10, [IMAGE, f(2, 4), i8(0, 0)], {"sampling_ratio": 2})],
    "RotaryEmbedding": [(23, [f(1, 2, 3, 4), f(8, 2), f(8, 2), np.zeros((1, 3), np.int64)], {})],
    "STFT": [(17, [f(1, 16, 1), I(4), f(8)], {})],
    "Scatter": [(9, [M, np.zeros((1, 3), np.int64), f(1, 3)], {})],
    "ScatterElements": [(11, [M, np.zeros((1, 3), np.int64), f(1, 3)], {})],
    "ScatterND": [(11, [M, np.zeros((1, 1), np.int64), f(1, 3)], {})],
    "SequenceAt": [(11, ["seq", I(0)], {})], "SequenceErase": [(11, ["seq", I(0)], {})], "SequenceInsert": [(11, ["seq", M, I(0)], {})],
    "SequenceConstruct": [(11, [M, M], {})], "SequenceEmpty": [(11, [], {})], "SequenceLength": [(11, ["seq"], {})],
    "SequenceMap": [(17, ["skip"], {})],
    "Slice": [(1, [M], {"starts": [0], "ends": [1]}), (10, [M, i8(0), i8(1), i8(1), i8(1)], {})],
    "Split": [(1, [f(2, 4)], {"axis": 1}, 2), (18, [f(2, 4)], {"axis": 1, "num_outputs": 2}, 2)],
    "SplitToSequence": [(11, [M], {})],
    "Squeeze": [(1, [f(1, 3)], {"axes": [0]}), (13, [f(1, 3), i8(0)], {})],
    "Unsqueeze": [(1, [M], {"axes": [0]}), (13, [M, i8(0)], {})],
    "StringConcat": [(20, [x("S", 2), x("S", 2)], {})],
    "StringNormalizer": [(10, [x("S", 2)], {})],
    "StringSplit": [(20, [x("S", 2)], {}, 2)],
    "SwiGLU": [(28, [M, M], {})],
    "TensorScatter": [(24, [f(1, 2, 8, 4), f(1, 2, 2, 4), i8(0)], {})],
    "TfIdfVectorizer": [(9, [x("i8", 6)], GRAMS)],
    "Tile": [(1, [M, np.float32(2), np.float32(0)], {}), (6, [M, i8(1, 2)], {})],
    "TopK": [(1, [M], {"k": 2}, 2), (10, [M, i8(2)], {}, 2)],
    "Transpose": [(1, [M], {"perm": [1, 0]})],
    "Trilu": [(14, [f(3, 3), I(1)], {})],
    "Unique": [(11, [M], {"axis": 0})],
    "Upsample": [(1, [IMAGE], {"height_scale": 2.0, "width_scale": 2.0}), (7, [IMAGE], {"scales": [1.0, 1.0, 2.0, 2.0]}), (9, [IMAGE, f4(1, 1, 2, 2)], {})],
    "Where": [(9, [x("b", 2, 3), M, M], {})],
    "ai.onnx.preview.training.Adagrad": [(1, [np.float32(0.1), I(0), f(2), f(2), f(2)], {}, 2)],
    "ai.onnx.preview.training.Adam": [(1, [np.float32(0.1), I(0), f(2), f(2), f(2), f(2)], {}, 3)],
    "ai.onnx.preview.training.Momentum": [(1, [np.float32(0.1), I(0), f(2), f(2), f(2)], {"alpha": 0.9, "beta": 0.9, "mode": "standard", "norm_coefficient": 0.1}, 2)],
}
U = x("u1", 2, 3)
LAST = f(1, 8, 8, 4)
#: Debian's onnx has no name for float8e4m3fn.
FP8 = 17, (4, 16)
BASES.update({f"com.microsoft.{name}": [entry] for name, entry in {
    "BeamSearch": (1, [x("i4", 1, 3), np.int32(6), None, np.int32(2), np.int32(1)], {"decoder": DECODER, "eos_token_id": 1, "pad_token_id": 0}),
    "BifurcationDetector": (1, [i8(1, 2, 3, 1), i8(4, 1), i8(1), i8(2, 3, 5, 1)], {}, 2),
    "BiasSoftmax": (1, [M, M], {"is_inner_broadcast": 0}),
    "CDist": (1, [M, M], {"metric": "euclidean"}),
    "CausalConvWithState": (1, [f(1, 4, 8), f(4, 1, 3)], {}, 2),
    "ComplexMul": (1, [f(3, 2), f(3, 2)], {}),
    "ComplexMulConj": (1, [f(3, 2), f(3, 2)], {}),
    "ConvTransposeWithDynamicPads": (1, [IMAGE, f(4, 2, 3, 3), i8(0, 0, 0, 0)], {}),
    "DecoderMaskedMultiHeadAttention": (1, [f(1, 1, 8), f(1, 1, 8), f(1, 1, 8)], {"num_heads": 2}),
    "DequantizeLinear": (1, [U, HALF, ZERO], {}),
    "DynamicQuantizeMatMul": (1, [M, x("u1", 3, 4), HALF], {}),
    "DynamicTimeWarping": (1, [M], {}),
    "ExpandDims": (1, [M, np.int32(0)], {}),
    "GatedDeltaNet": (1, [f(1, 3, 2, 4), f(1, 3, 2, 4), f(1, 3, 2, 4)], {"update_rule": "linear"}, 2),
    "GatedRelativePositionBias": (1, [f(1, 3, 8), f(8), f(1, 2, 3, 3), f(4, 2), f(2), f(1, 2, 1, 1)], {"num_heads": 2}),
    "GemmaRotaryEmbedding": (1, [f(1, 3, 4), *[x("f2", 1, 2, 3, 4)] * 4], {}, 2),
    "GreedySearch": (1, [x("i4", 1, 3), np.int32(6)], {"decoder": DECODER, "eos_token_id": 1, "pad_token_id": 0}),
    "GroupNorm": (1, [LAST, f(4), f(4)], {"groups": 2, "activation": 0}),
    "GroupQueryAttention": (1, [f(1, 3, 32), f(1, 3, 32), f(1, 3, 32), None, None, x("i4", 1), np.int32(3)], {"num_heads": 2, "kv_num_heads": 2}),
    "Irfft": (1, [f(2, 5, 2)], {"signal_ndim": 1}),
    "LinearAttention": (1, [f(1, 2, 4), f(1, 2, 4), f(1, 2, 4)], {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}, 2),
    "LongformerAttention": (1, [f(1, 4, 8), f(8, 24), f(24), f(1, 4), f(8, 24), f(24), x("i4", 1, 4)], {"num_heads": 2, "window": 1}),
    "MRotaryEmbedding": (1, [f(1, 2, 3, 8), np.zeros((3, 1, 3), np.int64), f(9, 4), f(9, 4)], {"mrope_section": [2, 1, 1]}),
    "MatMulBlockQuantizedFp4Weight": (1, [f(2, 16), x("u1", 4, 8), x("u1", 4, 1), np.float32(1)], {"block_size": 16}),
    "MatMulBlockQuantizedFp8Weight": (1, [f(2, 16), FP8, f(4, 1)], {"block_size": 16}),
    "MatMulBnb4": (1, [f(2, 16), x("u1", 32), f(4)], {"K": 16, "N": 4, "block_size": 16, "quant_type": 1}),
    "MatMulFpQ4": (1, [f(2, 32), np.zeros(84, np.uint8), i8(32, 4)], {}),
    "MatMulInteger16": (1, [x("i2", 2, 3), x("i2", 3, 4)], {}),
    "MatMulIntegerToFloat": (1, [U, x("u1", 3, 4), HALF, HALF], {}),
    "MatMulNBitsMlp": (1, [f(2, 32), None, None, x("u1", 4, 1, 16), f(4, 1), None, x("u1", 4, 1, 16), f(4, 1)], {"K": 32, "N": 4, "block_size": 32, "activation": "silu"}),
    "MatMulNBitsQkv": (1, [f(2, 32), None, f(32), *[x("u1", 4, 1, 16), f(4, 1), None] * 2, x("u1", 4, 1, 16), f(4, 1)], {"K": 32, "Nq": 4, "Nkv": 4, "block_size": 32}, 3),
    "MaxpoolWithMask": (1, [f(1, 2, 4, 4), x("i4", 1, 1, 4, 4)], {"kernel_shape": [2, 2]}),
    "MoE": (1, [f(2, 4), f(2, 3), f(3, 5, 4), None, f(3, 4, 5)], {}),
    "MulInteger": (1, [U, ZERO, U], {}),
    "MurmurHash3": (1, [x("i8", 3)], {}),
    "NGramHashMapping": (1, [x("i8", 1, 5), i8(3, 5, 7), i8(11, 13, 17, 19), x("i8", 1, 2)], {"max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 0}, 2),
    "NGramRepeatBlock": (1, [x("i8", 1, 5), f(1, 9)], {"ngram_size": 2}),
    "NhwcConv": (1, [LAST, f(2, 4, 3, 3)], {}),
    "NhwcFusedConv": (1, [LAST, f(2, 4, 3, 3)], {"activation": "Relu"}),
    "NhwcMaxPool": (1, [x("u1", 1, 8, 8, 4)], {"kernel_shape": [2, 2]}),
    "PackedAttention": (1, [f(3, 4), f(4, 12), f(12), x("i4", 1, 3), x("i4", 2)], {"num_heads": 2}),
    "PackedMultiHeadAttention": (1, [f(3, 4), f(3, 4), f(3, 4), None, x("i4", 1, 3), x("i4", 2)], {"num_heads": 2}),
    "Pad": (1, [M, i8(0, 0, 1, 1)], {}),
    "PagedAttention": (1, [f(3, 16), f(3, 8), f(3, 8), f(5, 4, 1, 8), f(5, 4, 1, 8), np.array([0, 3], np.int32), x("i4", 1), np.array([[0, 1]], np.int32)],
                       {"num_heads": 2, "kv_num_heads": 1}, 3),
    "RemovePadding": (1, [f(2, 3, 4), x("i4", 2)], {}, 4),
    "QAttention": (1, [x("u1", 1, 2, 4), x("u1", 4, 12), f(12), HALF, HALF], {"num_heads": 2}),
    "QEmbedLayerNormalization": (1, [x("i4", 1, 2), None, x("u1", 9, 4), x("u1", 8, 4), None, x("u1", 4), x("u1", 4), None, HALF, HALF, None, HALF, HALF, ZERO, ZERO, None, ZERO, ZERO],
                                 {}, 2),
    "QGemm": (1, [U, HALF, ZERO, x("u1", 3, 4), HALF, ZERO], {}),
    "QLinearAdd": (1, [U, HALF, ZERO, U, HALF, ZERO, HALF, ZERO], {}),
    "QLinearAveragePool": (1, [Q, HALF, ZERO, HALF, ZERO], {"kernel_shape": [2, 2]}),
    "QLinearConcat": (1, [HALF, ZERO, U, HALF, ZERO], {"axis": 0}),
    "QLinearConv": (1, [Q, HALF, ZERO, x("u1", 2, 4, 3, 3), HALF, ZERO, HALF, ZERO], {}),
    "QLinearGlobalAveragePool": (1, [Q, HALF, ZERO, HALF, ZERO], {}),
    "QLinearLeakyRelu": (1, [U, HALF, ZERO, HALF, ZERO], {}),
    "QLinearMul": (1, [U, HALF, ZERO, U, HALF, ZERO, HALF, ZERO], {}),
    "QLinearReduceMean": (1, [U, HALF, ZERO, HALF, ZERO], {"axes": [0], "keepdims": 1}),
    "QLinearSigmoid": (1, [U, HALF, ZERO, HALF, ZERO], {}),
    "QLinearSoftmax": (1, [U, HALF, ZERO, HALF, ZERO], {"opset": 13}),
    "QLinearWhere": (1, [x("b", 2, 3), U, HALF, ZERO, U, HALF, ZERO, HALF, ZERO], {}),
    "QMoE": (1, [f(2, 32), f(2, 3), x("u1", 3, 32, 16), f(3, 32), None, x("u1", 3, 32, 16), f(3, 32)], {}),
    "QuantizeLinear": (1, [M, HALF, ZERO], {}),
    "Range": (1, [np.float32(0), np.float32(3), np.float32(1)], {}),
    "ReduceSumInteger": (1, [U], {"axes": [0], "keepdims": 1}),
    "RelativePositionBias": (1, [f(8, 2), I(3), I(3)], {"max_distance": 16}),
    "RestorePadding": (1, [f(3, 4), x("i4", 1, 3)], {}),
    "SampleOp": (1, [M], {}),
    "Sampling": (1, [x("i4", 1, 3), np.int32(6)], {"decoder": DECODER, "eos_token_id": 1, "pad_token_id": 0}),
    "SkipGroupNorm": (1, [LAST, f(4), f(4), LAST], {"groups": 2, "activation": 0}),
    "SparseAttention": (1, [f(1, 2, 16), f(1, 2, 16), f(1, 2, 16), f(1, 2, 4, 8), f(1, 2, 4, 8), np.array([[0, 1, 3]], np.int32), np.array([[0, 0, 1]], np.int32), np.array([2], np.int32), np.array([2], np.int32)], {"num_heads": 2, "kv_num_heads": 2, "sparse_block_size": 2}, 3),
    "Tokenizer": (1, [x("S", 2)], {"mark": 0, "mincharnum": 1, "pad_value": "", "separators": [" "]}),
    "TorchEmbedding": (1, [M, x("i8", 2)], {}),
    "UnfoldTensor": (1, [M], {"size": 2}),
    "Unique": (1, [f(5)], {}, 3),
    "VarlenCausalConvWithState": (1, [f(4, 3), f(3, 1, 2), np.array([0, 4], np.int32), None, f(1, 3, 1)], {}, 2),
}.items()})
for name in ("And", "Or", "Xor"):
    BASES[name] = [(1, [x("b", 2, 3), x("b", 2, 3)], {})]
for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    BASES[name] = [(18, [x("i4", 2, 3), x("i4", 2, 3)], {})]
for name in ("Add", "Sub", "Mul", "Div", "Pow", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"):
    BASES[name] = [(1, [M, M], {})]
BASES["Equal"] = [(1, [x("i4", 2, 3), x("i4", 2, 3)], {})]
BASES["Not"] = [(1, [x("b", 2, 3)], {})]
BASES["BitwiseNot"] = [(18, [x("i4", 2, 3)], {})]
for name in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
    BASES[name] = [(1, [IMAGE], {})]


def find_base(operator, opset):
    """(inputs, attributes, number of outputs); one float matrix is enough for most operators."""
    found = ([M], {}, 1)
    for since, inputs, attributes, *outputs in BASES.get(operator, ()):
        if since <= opset:
            found = (inputs, attributes, outputs[0] if outputs else 1)
    return found
