//===- Convolution.cpp - Conv and ConvTranspose ------------------------------===//
#include "compiler/import/ops/Convolution.h"
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Window.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNQuantizedOps.h"

#include <numeric>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The kernel's spatial sizes, from the weight [.., .., spatial...]; nullopt after an error.
static std::optional<SmallVector<int64_t>> kernelSizes(Node &node, Value x, Value weight) {
  if (!node.expectRank(weight, node.rank(x), "the weight"))
    return std::nullopt;
  SmallVector<int64_t> sizes;
  DimExprs dims = node.dims(weight);
  for (AffineExpr dim : ArrayRef(dims).drop_front(2)) {
    auto size = nn::getConstantDim(dim);
    if (!size)
      (void)node.unsupported("the weight has a symbolic kernel size", "make the dimension static with --dim");
    else if (*size < 1)
      (void)node.error("the weight has an empty kernel");
    sizes.push_back(size.value_or(1));
  }
  return node.failed() ? std::nullopt : std::optional(sizes);
}

Value addChannelBias(Node &node, Value result, Value bias) {
  if (!bias || node.failed() || !node.expectRank(bias, 1, "the bias"))
    return result;
  DimExprs dims = node.dims(result), shape(dims.size(), node.number(1));
  shape[1] = node.dims(bias)[0];
  if (!node.unify(shape[1], dims[1], "the bias and the result have different numbers of channels"))
    return result;
  return node.binary<AddOp>(result, node.broadcastTo(node.reshape(bias, shape), dims));
}

/// Moves dimension `from` to `to`; ranks below 2 stay as they are, for others to complain about.
static Value moveDimension(Node &node, Value x, int64_t from, int64_t to) {
  int64_t rank = node.rank(x);
  if (node.failed() || rank < 2)
    return x;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
  int64_t moved = (from + rank) % rank;
  order.erase(order.begin() + moved);
  order.insert(order.begin() + (to + rank) % rank, moved);
  return node.transpose(x, order);
}

Value toChannelsFirst(Node &node, Value x) { return moveDimension(node, x, -1, 1); }
Value toChannelsLast(Node &node, Value x) { return moveDimension(node, x, 1, -1); }

static int64_t readGroups(Node &node) {
  int64_t groups = node.getInt("group", 1);
  if (groups < 1)
    (void)node.error("attribute 'group' is " + Twine(groups) + ", expected a positive number");
  return std::max<int64_t>(groups, 1);
}

/// Groups have as many channels each, which a run asks where it alone knows their number.
static void requireWhole(Node &node, AffineExpr channels, int64_t groups, const Twine &what) {
  AffineExpr left = nn::simplifyDim(channels % groups);
  auto known = nn::getConstantDim(left);
  if (!known)
    node.requireNotNegative(-left, what);
  else if (*known)
    (void)node.error(what);
}

Value buildConvolution(Node &node, Value x, Value weight, std::optional<ZeroPoints> zeros) {
  int64_t groups = readGroups(node);
  auto fail = [&](const Twine &reason) {
    (void)node.error(reason);
    return Value();
  };
  if (node.failed())
    return {};
  if (node.rank(x) < 3)
    return fail("the input has rank " + Twine(node.rank(x)) + ", expected [N, C] and one to three spatial dimensions");
  auto kernel = kernelSizes(node, x, weight);
  auto window = kernel ? readWindow(node, x, kernel, /*pads=*/true) : std::nullopt;
  if (!window)
    return {};
  DimExprs in = node.dims(x), shape = node.dims(weight), out{in[0], shape[0]};
  auto outChannels = nn::getConstantDim(shape[0]), inChannels = nn::getConstantDim(in[1]), perGroup = nn::getConstantDim(shape[1]);
  if (inChannels && perGroup && *inChannels != *perGroup * groups)
    return fail("weight has " + Twine(*perGroup * groups) + " input channels in " + Twine(groups) + " groups, but the input has " + Twine(*inChannels));
  if (outChannels && *outChannels % groups)
    return fail(Twine(*outChannels) + " output channels are not a multiple of " + Twine(groups) + " groups");
  requireWhole(node, shape[0], groups, "the output channels are no multiple of the groups");
  // Of kernels without a model; no other operator with such operands gets here.
  bool areBytes = !zeros && node.elementType(x).isUnsignedInteger(8) && node.elementType(weight).isSignlessInteger(8);
  if (!zeros && !areBytes && node.elementType(x) != node.elementType(weight))
    return fail("input and weight have different element types");
  if (!node.unify(in[1], shape[1] * groups, "input channels differ from the weight's"))
    return {};
  in[1] = shape[1] * groups;
  if (zeros) {
    // Where both are 0, so is the difference.
    Window again = *window;
    DimExprs dims = in;
    zeros->input = padInput(node, node.reshape(zeros->input, in), again, dims, 0);
  }
  x = padInput(node, node.reshape(x, in), *window, in, 0);
  out.append(window->outputDims(node, in));
  RankedTensorType type = node.type(out, zeros || areBytes ? Type(node.builder().getI32Type()) : node.elementType(x));
  if (node.failed())
    return {};
  if (zeros)
    return node.make<QuantizedConvOp>(type, x, weight, zeros->input, zeros->weight, window->strides, window->dilations, window->pads, groups,
                                      Layout::ChannelsFirst);
  return node.make<ConvOp>(type, x, weight, window->strides, window->dilations, window->pads, groups, Layout::ChannelsFirst);
}

static LogicalResult conv(Node &node) {
  Value result = buildConvolution(node, node.input(0), node.input(1));
  return result ? node.result(addChannelBias(node, result, node.optionalInput(2))) : failure();
}

/// The convolution of kernels without a model whose filters of i8 the caller packs: their kernel multiplies four channels at once. Its domain is Kiln's own.
static LogicalResult byteConv(Node &node) {
  constexpr int64_t channelsAtOnce = 4;
  Value x = node.input(0), weight = node.input(1);
  if (!node.failed() && node.expectRank(weight, 4, "the weight"))
    requireWhole(node, node.dims(weight)[1], channelsAtOnce, "the input channels are no multiple of 4");
  if (!node.failed() && !node.elementType(weight).isSignlessInteger(8))
    return node.error("the weight is not of type int8");
  Value result = buildConvolution(node, x, weight);
  return result ? node.result(result) : failure();
}

/// The borders that give the wanted spatial sizes: output_shape, or auto_pad SAME (size * stride). The odd element
/// of the border is at the end when `upper`: for SAME_UPPER, and before opset 11 without auto_pad. So is one that is missing: borders may be negative.
static void padToShape(Node &node, Window &window, ArrayRef<AffineExpr> in, ArrayRef<int64_t> extra, const std::optional<SmallVector<int64_t>> &shape,
                       bool upper) {
  for (size_t i = 0; i < window.rank(); ++i) {
    auto size = nn::getConstantDim(in[2 + i]);
    if (!size && shape) {
      (void)node.unsupported("output_shape on a symbolic dimension", "make the dimension static with --dim");
      return;
    }
    int64_t total = shape ? window.strides[i] * (*size - 1) + extra[i] + window.reach(i) - (*shape)[i] : extra[i] + window.reach(i) - window.strides[i];
    int64_t half = total / 2;
    window.pads[i] = upper || total < 0 ? half : total - half;
    window.pads[window.rank() + i] = total - window.pads[i];
  }
}

/// `pads`: what stands for attribute 'pads'.
static LogicalResult transposeConvolution(Node &node, Value bias, const std::optional<SmallVector<int64_t>> &pads) {
  Value x = node.input(0), weight = node.input(1);
  int64_t groups = readGroups(node);
  auto kernel = node.failed() || node.rank(x) < 3 ? std::nullopt : kernelSizes(node, x, weight);
  if (!kernel)
    return node.error("the input has rank " + Twine(node.rank(x)) + ", expected [N, C] and one to three spatial dimensions");
  std::string automatic = node.getString("auto_pad", "NOTSET");
  bool isSame = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  DimExprs in = node.dims(x), shape = node.dims(weight), out{in[0], nn::simplifyDim(shape[1] * groups)};
  // SAME means something else here than for a convolution: read the other attributes as if the sizes were symbolic with stride one.
  auto window = isSame ? std::optional<Window>() : readWindow(node, x, kernel);
  size_t spatial = kernel->size();
  if (isSame) {
    window.emplace();
    window->kernel = *kernel;
    window->strides = node.findInts("strides").value_or(SmallVector<int64_t>(spatial, 1));
    window->dilations = node.findInts("dilations").value_or(SmallVector<int64_t>(spatial, 1));
    window->pads.assign(2 * spatial, 0);
    node.ignore("kernel_shape");
    node.ignore("pads");
  }
  if (pads && pads->size() != 2 * spatial)
    return node.error("Pads has " + Twine(pads->size()) + " elements, expected " + Twine(2 * spatial));
  if (pads && window && !isSame)
    window->pads.assign(pads->begin(), pads->end());
  SmallVector<int64_t> extra = node.findInts("output_padding").value_or(SmallVector<int64_t>(spatial, 0));
  auto outputShape = node.findInts("output_shape");
  if (node.failed() || !window)
    return failure();
  if (extra.size() != spatial || window->strides.size() != spatial || window->dilations.size() != spatial || (outputShape && outputShape->size() != spatial))
    return node.error("strides, dilations, output_padding or output_shape have a wrong length");
  if (llvm::any_of(extra, [](int64_t size) { return size < 0; }))
    return node.error("output_padding is negative");
  for (size_t i = 0; i < spatial; ++i)
    if (extra[i] >= std::max(window->strides[i], window->dilations[i]))
      return node.error("output_padding has " + Twine(extra[i]) + ", expected less than the stride or dilation of its axis");
  constexpr StringRef mismatch = "the weight has a different number of input channels than the input";
  if (nn::getConstantDim(in[1]) && !nn::getConstantDim(shape[0]) && node.unify(in[1], shape[0], mismatch)) {
    shape[0] = in[1];
    weight = node.reshape(weight, shape);
  }
  auto channels = nn::getConstantDim(shape[0]);
  if (!channels || !nn::getConstantDim(shape[1]))
    return node.unsupported("a weight with a symbolic number of channels", "make the dimension static with --dim");
  if (*channels % groups)
    return node.error(Twine(*channels) + " input channels are not a multiple of " + Twine(groups) + " groups");
  if (isSame || outputShape)
    padToShape(node, *window, in, extra, outputShape, automatic == "SAME_UPPER" || (node.opset < 11 && !isSame));
  if (!node.unify(in[1], shape[0], mismatch))
    return failure();
  in[1] = shape[0];
  x = node.reshape(x, in);
  for (size_t i = 0; i < spatial; ++i)
    out.push_back((in[2 + i] - 1) * window->strides[i] + (extra[i] + window->reach(i) - window->begin(i) - window->end(i)));
  RankedTensorType type = node.type(out, node.elementType(x));
  if (node.failed())
    return failure();
  Value result = node.make<ConvTransposeOp>(type, x, weight, window->strides, window->dilations, window->pads, groups, Layout::ChannelsFirst);
  return node.result(addChannelBias(node, result, bias));
}

static LogicalResult convTranspose(Node &node) { return transposeConvolution(node, node.optionalInput(2), std::nullopt); }

/// com.microsoft's, whose pads are an input.
static LogicalResult convTransposeWithDynamicPads(Node &node) {
  auto pads = node.hasInput(2) ? node.constantIntegers(2, "Pads") : std::nullopt;
  return node.failed() ? failure() : transposeConvolution(node, node.optionalInput(3), pads);
}

namespace {
/// The attributes of Col2Im, a number for each spatial dimension; pads has two.
struct ImageBlocks {
  DimExprs image;
  SmallVector<int64_t> block, strides, dilations, pads;
  /// The number of elements of a block.
  int64_t size;

  /// The places where a block may begin along a dimension, less one and before the stride divides them.
  AffineExpr room(size_t i) const { return nn::simplifyDim(image[i] + (pads[i] + pads[image.size() + i] - dilations[i] * (block[i] - 1) - 1)); }
};
} // namespace

/// Blocks of an image of static sizes.
static LogicalResult addBlocks(Node &node, Value x, const ImageBlocks &blocks) {
  DimExprs dims = node.dims(x), in, out{dims[0], nn::simplifyDim(dims[1].floorDiv(blocks.size))};
  for (size_t i = 0; i < blocks.image.size(); ++i) {
    int64_t room = *nn::getConstantDim(blocks.room(i));
    in.push_back(node.number(room < 0 ? 0 : room / blocks.strides[i] + 1));
    out.push_back(blocks.image[i]);
  }
  if (!node.unify(dims[2], nn::getNumElements(in, node.context()), "the number of blocks does not fit the image"))
    return failure();
  Type element = node.elementType(x), wide = node.builder().getF64Type(), computed = element == wide ? wide : node.builder().getF32Type();
  x = node.cast(x, computed);
  RankedTensorType type = node.type(out, computed);
  if (node.failed())
    return failure();
  return node.result(node.cast(node.make<Col2ImOp>(type, x, blocks.block, blocks.strides, blocks.dilations, blocks.pads), element));
}

/// Blocks of an image of symbolic sizes: the transpose of a convolution whose weight picks one element of the block for each channel.
static LogicalResult transposeBlocks(Node &node, Value x, const ImageBlocks &blocks, int64_t channels) {
  size_t spatial = blocks.image.size();
  SmallVector<int64_t> pads = blocks.pads;
  DimExprs dims = node.dims(x), in{dims[0], dims[1]}, reached{dims[0], node.number(channels)};
  SmallVector<AffineExpr> unreached(2 + spatial, node.number(0)), before = unreached;
  for (size_t i = 0; i < spatial; ++i) {
    AffineExpr room = blocks.room(i);
    auto known = nn::getConstantDim(room);
    if (!known)
      node.requireNotNegative(room, "the image is smaller than a block");
    in.push_back(known.value_or(0) < 0 ? node.number(0) : nn::simplifyDim(room.floorDiv(blocks.strides[i]) + 1));
    // Elements that no block reaches lie outside the transpose's result, as if more had been cut off. Of a symbolic size, they are cut or added afterwards.
    if (known && *known >= 0)
      pads[spatial + i] -= *known % blocks.strides[i];
    else if (!known)
      unreached[2 + i] = nn::simplifyDim(room % blocks.strides[i] - std::exchange(pads[spatial + i], 0));
    reached.push_back(nn::simplifyDim(blocks.image[i] - unreached[2 + i]));
  }
  if (!node.unify(dims[2], nn::getNumElements(ArrayRef(in).drop_front(2), node.context()), "the number of blocks does not fit the image"))
    return failure();
  SmallVector<int64_t> shape = {channels * blocks.size, 1};
  llvm::append_range(shape, blocks.block);
  SmallVector<float> picks(channels * blocks.size * blocks.size, 0.0f);
  for (int64_t row = 0; row < channels * blocks.size; ++row)
    picks[row * blocks.size + row % blocks.size] = 1;
  Value weight = node.cast(node.constant(nn::makeConstantOf<float>(RankedTensorType::get(shape, node.builder().getF32Type()), picks)), node.elementType(x));
  RankedTensorType type = node.type(reached, node.elementType(x));
  x = node.reshape(x, in);
  if (node.failed())
    return failure();
  Value image = node.make<ConvTransposeOp>(type, x, weight, blocks.strides, blocks.dilations, pads, channels, Layout::ChannelsFirst);
  bool isWhole = llvm::all_of(unreached, [](AffineExpr amount) { return nn::getConstantDim(amount) == 0; });
  return node.result(isWhole ? image : node.pad(image, before, unreached, PadMode::Constant, node.splat({}, node.elementType(x), 0)));
}

/// Adds overlapping blocks up where they came from.
static LogicalResult col2Im(Node &node) {
  Value x = node.input(0);
  auto image = node.knownIntegers(1, "image_shape");
  auto block = node.constantIntegers(2, "block_shape");
  if (!image || !block || !node.expectRank(x, 3, "the input"))
    return failure();
  size_t spatial = image->size();
  SmallVector<int64_t> ones(spatial, 1), none(2 * spatial, 0);
  ImageBlocks blocks{DimExprs(*image), SmallVector<int64_t>(*block), node.findInts("strides").value_or(ones), node.findInts("dilations").value_or(ones),
                     node.findInts("pads").value_or(none), 0};
  auto within = [](ArrayRef<int64_t> list, int64_t least, int64_t most) { return llvm::all_of(list, [&](int64_t n) { return n >= least && n <= most; }); };
  auto imageFits = [](AffineExpr n) { return !nn::getConstantDim(n) || (*nn::getConstantDim(n) >= 0 && *nn::getConstantDim(n) <= INT32_MAX); };
  constexpr int64_t mostTaps = 65536;
  bool fits = !node.failed() && spatial >= 1 && spatial <= 3 && block->size() == spatial && blocks.dilations.size() == spatial &&
              blocks.strides.size() == spatial && blocks.pads.size() == 2 * spatial && within(*block, 1, mostTaps) && within(blocks.strides, 1, INT32_MAX) &&
              within(blocks.dilations, 1, INT32_MAX) && llvm::all_of(blocks.image, imageFits) && within(blocks.pads, INT32_MIN, INT32_MAX);
  blocks.size = fits ? std::accumulate(block->begin(), block->end(), int64_t(1), std::multiplies<>()) : 0;
  if (blocks.size < 1 || blocks.size > mostTaps)
    return node.error("expected image_shape, block_shape, dilations, strides and pads of one to three positive numbers each");
  auto channels = nn::getConstantDim(node.dims(x)[1]);
  if (!channels || *channels % blocks.size)
    return node.error("the input's channels must be static and whole blocks");
  bool isStatic = llvm::all_of(blocks.image, [](AffineExpr n) { return nn::getConstantDim(n).has_value(); });
  return isStatic ? addBlocks(node, x, blocks) : transposeBlocks(node, x, blocks, *channels / blocks.size);
}

/// A depthwise convolution over time that sees the past only; the last inputs are the state for the next call. That of com.microsoft may have its channels
/// last, and steps between what it sees.
static LogicalResult causalConvWithState(Node &node) {
  bool isLast = node.getFlag("channels_last");
  Value x = isLast ? toChannelsFirst(node, node.input(0)) : node.input(0), weight = node.input(1), bias = node.optionalInput(2), past = node.optionalInput(3);
  std::string activation = node.getString("activation", "none");
  int64_t dilation = node.getInt("dilation", 1);
  if (activation != "none" && activation != "silu" && activation != "swish")
    return node.error("attribute 'activation' is '" + activation + "', expected none, silu or swish");
  if (node.getInt("ndim", 1) != 1 || node.getInt("state_window", 0) > 0)
    return node.unsupported("more than one spatial dimension, or states after each of the last steps", "export the model with ndim = 1 and state_window = 0");
  if (!node.expectRank(x, 3, "the input") || !node.expectRank(weight, 3, "the weight"))
    return failure();
  DimExprs dims = node.dims(x), shape = node.dims(weight);
  auto kernel = nn::getConstantDim(shape[2]), channels = nn::getConstantDim(dims[1]);
  if (!kernel || !channels || *kernel < 1 || nn::getConstantDim(shape[0]) != channels || nn::getConstantDim(shape[1]) != 1)
    return node.error("expected a weight [C, 1, K] with static sizes for an input [N, C, L]");
  int64_t reach = (*kernel - 1) * dilation;
  DimExprs state = {dims[0], dims[1], node.number(reach)};
  if (past)
    past = alignDims(node, isLast ? toChannelsFirst(node, past) : past, state, "the past state does not have the shape [N, C, K - 1]");
  Value window = reach == 0 ? x : node.concat({past ? past : node.splat(state, node.elementType(x), 0), x}, 2);
  int64_t one[] = {1}, dilations[] = {dilation}, pads[] = {0, 0};
  RankedTensorType type = node.type(dims, node.elementType(x));
  if (node.failed() || node.elementType(weight) != node.elementType(x))
    return node.error("input and weight have different element types");
  Value result = node.make<ConvOp>(type, window, weight, one, dilations, pads, *channels, Layout::ChannelsFirst);
  result = addChannelBias(node, result, bias);
  if (activation != "none")
    result = node.unary<SwishOp>(result, node.builder().getF64FloatAttr(1));
  Value present = node.slice(window, 2, dims[2], node.number(reach));
  (void)node.result(0, isLast ? toChannelsLast(node, result) : result);
  return node.result(1, isLast ? toChannelsLast(node, present) : present);
}

ArrayRef<Operator> getConvolutionOperators() {
  static const Operator rows[] = {
      {"ByteConv", 1, Elements::Integer, byteConv, INT64_MAX, "kiln"},
      asComposite({"CausalConvWithState", 27, Elements::Float, causalConvWithState}),
      asComposite({"CausalConvWithState", 1, Elements::Float, causalConvWithState, INT64_MAX, "com.microsoft"}),
      {"Col2Im", 18, Elements::Float, col2Im},
      {"Conv", 1, Elements::Float, conv},
      {"ConvTranspose", 1, Elements::Float, convTranspose},
      {"ConvTransposeWithDynamicPads", 1, Elements::Float, convTransposeWithDynamicPads, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
