"""One node of each operator in three sizes, for test/benchmark/operators.

A function with @node("Name ...", types) returns the inputs of a node of these operators, its attributes and how many outputs it has. It takes a Maker, which draws values.
What has no function here, test/operators draws: `drawn` gives its forms, which are small.
"""

import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/operators"), str(ROOT / "test/operators/families"), str(ROOT / "test")]
from cases import NEWEST_OPSET, OPERATORS, Generator, Tensor  # noqa: E402
from elements import INTEGERS, TYPES  # noqa: E402

SIZES = ("tiny", "typical", "large")
FLOATS, BYTES = ["f32", "f64", "f16"], ["u8", "i8"]
NUMBERS = FLOATS + INTEGERS
DATA = NUMBERS + ["bool"]
MICROSOFT, LEARNING = "com.microsoft", "ai.onnx.ml"
#: The newest opset that ONNX Runtime 1.32 takes as a released one.
OPSET = 25
NODES = {}


class Node:
    """The parts of a model: inputs are Tensors, or None for an absent one."""

    def __init__(self, op, domain, opset, inputs, attributes, outputs, drawn=False):
        self.op, self.domain, self.opset, self.inputs, self.attributes, self.outputs, self.drawn = op, domain, opset, inputs, attributes, outputs, drawn


class Maker:
    """Draws values for a node of one size and type; the same each time."""

    def __init__(self, op, form, type, size):
        self.op, self.form, self.type, self.size = op, form, type, size
        self.random = np.random.default_rng([len(op), size])

    def pick(self, *of_sizes):
        return of_sizes[self.size]

    def array(self, type, shape, low=None, high=None):
        element = TYPES[type]
        if element.is_bool:
            return self.random.random(shape) < 0.5
        if element.is_float:
            values = self.random.standard_normal(shape) if low is None else self.random.uniform(low, high, shape)
            return np.asarray(values).astype(element.held)
        low, high = (max(element.least, -100), min(element.most, 100)) if low is None else (low, high)
        return self.random.integers(int(low), max(int(high), int(low) + 1), shape).astype(element.held)

    def data(self, *shape, type=None, low=None, high=None):
        return Tensor(self.array(type or self.type, shape, low, high), type or self.type, constant=False)

    def weight(self, *shape, type=None, low=None, high=None):
        return Tensor(self.array(type or self.type, shape, low, high), type or self.type, constant=True)

    def fixed(self, values, type="i64"):
        return Tensor(np.asarray(values, TYPES[type].held), type, constant=True)

    def flat(self, **kwargs):
        return self.data(*self.pick((16,), (128, 768), (1024, 1024)), **kwargs)

    def image(self, **kwargs):
        return self.data(*self.pick((1, 4, 6, 6), (1, 64, 56, 56), (1, 128, 112, 112)), **kwargs)


def node(names, types=FLOATS, domain="", opset=None, form=""):
    """Registers a function for operators. `form` tells several nodes of one operator apart."""

    def register(make):
        for name in names.split():
            label = f"{domain}.{name}" if domain else name
            NODES.setdefault(label, []).append((form, make, types, domain, opset or OPSET, name))
        return make

    return register


def draw_node(label, index, type, size):
    form, make, _, domain, opset, name = NODES[label][index]
    inputs, attributes, *outputs = make(Maker(name, form, type, size))
    return Node(name, domain, opset, inputs, attributes, *outputs or [1])


def drawn_nodes(label, tries=12):
    """{(type, size): node} of what test/operators draws of an operator: the smallest of its cases of a type, a middle one and the largest."""
    by_type = {}
    for maker in OPERATORS[label]:
        if maker.until < NEWEST_OPSET:
            continue
        for number in range(tries):
            case = maker.make(Generator(maker, min(NEWEST_OPSET, OPSET), 1, number))
            tensors = [tensor for tensor in case.inputs if tensor is not None]
            if not case.nodes and all(isinstance(tensor, Tensor) and 0 not in tensor.shape and can_pass(tensor) for tensor in tensors):
                by_type.setdefault(tensors[0].type if tensors else "", []).append((sum(tensor.array.size for tensor in tensors), number, case))
    found = {}
    for type, cases in by_type.items():
        cases.sort(key=lambda one: one[:2])
        for size, place in zip(range(3), (0, len(cases) // 2, -1)):
            case = cases[place][2]
            domain = case.domain
            found[type, size] = Node(case.op, domain, case.opset, case.inputs, case.attributes, len(case.outputs), drawn=True)
    return found


def can_pass(tensor):
    """Whether the programs that race can read such an input."""
    return not TYPES[tensor.type].is_string and (tensor.constant or not TYPES[tensor.type].is_narrow)


# ---- elementwise


@node("Abs Neg Sign Relu", NUMBERS)
@node("Ceil Floor Round Exp Erf Sigmoid Tanh Elu Selu Celu Softplus Softsign HardSigmoid HardSwish Mish LeakyRelu ThresholdedRelu Gelu Shrink IsNaN IsInf Cos Sin Atan Asinh Sinh Cosh Swish Identity")
@node("Gelu QuickGelu FastGelu", FLOATS, MICROSOFT)
def unary(m):
    return [m.flat()], {}


@node("Acos Asin Atanh Tan Log Sqrt Reciprocal")
def narrow_unary(m):
    return [m.flat(low=0.1, high=0.9)], {}


@node("Acosh")
def acosh(m):
    return [m.flat(low=1.1, high=9)], {}


@node("Not", ["bool"])
@node("BitwiseNot", INTEGERS)
def unary_bits(m):
    return [m.flat()], {}


@node("Add Sub Mul Max Min Less Greater LessOrEqual GreaterOrEqual Sum Mean", NUMBERS)
@node("Equal", DATA)
@node("And Or Xor", ["bool"])
@node("BitwiseAnd BitwiseOr BitwiseXor", INTEGERS)
def binary(m):
    return [m.flat(), m.flat()], {}


@node("Add Mul Sub Greater", ["f32", "i32", "i64"], form="row")
def by_row(m):
    x = m.flat()
    return [x, m.data(x.shape[-1])], {}


@node("Add Mul", ["f32"], form="channel")
def by_channel(m):
    x = m.image()
    return [x, m.data(1, x.shape[1], 1, 1)], {}


@node("Div", NUMBERS)
@node("Pow", ["f32", "f64", "i32", "i64"])
@node("BitShift", ["u8", "u16", "u32", "u64"])
@node("Mod", NUMBERS)
def divided(m):
    return [m.flat(low=1, high=9), m.flat(low=1, high=4)], {"direction": "LEFT"} if m.op == "BitShift" else {"fmod": 1} if m.op == "Mod" and TYPES[m.type].is_float else {}


@node("Pow", form="square")
def square(m):
    return [m.flat(), m.fixed(2, m.type)], {}


@node("PRelu", FLOATS + ["i32", "i64"])
def prelu(m):
    x = m.image()
    return [x, m.weight(x.shape[1], 1, 1)], {}


@node("Where", DATA)
def where(m):
    return [m.flat(type="bool"), m.flat(), m.flat()], {}


@node("Clip", NUMBERS)
def clip(m):
    return [m.flat(), m.fixed(1, m.type), m.fixed(6, m.type)], {}


@node("BiasGelu FastGelu", FLOATS, MICROSOFT, form="bias")
def bias_gelu(m):
    x = m.data(*m.pick((1, 16), (128, 3072), (512, 4096)))
    return [x, m.weight(x.shape[-1])], {}


def add_casts():
    for to in DATA:
        node("Cast", DATA if to in ("f32", "i64") else ["f32"], form=f"to {to}")(lambda m, to=to: ([m.flat(low=0, high=100)], {"to": TYPES[to].number}))


add_casts()

# ---- reductions and searches


@node("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare", FLOATS + ["i32", "i64", "i8", "u8"])
@node("ReduceLogSum ReduceLogSumExp")
def reduce_rows(m):
    return [m.data(*m.pick((4, 8), (128, 768), (1024, 1024)), low=1, high=3), m.fixed([-1])], {}


@node("ReduceSum ReduceMean ReduceMax", ["f32"], form="columns")
def reduce_columns(m):
    return [m.data(*m.pick((4, 8), (128, 768), (1024, 1024))), m.fixed([0])], {}


@node("ArgMax ArgMin", FLOATS + ["i8", "u8", "i32", "i64"])
def arg(m):
    return [m.data(*m.pick((4, 8), (128, 768), (1024, 1024)))], {"axis": -1}


@node("CumSum CumProd", ["f32", "f64", "i32", "i64"])
def cumulate(m):
    return [m.data(*m.pick((4, 8), (128, 768), (1024, 1024)), low=0.9, high=1.1), m.fixed(1)], {}


@node("TopK", FLOATS + ["i8", "u8", "i32", "i64"])
def topk(m):
    return [m.data(*m.pick((1, 16), (1, 1000), (64, 10000))), m.fixed([m.pick(2, 5, 50)])], {}, 2


@node("Softmax LogSoftmax Hardmax")
def softmax(m):
    return [m.data(*m.pick((1, 10), (12, 128, 128), (1024, 1024)))], {}


@node("LpNormalization")
def lp_normalization(m):
    return [m.data(*m.pick((1, 10), (128, 768), (1024, 1024)))], {}


@node("NonZero", ["bool", "f32", "i32", "i64", "u8"])
def nonzero(m):
    return [m.flat(low=0, high=2)], {}


@node("Unique", FLOATS + ["i8", "i64"])
def unique(m):
    return [m.data(m.pick(16, 1000, 100000), low=0, high=100)], {}, 4


@node("Compress", DATA)
def compress(m):
    x = m.data(*m.pick((4, 8), (128, 768), (1024, 1024)))
    return [x, m.data(x.shape[0], type="bool")], {"axis": 0}


@node("NonMaxSuppression", ["f32"])
def nms(m):
    count = m.pick(10, 1000, 5000)
    corners = m.random.uniform(0, 10, (1, count, 2))
    boxes = np.concatenate([corners, corners + m.random.uniform(0.1, 2, (1, count, 2))], 2).astype("f4")
    return [Tensor(boxes, "f32", False), m.data(1, m.pick(1, 1, 20), count, low=0, high=1), m.fixed([m.pick(5, 100, 100)]), m.fixed([0.5], "f32"), m.fixed([0.1], "f32")], {}


# ---- movement


@node("Transpose", DATA)
def transpose(m):
    return [m.data(*m.pick((2, 3, 4), (1, 128, 12, 64), (8, 128, 16, 64)))], {"perm": m.pick((1, 0, 2), (0, 2, 1, 3), (0, 2, 1, 3))}


@node("Transpose", ["f32", "u8", "i64"], form="matrix")
def transpose_matrix(m):
    return [m.data(*m.pick((4, 4), (128, 768), (1024, 1024)))], {"perm": (1, 0)}


@node("Concat", DATA)
def concat(m):
    x = m.image()
    return [x, m.data(*x.shape)], {"axis": 1}


@node("Split", DATA)
def split(m):
    return [m.flat()], {"axis": -1, "num_outputs": 2}, 2


@node("Slice", DATA)
def cut(m):
    return [m.image(), m.fixed([0, 1]), m.fixed([10000, 10000]), m.fixed([1, 2]), m.fixed([2, 1])], {}


@node("Gather", DATA)
def gather(m):
    rows = m.pick(10, 1000, 30000)
    return [m.data(rows, m.pick(4, 64, 768)), m.data(m.pick(2, 128, 1024), type="i64", low=0, high=rows)], {}


@node("GatherElements", DATA)
def gather_elements(m):
    x = m.data(*m.pick((4, 4), (128, 768), (1024, 1024)))
    return [x, m.data(*x.shape, type="i64", low=0, high=x.shape[1])], {"axis": 1}


@node("GatherND", DATA)
def gather_nd(m):
    x = m.data(*m.pick((4, 4), (128, 768), (1024, 1024)))
    return [x, m.data(m.pick(2, 64, 1024), 1, type="i64", low=0, high=x.shape[0])], {}


@node("ScatterElements", NUMBERS)
def scatter_elements(m):
    x = m.data(*m.pick((4, 4), (128, 768), (1024, 1024)))
    return [x, m.data(m.pick(2, 64, 512), x.shape[1], type="i64", low=0, high=x.shape[0]), m.data(m.pick(2, 64, 512), x.shape[1])], {"axis": 0}


@node("ScatterND", NUMBERS)
def scatter_nd(m):
    x = m.data(*m.pick((4, 4), (128, 768), (1024, 1024)))
    return [x, m.data(m.pick(2, 64, 1024), 1, type="i64", low=0, high=x.shape[0]), m.data(m.pick(2, 64, 1024), x.shape[1])], {}


@node("Pad", NUMBERS)
def pad(m):
    return [m.image(), m.fixed([0, 0, 1, 1, 0, 0, 1, 1])], {}


@node("Pad", ["f32"], form="reflect")
def pad_reflect(m):
    return [m.image(), m.fixed([0, 0, 1, 1, 0, 0, 1, 1])], {"mode": "reflect"}


@node("Tile", DATA)
def tile(m):
    return [m.data(*m.pick((2, 4), (64, 768), (512, 1024))), m.fixed([2, 1])], {}


@node("Expand", DATA)
def expand(m):
    return [m.data(*m.pick((1, 8), (1, 768), (1, 1024))), m.fixed(m.pick([4, 8], [128, 768], [1024, 1024]))], {}


@node("Reshape", DATA)
def reshape(m):
    return [m.flat(), m.fixed([-1])], {}


@node("Flatten Squeeze Unsqueeze Shape Size", ["f32", "i64"])
def views(m):
    x = m.data(1, *m.pick((16,), (128, 768), (1024, 1024)))
    return [x, m.fixed([0])] if m.op in ("Squeeze", "Unsqueeze") else [x], {}


@node("Resize", FLOATS + ["u8", "i8", "i32"], form="nearest")
@node("Resize", FLOATS + ["u8", "i8"], form="linear")
@node("Resize", ["f32"], form="cubic")
def resize(m):
    mode = m.form
    return [m.data(*m.pick((1, 2, 4, 4), (1, 64, 28, 28), (1, 64, 112, 112))), None, m.fixed([1, 1, 2, 2], "f32")], {"mode": mode}


@node("Upsample", ["f32", "u8", "i32"], opset=9)
def upsample(m):
    return [m.data(*m.pick((1, 2, 4, 4), (1, 64, 28, 28), (1, 64, 112, 112))), m.fixed([1, 1, 2, 2], "f32")], {}


@node("DepthToSpace SpaceToDepth", ["f32", "f64", "u8"])
def blocks(m):
    return [m.image()], {"blocksize": 2}


@node("Trilu", ["f32", "f64", "i64", "bool"])
def trilu(m):
    return [m.data(*m.pick((4, 4), (128, 128), (1024, 1024)))], {}


@node("OneHot", ["i64", "i32", "f32"])
def one_hot(m):
    return [m.data(m.pick(4, 128, 1024), low=0, high=m.pick(4, 100, 1000)), m.fixed(m.pick(4, 100, 1000)), m.fixed([0, 1], "f32")], {}


@node("ReverseSequence", ["f32", "i64", "u8"])
def reverse(m):
    steps = m.pick(4, 32, 128)
    return [m.data(steps, m.pick(2, 8, 64), m.pick(2, 64, 128)), m.data(m.pick(2, 8, 64), type="i64", low=1, high=steps)], {}


@node("CenterCropPad", ["f32"])
def crop(m):
    return [m.image(), m.fixed([m.pick(4, 48, 96)] * 2)], {"axes": [2, 3]}


@node("EyeLike", ["f32", "i64"])
def eye(m):
    return [m.data(*m.pick((4, 4), (128, 128), (1024, 1024)))], {}


@node("Range", ["f32", "i64", "i32"])
def counted(m):
    return [m.fixed(0, m.type), Tensor(np.asarray(m.pick(8, 1000, 100000), TYPES[m.type].held), m.type, True), m.fixed(1, m.type)], {}


# ---- products, convolutions, pooling


@node("MatMul", FLOATS + ["i32", "i64", "u32", "u64"])
def matmul(m):
    rows, inner, columns = m.pick((4, 4, 4), (128, 768, 768), (512, 1024, 1024))
    return [m.data(rows, inner), m.weight(inner, columns)], {}


@node("MatMul", ["f32", "f64"], form="vector")
def matmul_vector(m):
    rows, inner, columns = m.pick((1, 8, 8), (1, 768, 768), (1, 4096, 4096))
    return [m.data(rows, inner), m.weight(inner, columns)], {}


@node("MatMul", ["f32", "f64"], form="batch")
def matmul_batch(m):
    batch, rows, inner = m.pick((2, 4, 4), (12, 128, 64), (16, 512, 64))
    return [m.data(batch, rows, inner), m.data(batch, inner, rows)], {}


@node("Gemm", FLOATS)
def gemm(m):
    rows, inner, columns = m.pick((1, 8, 4), (32, 512, 256), (256, 1024, 1024))
    return [m.data(rows, inner), m.weight(columns, inner), m.weight(columns)], {"transB": 1}


@node("Einsum", ["f32", "f64", "i32", "i64"])
def einsum(m):
    batch, rows, heads, width = m.pick((1, 4, 2, 4), (1, 128, 12, 64), (2, 256, 16, 64))
    return [m.data(batch, rows, heads, width), m.data(batch, rows, heads, width)], {"equation": "bqhd,bkhd->bhqk"}


@node("FusedMatMul", ["f32", "f64"], MICROSOFT)
def fused_matmul(m):
    rows, inner, columns = m.pick((4, 4, 4), (128, 768, 768), (512, 1024, 1024))
    return [m.data(rows, inner), m.weight(columns, inner)], {"transB": 1, "alpha": 0.5}


@node("FusedGemm", ["f32"], MICROSOFT)
def fused_gemm(m):
    return gemm(m)[0], {"transB": 1, "activation": "Relu"}


CONVOLUTIONS = ((1, 4, 6, 4), (1, 64, 56, 64), (1, 256, 56, 256))


@node("Conv", FLOATS, form="3x3")
def conv(m):
    batch, channels, size, filters = m.pick(*CONVOLUTIONS)
    return [m.data(batch, channels, size, size), m.weight(filters, channels, 3, 3), m.weight(filters)], {"pads": [1] * 4}


@node("Conv", FLOATS, form="1x1")
def conv_pointwise(m):
    batch, channels, size, filters = m.pick(*CONVOLUTIONS)
    return [m.data(batch, channels, size, size), m.weight(filters, channels, 1, 1)], {}


@node("Conv", FLOATS, form="depthwise")
def conv_depthwise(m):
    batch, channels, size, _ = m.pick(*CONVOLUTIONS)
    return [m.data(batch, channels, size, size), m.weight(channels, 1, 3, 3)], {"pads": [1] * 4, "group": channels}


@node("Conv", ["f32"], form="1-D")
def conv_line(m):
    batch, channels, length = m.pick((1, 4, 16), (1, 64, 512), (1, 256, 2048))
    return [m.data(batch, channels, length), m.weight(channels, channels, 3)], {"pads": [1, 1]}


@node("Conv", ["f32"], form="3-D")
def conv_volume(m):
    batch, channels, size = m.pick((1, 2, 4), (1, 16, 16), (1, 32, 32))
    return [m.data(batch, channels, size, size, size), m.weight(channels, channels, 3, 3, 3)], {"pads": [1] * 6}


@node("ConvTranspose", ["f32"])
def conv_transpose(m):
    batch, channels, size, filters = m.pick((1, 4, 4, 4), (1, 64, 28, 32), (1, 128, 56, 64))
    return [m.data(batch, channels, size, size), m.weight(channels, filters, 4, 4)], {"strides": [2, 2], "pads": [1] * 4}


@node("ConvInteger", ["u8"])
def conv_integer(m):
    batch, channels, size, filters = m.pick((1, 4, 6, 4), (1, 64, 28, 64), (1, 128, 56, 128))
    return [m.data(batch, channels, size, size), m.weight(filters, channels, 3, 3), m.fixed(128, m.type), m.fixed(128, m.type)], {"pads": [1] * 4}


@node("QLinearConv", BYTES)
def qlinear_conv(m):
    batch, channels, size, filters = m.pick((1, 4, 6, 4), (1, 64, 28, 64), (1, 128, 56, 128))
    zero = 128 if m.type == "u8" else 0
    return [m.data(batch, channels, size, size), m.fixed(0.02, "f32"), m.fixed(zero, m.type), m.weight(filters, channels, 3, 3, type="i8"), m.fixed(0.01, "f32"),
            m.fixed(0, "i8"), m.fixed(0.1, "f32"), m.fixed(zero, m.type)], {"pads": [1] * 4}


@node("MatMulInteger", BYTES)
def matmul_integer(m):
    rows, inner, columns = m.pick((4, 4, 4), (128, 768, 768), (512, 1024, 1024))
    return [m.data(rows, inner), m.weight(inner, columns, type="i8"), m.fixed(10, m.type)], {}


@node("QLinearMatMul", BYTES)
def qlinear_matmul(m):
    rows, inner, columns = m.pick((4, 4, 4), (128, 768, 768), (512, 1024, 1024))
    return [m.data(rows, inner), m.fixed(0.02, "f32"), m.fixed(10, m.type), m.weight(inner, columns, type="i8"), m.fixed(0.01, "f32"), m.fixed(0, "i8"), m.fixed(0.1, "f32"),
            m.fixed(10, m.type)], {}


@node("DynamicQuantizeMatMul", ["f32"], MICROSOFT)
def dynamic_matmul(m):
    rows, inner, columns = m.pick((4, 4, 4), (128, 768, 768), (512, 1024, 1024))
    return [m.data(rows, inner), m.weight(inner, columns, type="i8"), m.fixed(0.01, "f32"), m.fixed(0, "i8")], {}


@node("MatMulNBits", ["f32"], MICROSOFT)
def matmul_nbits(m):
    rows, inner, columns = m.pick((1, 32, 16), (1, 1024, 1024), (128, 1024, 1024))
    return [m.data(rows, inner), m.weight(columns, inner // 32, 16, type="u8", low=0, high=255), m.weight(columns * inner // 32, low=0.01, high=0.02)], \
        {"K": inner, "N": columns, "bits": 4, "block_size": 32}


@node("MaxPool AveragePool", ["f32", "f64", "f16"])
@node("LpPool", ["f32"])
def pool(m):
    return [m.image()], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}


@node("MaxPool", BYTES, form="bytes")
def pool_bytes(m):
    return pool(m)


@node("GlobalAveragePool GlobalMaxPool GlobalLpPool", ["f32"])
def global_pool(m):
    return [m.image()], {}


@node("MaxUnpool", ["f32"])
def unpool(m):
    batch, channels, size = m.pick((1, 2, 4), (1, 32, 28), (1, 64, 56))
    places = np.arange(batch * channels * size * size).reshape(batch * channels, size, size) // (size * size) * 4 * size * size
    inner = (np.arange(size)[:, None] * 2 * 2 * size + np.arange(size) * 2)[None]
    return [m.data(batch, channels, size, size), Tensor((places + inner).reshape(batch, channels, size, size), "i64", False)], {"kernel_shape": [2, 2], "strides": [2, 2]}


@node("Col2Im", ["f32"])
def col2im(m):
    channels, size = m.pick((2, 4), (16, 28), (32, 112))
    return [m.data(1, channels * 9, size * size), m.fixed([size, size]), m.fixed([3, 3])], {"pads": [1] * 4}


@node("DeformConv", ["f32"])
def deform(m):
    channels, size = m.pick((2, 4), (32, 28), (64, 56))
    return [m.data(1, channels, size, size), m.weight(channels, channels, 3, 3), m.data(1, 18, size, size)], {"pads": [1] * 4, "kernel_shape": [3, 3]}


# ---- normalization, attention, recurrence


@node("BatchNormalization")
def batch_normalization(m):
    x = m.image()
    return [x, *[m.weight(x.shape[1], low=0.5, high=1) for _ in range(4)]], {}


@node("InstanceNormalization", ["f32"])
def instance_normalization(m):
    x = m.image()
    return [x, m.weight(x.shape[1]), m.weight(x.shape[1])], {}


@node("GroupNormalization", ["f32"])
def group_normalization(m):
    x = m.image()
    return [x, m.weight(x.shape[1]), m.weight(x.shape[1])], {"num_groups": 2}


@node("LayerNormalization", FLOATS)
def layer_normalization(m):
    x = m.data(*m.pick((1, 16), (128, 768), (1024, 1024)))
    return [x, m.weight(x.shape[-1]), m.weight(x.shape[-1])], {}


@node("RMSNormalization", FLOATS)
@node("SimplifiedLayerNormalization", FLOATS)
def rms_normalization(m):
    x = m.data(*m.pick((1, 16), (128, 768), (1024, 1024)))
    return [x, m.weight(x.shape[-1])], {}


@node("SkipLayerNormalization SkipSimplifiedLayerNormalization", ["f32", "f64", "f16"], MICROSOFT)
def skip_normalization(m):
    x = m.data(*m.pick((1, 2, 16), (1, 128, 768), (1, 1024, 1024)))
    return [x, m.data(*x.shape), m.weight(x.shape[-1])], {}


@node("LRN", ["f32"])
def lrn(m):
    return [m.image()], {"size": 5}


@node("MeanVarianceNormalization", ["f32"])
def mean_variance(m):
    return [m.image()], {}


@node("Attention", ["f32", "f16"])
def attention(m):
    batch, heads, tokens, width = m.pick((1, 2, 4, 8), (1, 12, 128, 64), (1, 16, 512, 64))
    return [m.data(batch, heads, tokens, width) for _ in range(3)], {}


@node("MultiHeadAttention", ["f32"], MICROSOFT)
def multi_head(m):
    heads, tokens, width = m.pick((2, 4, 16), (12, 128, 768), (16, 512, 1024))
    return [m.data(1, tokens, width) for _ in range(3)], {"num_heads": heads}


@node("Attention", ["f32"], MICROSOFT)
def packed_attention(m):
    heads, tokens, width = m.pick((2, 4, 16), (12, 128, 768), (16, 512, 1024))
    return [m.data(1, tokens, width), m.weight(width, 3 * width), m.weight(3 * width)], {"num_heads": heads}


@node("GroupQueryAttention", ["f32"], MICROSOFT)
def grouped_attention(m):
    heads, past, width = m.pick((2, 4, 16), (12, 128, 64), (32, 1024, 64))
    cache = [m.data(1, heads // 2, past, width) for _ in range(2)]
    return [m.data(1, 1, heads * width), m.data(1, 1, heads // 2 * width), m.data(1, 1, heads // 2 * width), *cache, m.fixed([[past]], "i32"), m.fixed(past + 1, "i32")], \
        {"num_heads": heads, "kv_num_heads": heads // 2}, 3


@node("RotaryEmbedding", ["f32", "f16"])
def rotary(m):
    heads, tokens, width = m.pick((2, 4, 8), (12, 128, 64), (32, 512, 64))
    return [m.data(1, heads, tokens, width), m.weight(1, tokens, width // 2), m.weight(1, tokens, width // 2)], {}


@node("LSTM GRU RNN", ["f32"])
def recurrent(m):
    steps, width, hidden = m.pick((2, 4, 4), (32, 128, 128), (128, 256, 256))
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[m.op]
    return [m.data(steps, 1, width), m.weight(1, gates * hidden, width, low=-0.1, high=0.1), m.weight(1, gates * hidden, hidden, low=-0.1, high=0.1)], {"hidden_size": hidden}


@node("SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss", ["f32"])
def loss(m):
    rows, classes = m.pick((2, 4), (128, 1000), (1024, 1000))
    return [m.data(rows, classes), m.data(rows, type="i64", low=0, high=classes)], {}


# ---- pictures and signals


@node("GridSample", ["f32"])
def grid_sample(m):
    x = m.data(*m.pick((1, 2, 4, 4), (1, 32, 56, 56), (1, 64, 112, 112)))
    return [x, m.data(1, x.shape[2], x.shape[3], 2, low=-1, high=1)], {}


@node("AffineGrid", ["f32"])
def affine_grid(m):
    return [m.data(1, 2, 3), m.fixed([1, 1, *[m.pick(4, 56, 224)] * 2])], {}


@node("RoiAlign", ["f32"], opset=16)
def roi_align(m):
    channels, size, count = m.pick((2, 8, 2), (64, 32, 32), (256, 56, 64))
    boxes = np.concatenate([m.random.uniform(0, size / 2, (count, 2)), m.random.uniform(size / 2, size, (count, 2))], 1).astype("f4")
    return [m.data(1, channels, size, size), Tensor(boxes, "f32", False), m.fixed([0] * count)], {"output_height": 7, "output_width": 7, "sampling_ratio": 2}


@node("DFT", ["f32", "f64"])
def dft(m):
    return [m.data(1, m.pick(8, 512, 16384), 1), None, m.fixed(1)], {}


@node("STFT", ["f32"])
def stft(m):
    length, frame = m.pick((64, 16), (16000, 400), (160000, 512))
    return [m.data(1, length, 1), m.fixed(frame // 2), m.weight(frame, low=0, high=1), m.fixed(frame)], {}


@node("Det", ["f32", "f64"])
def det(m):
    return [m.data(m.pick(1, 16, 256), *[m.pick(2, 4, 8)] * 2)], {}


# ---- quantization


@node("QuantizeLinear", ["f32"], form="u8")
@node("QuantizeLinear", ["f32"], form="i8")
def quantize(m):
    return [m.flat(), m.fixed(0.02, "f32"), m.fixed(0, m.form)], {}


@node("DequantizeLinear", BYTES + ["i32", "u16", "i16"])
def dequantize(m):
    return [m.flat(), m.fixed(0.02, "f32"), m.fixed(0, m.type)], {}


@node("DynamicQuantizeLinear", ["f32"])
def dynamic_quantize(m):
    return [m.flat()], {}, 3


@node("QLinearAdd QLinearMul", BYTES, MICROSOFT)
def qlinear_binary(m):
    side = lambda: [m.flat(), m.fixed(0.02, "f32"), m.fixed(1, m.type)]
    return [*side(), *side(), m.fixed(0.04, "f32"), m.fixed(1, m.type)], {}


@node("QLinearSigmoid QLinearLeakyRelu", BYTES, MICROSOFT)
def qlinear_unary(m):
    return [m.flat(), m.fixed(0.02, "f32"), m.fixed(1, m.type), m.fixed(0.01, "f32"), m.fixed(1, m.type)], {}


@node("QLinearGlobalAveragePool", BYTES, MICROSOFT)
def qlinear_global(m):
    return [m.image(), m.fixed(0.02, "f32"), m.fixed(1, m.type), m.fixed(0.01, "f32"), m.fixed(1, m.type)], {}


@node("QLinearAveragePool", BYTES, MICROSOFT)
def qlinear_pool(m):
    return qlinear_global(m)[0], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}


@node("QLinearSoftmax", BYTES, MICROSOFT)
def qlinear_softmax(m):
    x = m.data(*m.pick((1, 10), (128, 128), (1024, 1024)))
    return [x, m.fixed(0.05, "f32"), m.fixed(1, m.type), m.fixed(1 / 256, "f32"), m.fixed(0, m.type)], {"opset": 13, "axis": -1}


@node("QGemm", BYTES, MICROSOFT)
def qgemm(m):
    rows, inner, columns = m.pick((1, 8, 4), (32, 512, 256), (256, 1024, 1024))
    return [m.data(rows, inner), m.fixed(0.02, "f32"), m.fixed(1, m.type), m.weight(inner, columns, type="i8"), m.fixed(0.01, "f32"), m.fixed(0, "i8"), None,
            m.fixed(0.2, "f32"), m.fixed(1, m.type)], {}


# ---- classic machine learning


def table(m):
    return m.data(*m.pick((1, 8), (100, 30), (10000, 30)))


@node("Scaler", ["f32", "f64", "i32", "i64"], LEARNING, 3)
def scaler(m):
    x = table(m)
    return [x], {"offset": [0.5] * x.shape[1], "scale": [2.0] * x.shape[1]}


@node("Normalizer", ["f32", "f64", "i32", "i64"], LEARNING, 3)
def normalizer(m):
    return [table(m)], {"norm": "L2"}


@node("Binarizer", ["f32"], LEARNING, 3)
def binarizer(m):
    return [table(m)], {"threshold": 0.5}


@node("Imputer", ["f32"], LEARNING, 3)
def imputer(m):
    x = table(m)
    return [x], {"imputed_value_floats": [1.0] * x.shape[1], "replaced_value_float": 0.0}


@node("LabelEncoder", ["i64"], LEARNING, 3)
def label_encoder(m):
    return [table(m)], {"keys_int64s": list(range(-100, 101)), "values_floats": [float(i) for i in range(201)], "default_float": -1.0}


@node("LinearRegressor", ["f32"], LEARNING, 3)
def linear_regressor(m):
    x = table(m)
    return [x], {"coefficients": m.random.standard_normal(x.shape[1]).tolist(), "intercepts": [0.5], "targets": 1}


@node("LinearClassifier", ["f32", "f64", "i32", "i64"], LEARNING, 3)
def linear_classifier(m):
    x = table(m)
    return [x], {"coefficients": m.random.standard_normal(3 * x.shape[1]).tolist(), "intercepts": [0.5, 0.1, 0.0], "classlabels_ints": [0, 1, 2], "post_transform": "SOFTMAX"}, 2


@node("OneHotEncoder", ["i64", "f32", "f64", "i32"], LEARNING, 3)
def one_hot_encoder(m):
    return [m.data(m.pick(4, 128, 10000), 1, low=0, high=20)], {"cats_int64s": list(range(20)), "zeros": 1}


@node("ArrayFeatureExtractor", ["f32", "f64", "i32", "i64"], LEARNING, 3)
def array_features(m):
    x = table(m)
    return [x, m.fixed(list(range(0, x.shape[1], 2)))], {}


@node("FeatureVectorizer", ["f32", "f64", "i32", "i64"], LEARNING, 3)
def feature_vectorizer(m):
    x = table(m)
    return [x, m.data(*x.shape)], {"inputdimensions": [x.shape[1]] * 2}


@node("SVMRegressor", ["f32"], LEARNING, 3)
def svm(m):
    x, count = table(m), m.pick(4, 100, 200)
    return [x], {"kernel_type": "RBF", "kernel_params": [0.1, 0.0, 3.0], "n_supports": count, "rho": [0.5], "coefficients": m.random.standard_normal(count).tolist(),
                 "support_vectors": m.random.standard_normal(count * x.shape[1]).tolist()}


@node("TreeEnsembleRegressor", ["f32", "f64"], LEARNING, 3)
def trees(m):
    x, count, depth = table(m), m.pick(2, 50, 100), m.pick(2, 5, 6)
    inner = 2**depth - 1
    total = 2 * inner + 1
    ids = list(range(total))
    tree = lambda values: [value for _ in range(count) for value in values]
    leaves = list(range(inner, total))
    return [x], {"n_targets": 1, "nodes_treeids": [t for t in range(count) for _ in ids], "nodes_nodeids": tree(ids),
                 "nodes_modes": tree(["BRANCH_LEQ"] * inner + ["LEAF"] * (inner + 1)), "nodes_truenodeids": tree([2 * i + 1 if i < inner else 0 for i in ids]),
                 "nodes_falsenodeids": tree([2 * i + 2 if i < inner else 0 for i in ids]), "nodes_featureids": m.random.integers(0, x.shape[1], count * total).tolist(),
                 "nodes_values": m.random.standard_normal(count * total).astype("f4").tolist(), "target_treeids": [t for t in range(count) for _ in leaves],
                 "target_nodeids": tree(leaves), "target_ids": [0] * (count * len(leaves)), "target_weights": m.random.standard_normal(count * len(leaves)).tolist()}


@node("CDist", ["f32", "f64"], MICROSOFT)
def cdist(m):
    rows, columns = m.pick((4, 4), (100, 30), (1000, 30))
    return [m.data(rows, columns), m.data(rows, columns)], {"metric": "sqeuclidean"}
