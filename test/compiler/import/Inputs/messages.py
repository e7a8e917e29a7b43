"""Imports one small model for each message of the importer's operators. Usage: messages.py FOLDER

A case: the message, the inputs, the nodes, and where needed initializers and an opset other than 17.
"""
import pathlib
import subprocess
import sys

import onnx.parser

CASES = [
    # Activations, element-wise
    ("the input has rank 0, so it has no axis", "float x", "y = Softmax(x)"),
    ("the second operand has rank 2, the first 1", "float[2] x, float[1, 2] b", "y = Add<broadcast = 1>(x, b)", "", 6),
    ("axis 3 is out of range for ranks 2 and 1", "float[2, 2] x, float[2] b", "y = Add<broadcast = 1, axis = 3>(x, b)", "", 6),
    ("the operands have different ranks, and attribute 'broadcast' is not set", "float[2, 2] x, float[2] b", "y = Add(x, b)", "", 6),
    ("attribute 'fmod' must be 1 for floating point operands", "float[2] x", "y = Mod(x, x)"),
    ("attribute 'direction' is 'UP', expected LEFT or RIGHT", "uint8[2] x", 'y = BitShift<direction = "UP">(x, x)'),
    ("the two choices have different element types", "bool[2] c, float[2] x, double[2] z", "y = Where(c, x, z)"),
    ("conversion of bool to strings", "bool[2] x", "y = Cast<to = 8>(x)"),
    ("conversion of strings to bool", "float[1] x", 's = Constant<value_string = "a">() y = Cast<to = 9>(s)'),
    ("attribute 'reduction' is 'add', expected none for strings", "int64[1] x",
     's = Constant<value_strings = ["a", "b"]>() u = Constant<value_strings = ["c"]>() y = ScatterElements<reduction = "add">(s, x, u)'),
    # Sizes that only the data tells
    ("the condition is longer than the axis by 1", "float[2] x, bool[3] c", "y = Compress<axis = 0>(x, c)"),
    ("the condition has rank 2, expected 1", "float[2] x, bool[1, 2] c", "y = Compress(x, c)"),
    ("index 2 is out of range for a dimension of size 2", "float[2] x", "y = Compress<axis = 0>(x, c)", "bool[3] c = {1, 0, 1}"),
    ("axis 2 is out of range for rank 1", "float[4] x", "y = Unique<axis = 2>(x)"),
    ("boxes has rank 2, expected 3", "float[6, 4] x, float[1, 1, 6] s", "y = NonMaxSuppression(x, s)"),
    ("scores has rank 2, expected 3", "float[1, 6, 4] x, float[1, 6] s", "y = NonMaxSuppression(x, s)"),
    ("boxes and scores must be float", "double[1, 6, 4] x, float[1, 1, 6] s", "y = NonMaxSuppression(x, s)"),
    ("attribute 'center_point_box' is 2, expected 0 or 1", "float[1, 6, 4] x, float[1, 1, 6] s", "y = NonMaxSuppression<center_point_box = 2>(x, s)"),
    ("boxes and scores differ in the batch: dimensions: 2 and 1", "float[2, 6, 4] x, float[1, 1, 6] s", "y = NonMaxSuppression(x, s)"),
    ("boxes and scores differ in the number of boxes: dimensions: 6 and 5", "float[1, 6, 4] x, float[1, 1, 5] s", "y = NonMaxSuppression(x, s)"),
    ("a box has four numbers: dimensions: 5 and 4", "float[1, 6, 5] x, float[1, 1, 6] s", "y = NonMaxSuppression(x, s)"),
    ("max_output_boxes_per_class must have one element", "float[1, 6, 4] x, float[1, 1, 6] s, int64[2] m", "y = NonMaxSuppression(x, s, m)"),
    ("iou_threshold has a wrong element type", "float[1, 6, 4] x, float[1, 1, 6] s, int64 m, double t", "y = NonMaxSuppression(x, s, m, t)"),
    ("the most that it can hold overflows the limit", "float[32768, 65536] x", "y = NonZero(x)"),
    ("the largest size that its result can have is not known", "float[4] x",
     "i = NonZero(x) s = Shape(i) k = Gather(s, o) t = Sub(k, n) r = Mul(t, t) y = ConstantOfShape(r)", "int64[1] n = {2}, int64[1] o = {1}"),
    # Pictures
    ("attribute 'pixel_format' is 'RGBA', expected 'RGB', 'BGR' or 'Grayscale'", "uint8[9] x", 'y = ImageDecoder<pixel_format = "RGBA">(x)', "", 20),
    ("attribute 'pixel_format' is 'rgb', expected", "uint8[9] x", 'y = ImageDecoder<pixel_format = "rgb">(x)', "", 20),
    ("attribute 'pixel_format' has", "uint8[9] x", "y = ImageDecoder<pixel_format = 1>(x)", "", 20),
    ("the encoded picture has rank 2, expected 1", "uint8[3, 3] x", "y = ImageDecoder(x)", "", 20),
    ("the encoded picture must be of uint8", "int8[9] x", "y = ImageDecoder(x)", "", 20),
    # Convolutions
    ("the weight has a symbolic kernel size", "float[1, 2, 4, 4] x, float[2, 2, K, 3] w", "y = Conv(x, w)"),
    ("the weight has an empty kernel", "float[1, 2, 4, 4] x, float[2, 2, 0, 3] w", "y = Conv(x, w)"),
    ("the bias and the result have different numbers of channels", "float[1, 2, 4, 4] x, float[2, 2, 3, 3] w, float[3] b", "y = Conv(x, w, b)"),
    ("the input has rank 2, expected [N, C] and one to three spatial dimensions", "float[1, 2] x, float[2, 2] w", "y = Conv(x, w)"),
    ("3 output channels are not a multiple of 2 groups", "float[1, 4, 4, 4] x, float[3, 2, 3, 3] w", "y = Conv<group = 2>(x, w)"),
    ("input and weight have different element types", "float[1, 2, 4, 4] x, double[2, 2, 3, 3] w", "y = Conv(x, w)"),
    ("output_shape on a symbolic dimension", "float[1, 2, H, 4] x, float[2, 2, 3, 3] w", "y = ConvTranspose<output_shape = [9, 9]>(x, w)"),
    ("expected [N, C] and one to three spatial dimensions", "float[1, 2] x, float[2, 2] w", "y = ConvTranspose(x, w)"),
    ("strides, dilations, output_padding or output_shape have a wrong length", "float[1, 2, 4, 4] x, float[2, 2, 3, 3] w",
     "y = ConvTranspose<output_padding = [0]>(x, w)"),
    ("the weight has a different number of input channels than the input", "float[1, 3, 4, 4] x, float[2, 2, 3, 3] w", "y = ConvTranspose(x, w)"),
    ("attribute 'strides' has the entry 0, expected at least 1", "float[1, 2, 4, 4] x, float[2, 2, 3, 3] w", "y = Conv<strides = [0, 1]>(x, w)"),
    ("auto_pad SAME on a symbolic dimension with a stride", "float[1, 2, H, 4] x",
     'y = AveragePool<auto_pad = "SAME_UPPER", kernel_shape = [3, 3], strides = [2, 2]>(x)'),
    ("output_padding is negative", "float[1, 2, 4, 4] x, float[2, 2, 3, 3] w", "y = ConvTranspose<output_padding = [-1, 0]>(x, w)"),
    ("4 input channels are not a multiple of 3 groups", "float[1, 4, 4, 4] x, float[4, 2, 3, 3] w", "y = ConvTranspose<group = 3>(x, w)"),
    ("the second result, Indices, of windows with more than 16777216 elements in all", "float[1, 1, 20000, 20000] x",
     "y, i = MaxPool<kernel_shape = [3, 3]>(x)"),
    ("starts has rank 2, expected 1", "float[2, 3] x, int64[1, 1] s", "y = Slice(x, s, s)"),
    ("expected [N, C] and one to three spatial dimensions", "float[1, 2] x", "y = MaxPool<kernel_shape = [2]>(x)"),
    ("attribute 'kernel_shape' differs from the weight's shape", "float[1, 2, 4, 4] x, float[2, 2, 3, 3] w", "y = Conv<kernel_shape = [2, 2]>(x, w)"),
    ("attribute 'kernel_shape' has 1 entries, expected 2", "float[1, 2, 4, 4] x", "y = MaxPool<kernel_shape = [2]>(x)"),
    ("attribute 'auto_pad' is 'ODD', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER", "float[1, 2, 4, 4] x",
     'y = MaxPool<kernel_shape = [2, 2], auto_pad = "ODD">(x)'),
    ("the input has rank 2, expected [N, C] and spatial dimensions", "float[1, 2] x", "y = GlobalAveragePool(x)"),
    # Data movement
    ("attribute 'perm' has 1 entries, the input has rank 2", "float[2, 3] x", "y = Transpose<perm = [0]>(x)"),
    ("an axis is given twice: a duplicate", "float[2, 3] x", "y = Transpose<perm = [0, 0]>(x)"),
    ("has no inputs", "float[2] x", "y = Concat<axis = 0>()"),
    ("inputs have different element types", "float[2] x, double[2] z", "y = Concat<axis = 0>(x, z)"),
    ("starts, ends, axes and steps have different lengths", "float[4] x", "y = Slice(x, one, two)", "int64[1] one = {1}, int64[2] two = {1, 2}"),
    ("has 2 outputs, but is split in 3", "float[6] x", "y, z = Split<num_outputs = 3>(x)", "", 18),
    ("dimension of size 5 cannot be split in 2 equal parts", "float[5] x", "y, z = Split(x)"),
    ("split has 3 entries, but there are 2 outputs", "float[6] x", "y, z = Split(x, s)", "int64[3] s = {1, 2, 3}"),
    ("split has the negative entry -1", "float[6] x", "y, z = Split(x, s)", "int64[2] s = {7, -1}"),
    ("expected one axis and one positive number of tiles", "float[6] x", "y = Tile(x, t, a)", "float[1] t = {0}, float[1] a = {0}", 5),
    ("repeats has 2 entries, the input has rank 1", "float[6] x", "y = Tile(x, r)", "int64[2] r = {1, 2}"),
    ("repeats has the negative entry -2", "float[6] x", "y = Tile(x, r)", "int64[1] r = {-2}"),
    ("attribute 'mode' is 'blur', expected constant, reflect, edge or wrap", "float[6] x", 'y = Pad<mode = "blur">(x, p)', "int64[2] p = {1, 1}"),
    ("cannot pad an empty dimension with its own elements", "float[0] x", 'y = Pad<mode = "edge">(x, p)', "int64[2] p = {1, 1}"),
    ("the constant value has another element type than the input", "float[6] x, double v", "y = Pad(x, p, v)", "int64[2] p = {1, 1}"),
    ("3 channels are not a multiple of the square of blocksize", "float[1, 3, 2, 2] x", "y = DepthToSpace<blocksize = 2>(x)"),
    ("attribute 'mode' is 'XYZ', expected DCR or CRD", "float[1, 4, 2, 2] x", 'y = DepthToSpace<blocksize = 2, mode = "XYZ">(x)'),
    ("dimension of size 3 is not a multiple of blocksize 2", "float[1, 4, 3, 2] x", "y = SpaceToDepth<blocksize = 2>(x)"),
    # Gather and scatter
    ("indices have a type other than int32 or int64", "float[4] x, float[2] i", "y = Gather(x, i)"),
    ("indices are larger than the input outside the axis", "float[4, 2] x, int64[2, 3] i", "y = GatherElements<axis = 0>(x, i)"),
    ("indices need a static last dimension", "float[4] x, int64[2, K] i", "y = GatherND(x, i)"),
    ("indices have tuples of 2 coordinates, but only 1 dimensions can be indexed", "float[4] x, int64[3, 2] i", "y = GatherND(x, i)"),
    ("attribute 'batch_dims' is 5, out of range for ranks 1 and 2", "float[4] x, int64[3, 1] i", "y = GatherND<batch_dims = 5>(x, i)"),
    ("batch dimensions differ", "float[4, 2] x, int64[3, 1] i", "y = GatherND<batch_dims = 1>(x, i)"),
    ("attribute 'reduction' is 'xor', expected none, add, mul, min or max", "float[4] x, int64[2] i, float[2] u",
     'y = ScatterElements<reduction = "xor">(x, i, u)'),
    ("updates and input have different element types", "float[4] x, int64[2] i, double[2] u", "y = ScatterElements(x, i, u)"),
    ("updates and input have different element types", "float[4] x, int64[2, 1] i, double[2] u", "y = ScatterND(x, i, u)"),
    ("indices and updates have different shapes: dimensions", "float[4] x, int64[2] i, float[3] u", "y = ScatterElements(x, i, u)"),
    ("updates have a wrong shape: dimensions", "float[4] x, int64[2, 1] i, float[3] u", "y = ScatterND(x, i, u)"),
    # Generators
    ("element type string is not one that this operator takes", "float[1] x", 's = Constant<value_string = "a">() y = Relu(s)'),
    ("has 0 values, expected one", "float[1] x", "y = Constant()"),
    ("attribute 'value' has 2 elements, expected one", "float[1] x", "y = ConstantOfShape<value = float[2] {1, 2}>(s)", "int64[1] s = {3}"),
    ("start, limit and delta must be scalars of one type", "int64 a, float b", "y = Range(a, b, a)"),
    ("without axes, which dimensions of size 1 to squeeze is known only at run time", "float[N, M, K] x",
     "z = Squeeze(x) y = Neg(z)", "float[P, Q] z"),
    ("without axes, which dimensions of size 1 to squeeze is known only at run time", "float[N, M] x", "z = Squeeze(x) y = Transpose<perm = [0]>(z)"),
    ("without axes, which dimensions of size 1 to squeeze is known only at run time", "float[A, B, C, D, E] x", "z = Squeeze(x) y = Transpose<perm = [0]>(z)"),
    ("a Squeeze without axes and other nodes do not agree on whether dimension s0 is 1", "float[N, 3] x",
     "z = Squeeze(x) t = Transpose<perm = [1, 0]>(z) w = Squeeze(x, a) y = Add(t, w)", "int64[1] a = {0}"),
    ("attribute 'perm' has 3 entries, the input has rank 2", "float[N, M] x", "z = Squeeze(x) y = Transpose<perm = [0, 1, 2]>(z)"),
    ("the step is symbolic", "float[N] x", "s = Shape(x) z = Squeeze(s) y = Range(o, z, z)", "int64 o = {0}"),
    ("the range has too many elements: its size overflows the limit", "float[1] x", "y = Range(a, b, o)",
     "int64 a = {0}, int64 b = {9000000000000000000}, int64 o = {1}"),
    ("delta is zero, or the range has too many elements", "float[1] x", "y = Range(a, b, a)", "float a = {0}, float b = {3}"),
    ("attribute 'dtype' names no supported type", "float[2, 2] x", "y = EyeLike<dtype = 99>(x)"),
    ("the input has rank 1, expected at least 2", "float[2] x", "y = Trilu(x)"),
    ("depth is known only at run time", "int64[2] x, int64 d, float[2] v", "y = OneHot(x, d, v)"),
    ("depth is negative or too large", "int64[2] x, float[2] v", "y = OneHot(x, d, v)", "float d = {-3.5}"),
    # Losses
    ("expected an input of rank 2 or more", "float[2] x, int64 t", "y = NegativeLogLikelihoodLoss(x, t)"),
    ("attribute 'reduction' is 'max', expected mean, sum or none", "float[2, 3] x, int64[2] t", 'y = NegativeLogLikelihoodLoss<reduction = "max">(x, t)'),
    ("the scores have rank 1, expected at least 2", "float[2] x, int64 t", "y = SoftmaxCrossEntropyLoss(x, t)"),
    # Products
    ("operands of rank 0 cannot be multiplied", "float a, float[2] b", "y = MatMul(a, b)"),
    ("A and B have different element types", "float[2, 2] a, double[2, 2] b", "y = Gemm(a, b)"),
    ("attribute 'equation' has a term for rank 3, but its operand has rank 2", "float[2, 2] a", 'y = Einsum<equation = "ijk->i">(a)'),
    ("the diagonal of a symbolic dimension", "float[N, N] a", 'y = Einsum<equation = "ii->i">(a)'),
    ("dimensions of one letter differ: 2 and 3", "float[2, 3] a", 'y = Einsum<equation = "ii->i">(a)'),
    ("the matrices are not square: 2 and 3", "float[2, 3] a", "y = Det(a)"),
    ("matrices of symbolic size or of more than 64 rows", "float[N, N] a", "y = Det(a)"),
    ("the input has rank 1, expected at least 2", "float[2] a", "y = Det(a)"),
    ("dimensions of one letter differ", "float[2, 2] a, float[3, 2] b", 'y = Einsum<equation = "ij,ij->i">(a, b)'),
    ("attribute 'equation' has an output label that no input has, or one twice", "float[2, 2] a", 'y = Einsum<equation = "ij->k">(a)'),
    # Normalizations
    ("and the input have different numbers of channels", "float[1, 2, 4] x, float[3] s", "y = BatchNormalization(x, s, s, s, s)"),
    ("training mode before opset 14", "float[1, 2, 4] x, float[2] s", "y, m = BatchNormalization(x, s, s, s, s)", "", 9),
    ("has running statistics as results, but is not in training mode", "float[1, 2, 4] x, float[2] s", "y, m, v = BatchNormalization(x, s, s, s, s)"),
    ("statistics and channels differ: 3 and 2", "float[1, 2, 4] x, float[2] s, float[3] m",
     "y, a, b = BatchNormalization<training_mode = 1>(x, s, s, m, m)"),
    # Bits
    ("reads elements of 32 bits as elements of 64", "float[2] x", "y = BitCast<to = 7>(x)", "", 26),
    ("bits of or as a type without ordinary elements", "float[2] x", "y = BitCast<to = 8>(x)", "", 26),
    ("attribute 'round_mode' is 'away', expected up, down or nearest", "float[2] x", 'y = Cast<to = 24, round_mode = "away">(x)', "", 25),
    # Regions and n-grams
    ("a sampling_ratio of 0: each region's size tells how often it is read", "float[1, 1, 4, 4] x, float[2, 4] r, int64[2] i", "y = RoiAlign(x, r, i)"),
    ("expected rois [regions, 4]", "float[1, 1, 4, 4] x, float[2, 5] r, int64[2] i", "y = RoiAlign<sampling_ratio = 1>(x, r, i)"),
    ("attribute 'mode' is 'sum', expected avg or max", "float[1, 1, 4, 4] x, float[2, 4] r, int64[2] i",
     'y = RoiAlign<sampling_ratio = 1, mode = "sum">(x, r, i)'),
    ("attribute 'coordinate_transformation_mode' is 'pixel'", "float[1, 1, 4, 4] x, float[2, 4] r, int64[2] i",
     'y = RoiAlign<sampling_ratio = 1, coordinate_transformation_mode = "pixel">(x, r, i)'),
    ("expected a positive output_height and output_width", "float[1, 1, 4, 4] x, float[2, 4] r, int64[2] i",
     "y = RoiAlign<sampling_ratio = 1, output_width = 0>(x, r, i)"),
    ("other than two spatial dimensions", "float[1, 1, 4] x, float[1, 1, 2] w, float[1, 4, 3] o", "y = DeformConv(x, w, o)", "", 19),
    ("symbolic channels or kernel sizes", "float[1, C, 4, 4] x, float[1, 1, 2, 2] w, float[1, 8, 3, 3] o", "y = DeformConv(x, w, o)", "", 19),
    ("the numbers of channels, filters and groups do not fit each other", "float[1, 2, 4, 4] x, float[1, 1, 2, 2] w, float[1, 8, 3, 3] o",
     "y = DeformConv(x, w, o)", "", 19),
    ("the offsets have a wrong shape: dimensions: 8 and 4", "float[1, 1, 4, 4] x, float[1, 1, 2, 2] w, float[1, 4, 3, 3] o", "y = DeformConv(x, w, o)", "", 19),
    ("the mask has a wrong shape: dimensions: 4 and 3", "float[1, 1, 4, 4] x, float[1, 1, 2, 2] w, float[1, 8, 3, 3] o, float[1, 3, 3, 3] m",
     "y = DeformConv(x, w, o, , m)", "", 19),
    ("attribute 'mode' is 'DF', expected TF, IDF or TFIDF", "int64[4] x",
     'y = TfIdfVectorizer<mode = "DF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0>(x)'),
    ("expected min_gram_length of at least 1", "int64[4] x",
     'y = TfIdfVectorizer<mode = "TF", min_gram_length = 0, max_gram_length = 1, max_skip_count = 0>(x)'),
    ("a pool of strings", "int64[4] x", 'y = TfIdfVectorizer<mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0>(x)'),
    ("ngram_counts, ngram_indexes and the pool do not fit each other", "int64[4] x",
     'y = TfIdfVectorizer<mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0], '
     "pool_int64s = [1, 2]>(x)"),
    ("there are 1 weights for 2 results", "int64[4] x",
     'y = TfIdfVectorizer<mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0, 1], '
     "pool_int64s = [1, 2], weights = [1.0]>(x)"),
    ("max_skip_count of 64 over rows of symbolic length", "int64[N] x",
     'y = TfIdfVectorizer<mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 64, ngram_counts = [0], ngram_indexes = [0], '
     "pool_int64s = [1]>(x)"),
    # Pools that remember places
    ("the second result, Indices, of symbolic spatial dimensions", "float[1, 1, N] x", "y, i = MaxPool<kernel_shape = [2]>(x)"),
    ("the indices and the input have different shapes: dimensions: 2 and 3", "float[1, 1, 2] x, int64[1, 1, 3] i", "y = MaxUnpool<kernel_shape = [2]>(x, i)"),
    ("output_shape is smaller than what the window gives by 1", "float[1, 1, 2] x, int64[1, 1, 2] i", "y = MaxUnpool<kernel_shape = [2]>(x, i, s)",
     "int64[3] s = {1, 1, 2}"),
    ("the input has rank 1, expected at least 2", "float[2] x, float[2] s", "y = BatchNormalization(x, s, s, s, s)"),
    ("the input has rank 2, expected at least 3", "float[1, 2] x, float[2] s", "y = InstanceNormalization(x, s, s)"),
    ("expected an input of rank 2 or more and a positive number of groups", "float[1, 4, 2] x, float[4] s", "y = GroupNormalization<num_groups = 0>(x, s, s)", "", 21),
    ("4 channels are not a multiple of 3 groups", "float[1, 4, 2] x, float[4] s", "y = GroupNormalization<num_groups = 3>(x, s, s)", "", 21),
    ("a parameter has not one number a group", "float[1, 4, 2] x, float[4] s", "y = GroupNormalization<num_groups = 2>(x, s, s)", "", 18),
    ("attribute 'p' is 3, expected 1 or 2", "float[2, 2] x", "y = LpNormalization<p = 3>(x)"),
    ("expected an input [N, C, spatial...] and a positive size", "float[1, 4, 2, 2] x", "y = LRN<size = 0>(x)"),
    # Quantization
    ("do not fit the i", "float[4, 6] x, float[2, 4] s", "y = QuantizeLinear<axis = 1, block_size = 4>(x, s)", "", 21),
    ("vectors as operands", "uint8[4] a", "y = MatMulInteger(a, a)"),
    ("dequantization between these types", "int8[4] x, int8 s", "y = DequantizeLinear(x, s)"),
    ("the zero point has a type that is no 8 or 16 bit integer", "uint8[2, 2] a, float s, int32 z, uint8 u", "y = QLinearMatMul(a, s, u, a, s, u, s, z)"),
    # Recurrent layers
    ("attribute 'direction' is 'up', expected forward, reverse or bidirectional", "float[3, 1, 4] x, float[1, 8, 4] w, float[1, 8, 2] r",
     'y = LSTM<hidden_size = 2, direction = "up">(x, w, r)'),
    ("activation_alpha and activation_beta", "float[3, 1, 4] x, float[1, 8, 4] w, float[1, 8, 2] r", "y = LSTM<hidden_size = 2, activation_alpha = [1.0]>(x, w, r)"),
    ("a symbolic hidden size", "float[3, 1, 4] x, float[1, 8, 4] w, float[1, 8, H] r", "y = LSTM(x, w, r)"),
    ("attribute 'hidden_size' is 3, but R has 2 columns", "float[3, 1, 4] x, float[1, 8, 4] w, float[1, 8, 2] r", "y = LSTM<hidden_size = 3>(x, w, r)"),
    ("attribute 'activations' has 1 entries, expected 3", "float[3, 1, 4] x, float[1, 8, 4] w, float[1, 8, 2] r",
     'y = LSTM<hidden_size = 2, activations = ["Tanh"]>(x, w, r)'),
    ("activation 'Affine'", "float[3, 1, 4] x, float[1, 8, 4] w, float[1, 8, 2] r", 'y = LSTM<hidden_size = 2, activations = ["Affine", "Tanh", "Tanh"]>(x, w, r)'),
    ("the hidden size is 0", "float[3, 1, 4] x, float[1, 0, 4] w, float[1, 0, 0] r", "y = RNN(x, w, r)"),
    ("initial_c has a wrong shape: dimensions: 3 and 2", "float[3, 1, 4] x, float[1, 8, 4] w, float[1, 8, 2] r, float[1, 1, 2] h, float[1, 1, 3] c",
     "y = LSTM(x, w, r, , , h, c)"),
    ("P has a wrong shape: dimensions: 5 and 6", "float[3, 1, 4] x, float[1, 8, 4] w, float[1, 8, 2] r, float[1, 5] p", "y = LSTM(x, w, r, , , , , p)"),
    # Reductions
    ("an empty dimension has no largest or smallest element", "float[0] x", "y = ArgMax(x)"),
    ("axis has 2 elements, expected one", "float[2, 2] x", "y = CumSum(x, a)", "int64[2] a = {0, 1}"),
    ("k has 2 elements, expected one", "float[4] x", "y, i = TopK(x, k)", "int64[2] k = {1, 2}"),
    ("k is larger than the dimension", "float[4] x", "y, i = TopK(x, k)", "int64[1] k = {5}"),
    # Resize
    ("of a symbolic dimension", "float[1, 1, H, 4] x", "y = Resize(x, , s)", "float[4] s = {1, 1, 1.37, 1}"),
    ("sizes has the negative entry -2", "float[1, 1, 4, 4] x", "y = Resize(x, , , s)", "int64[4] s = {1, 1, -2, 4}"),
    ("keep_aspect_ratio_policy on symbolic dimensions", "float[1, 1, H, 4] x", 'y = Resize<keep_aspect_ratio_policy = "not_larger", axes = [2, 3]>(x, , , s)',
     "int64[2] s = {2, 2}", 18),
    ("expected either scales or sizes", "float[1, 1, 4, 4] x", "y = Resize(x)", "", 18),
    ("scales do not have one entry for each axis", "float[1, 1, 4, 4] x", "y = Resize(x, , s)", "float[2] s = {1, 1}"),
    ("sizes do not have one entry for each axis", "float[1, 1, 4, 4] x", "y = Resize(x, , , s)", "int64[2] s = {1, 1}"),
    ("antialiasing of symbolic, empty or huge dimensions", "float[1, 1, H, 4] x", 'y = Resize<antialias = 1, mode = "linear">(x, , , s)',
     "int64[4] s = {1, 1, 2, 2}", 18),
    ("attribute 'mode' is 'magic', expected nearest, linear or cubic", "float[1, 1, 4, 4] x", 'y = Resize<mode = "magic">(x, , s)', "float[4] s = {1, 1, 2, 2}"),
    ("scales do not have one entry for each dimension", "float[1, 1, 4, 4] x", "y = Upsample(x, s)", "float[2] s = {1, 1}", 9),
    # Shapes
    ("cannot reshape 12 elements to a shape of 6", "float[3, 4] x", "y = Reshape(x, s)", "int64[1] s = {6}"),
    ("attribute 'shape' is missing", "float[4] x", "y = Reshape(x)", "", 4),
    ("the shape has the negative entry -3", "float[4] x", "y = Reshape(x, s)", "int64[1] s = {-3}"),
    ("the shape has 0 at 1, which copies a dimension, but the input has rank 1", "float[4] x", "y = Reshape(x, s)", "int64[2] s = {4, 0}"),
    ("the shape has both 0 and -1, so -1 cannot be inferred", "float[4] x", "y = Reshape<allowzero = 1>(x, s)", "int64[2] s = {0, -1}"),
    ("-1 in the shape cannot be inferred, because the other dimensions have 0 elements", "float[0, 4] x", "y = Reshape(x, s)", "int64[2] s = {0, -1}"),
    ("cannot reshape 4 elements: the given dimensions have 3", "float[4] x", "y = Reshape(x, s)", "int64[2] s = {3, -1}"),
    ("axes are missing", "float[4] x", "y = Unsqueeze(x)"),
    ("the shape has the negative entry -2", "float[1] x", "y = Expand(x, s)", "int64[1] s = {-2}"),
    ("training_mode has 2 elements, expected one", "float[4] x", "y = Dropout(x, r, t)", "float r = {0.5}, bool[2] t = {1, 1}"),
    # Attention
    ("inputs have different element types", "float[2, 4, 6] q, int16[2, 6, 6] k, float[2, 6, 6] v, float[2, 1, 5, 6] pk, float[2, 1, 5, 6] pv",
     "y = Attention<q_num_heads = 1, kv_num_heads = 1>(q, k, v, , pk, pv)", "", 23),
    ("has a width that is not a multiple of its 2 heads", "float[1, 3, 5] q", "y = Attention<q_num_heads = 2, kv_num_heads = 2>(q, q, q)", "", 23),
    ("the input has rank 3, expected 4", "float[1, 3, 8] x, float[5, 4] c, int64[1, 3] p", "y = RotaryEmbedding(x, c, c, p)", "", 23),
    ("the head size must be static and even, and attribute 'rotary_embedding_dim' within it", "float[1, 2, 3, 5] x, float[5, 2] c, int64[1, 3] p",
     "y = RotaryEmbedding(x, c, c, p)", "", 23),
    ("attribute 'blocksize' is 0, expected a positive number", "float[1, 4, 2, 2] x", "y = DepthToSpace<blocksize = 0>(x)"),
    ("attribute 'to' names no data type: 'DECIMAL'", "float[2] x", 'y = Cast<to = "DECIMAL">(x)', "", 5),
    ("index 3 is out of range for a dimension of size 3", "float[2, 3] x", "y = GatherND(x, i)", "int64[1, 2] i = {0, 3}"),
    ("pads: 4611686018427387904 is too large", "float[6] x", "y = Pad(x, p)", "int64[2] p = {0, 4611686018427387904}"),
    ("output_shape has 2 entries, the input has rank 3", "float[1, 1, 2] x, int64[1, 1, 2] i", "y = MaxUnpool<kernel_shape = [2]>(x, i, s)", "int64[2] s = {1, 9}"),
    ("roi has 2 entries, expected 8", "float[1, 1, 4, 4] x",
     'y = Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize">(x, r, s)', "float[2] r = {0, 1}, float[4] s = {1, 1, 2, 2}"),
    ("expected a tensor, got a sequence", "float[2] x", "s = SequenceConstruct(x) y = SplitToSequence(s)"),
    ("the input has rank 3, expected 1 or 2", "int64[1, 1, 4] x",
     'y = TfIdfVectorizer<mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0], '
     'pool_int64s = [1]>(x)'),
    ("attributes 'ngram_counts' and 'ngram_indexes' must be given", "int64[4] x",
     'y = TfIdfVectorizer<mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], pool_int64s = [1]>(x)'),
    ("attribute 'ngram_indexes' has an entry that is negative or too large", "int64[4] x",
     'y = TfIdfVectorizer<mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [-1], '
     'pool_int64s = [1]>(x)'),
    ("attribute 'axis' is given twice", "float[2, 3] x", "y = Softmax<axis = 1, axis = 1>(x)"),
    ("attribute 'axis' refers to 'a', which only a function's body may do", "float[2, 3] x", "y = Softmax<axis: int = @a>(x)"),
    ("the loop never ends: nothing limits its steps, and its condition always holds", "float[2] x",
     "y = Loop<body = b (int64 i, bool c, float[2] s) => (bool d, float[2] t) { d = Identity(c) t = Neg(s) }>(_, , x)"),
    ("the body gives a sequence to collect", "float[2] x",
     "y = Loop<body = b (int64 i, bool d) => (e, s) { e = Identity(d) s = SequenceConstruct(x) }>(m, c)", "int64 m = {2}, bool c = {1}"),
    ("the body gives a sequence to collect", "float[2] x",
     "t = SequenceConstruct(x) y = SequenceMap<body = b (float[2] u) => (s) { s = SequenceConstruct(u) }>(t)"),
    ("a scanned input is a sequence, expected a tensor", "float[2] x",
     "s = SequenceConstruct(x) y = Scan<num_scan_inputs = 1, body = b (float u) => (w) { w = Neg(u) }>(s)"),
    ("sequence_lens must be int32", "float[3, 1, 2] x, float[1, 8, 2] w, float[1] n", "y = LSTM<hidden_size = 2>(x, w, w, , n)"),
    ("the condition must be bool", "float[2] x, int64[2] c", "y = Compress<axis = 0>(x, c)"),
    ("the input, the scale and the bias have different element types", "float[2, 4] x, double[4] s", "y = LayerNormalization(x, s)"),
    ("the input, the scale and the bias have different element types", "float[2, 4] x, float[4] s, double[4] b", "y = LayerNormalization(x, s, b)"),
    ("the input and the scale have different element types", "float[2, 4] x, double[4] s", "y = RMSNormalization(x, s)", "", 23),
    ("num_scan_inputs is 2, expected 1 to 1", "float[2] x", "y = Scan<num_scan_inputs = 2, body = b (float u) => (w) { w = Neg(u) }>(x)"),
    ("num_scan_inputs is -9223372036854775808, expected 1 to 1", "float[2] x",
     "y = Scan<num_scan_inputs = -9223372036854775808, body = b (float u) => (w) { w = Neg(u) }>(x)"),
    ("the body gives a sequence to collect", "float[2] x", "y = Scan<num_scan_inputs = 1, body = b (float u) => (w) { w = SequenceConstruct(u) }>(x)"),
    ("has no body, or an input is missing", "float[2] x", "s = SequenceConstruct(x) y = SequenceMap(s)"),
    ("the body has 1 outputs, the node 2", "float[2] x",
     "s = SequenceConstruct(x) y, z = SequenceMap<body = b (float[2] u) => (w) { w = Neg(u) }>(s)"),
    # Any node
    ("it must be a constant of the model", "float[1, 1, 4, 4] x, float[4] s", "y = Resize(x, , s)"),
    ("quantization to other types than integers of at most 16 bits and narrow floats", "float[4] x, float s", "y = QuantizeLinear<output_dtype = 1>(x, s)", "", 21),
    ("attribute 'perm' has type int, expected ints", "float[2, 3] x", "y = Transpose<perm = 1>(x)"),
    ("A has rank 0, expected 2", "float s, float[2, 2] a", "y = Gemm(s, a)"),
    ("does not broadcast to rank", "float[2, 2] a, float[2, 2, 2] c", "y = Gemm(a, a, c)"),
    ("inputs differ outside the axis: dimensions", "float[2, 3] x, float[2, 4] z", "y = Concat<axis = 0>(x, z)"),
    (", expected int64", "float[4] x, float[1] s", "y = Reshape(x, s)"),
    ("depends on symbolic dimensions", "float[N] x", "s = Shape(x) y = ReduceSum(x, s)"),
    ("unknown operator of domain", "float[4] x", "y = com.example.Twist(x)"),
    ("the condition has an element type other than bool", "float c, float[2] x", "y = If<then_branch = g () => (a) { a = Neg(x) }, else_branch = g () => (a) { a = Neg(x) }>(c)"),
    ("output 'x' hides the value of that name of the graph around the body", "bool c, float[2] x",
     "y = If<then_branch = g () => (x) { x = Neg(x) }, else_branch = g () => (a) { a = Neg(x) }>(c)"),
    ("the condition has 2 elements, expected one", "bool[2] c, float[2] x", "y = If<then_branch = g () => (a) { a = Neg(x) }, else_branch = g () => (a) { a = Neg(x) }>(c)"),
    ("the branch has 1 outputs, the node 2", "float[2] x",
     "y, z = If<then_branch = g () => (a) { a = Neg(x) }, else_branch = g () => (a) { a = Neg(x) }>(c)", "bool c = {1}"),
    ("output of the body:", "float[2] x", "y = If<then_branch = g () => (b) { a = Neg(x) }, else_branch = g () => (a) { a = Neg(x) }>(c)", "bool c = {1}"),
]


def write(path, inputs, nodes, initializers="", opset=17):
    version = f'<ir_version: 9, opset_import: ["" : {opset}, "com.example" : 1]>'
    initializers = f"<{initializers}>" if initializers else ""
    model = onnx.parser.parse_model(f"{version}\ncase ({inputs}) => (y) {initializers} {{ {nodes} }}")
    for node in model.graph.node:
        # The text form has no way to leave out a first input.
        node.input[:] = ["" if name == "_" else name for name in node.input]
        if "." in node.op_type:
            node.domain, node.op_type = node.op_type.rsplit(".", 1)
    path.write_bytes(model.SerializeToString())


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
paths, bad = [], []
for number, (message, *case) in enumerate(CASES):
    paths.append(folder / f"{number}.onnx")
    try:
        write(paths[-1], *case)
    except onnx.parser.ParseError as error:
        bad.append(f"case {number} ({message}) does not parse: {error}")
        paths.pop()
said = subprocess.run(["kiln-import", "--quiet", *map(str, paths)], capture_output=True, text=True)
lines = (said.stdout + said.stderr).splitlines()
for path in paths:
    message = CASES[int(path.stem)][0]
    found = [line for line in lines if str(path) in line]
    if not any(line.startswith("error: ") and message in line for line in found):
        bad.append(f"case {path.stem}: expected '{message}', got {found}")
print("\n".join(bad) if bad else f"{len(CASES)} messages")
sys.exit(1 if bad else 0)
