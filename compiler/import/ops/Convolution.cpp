//===- Convolution.cpp - Conv and ConvTranspose ------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Window.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The kernel's spatial sizes, from the weight [.., .., spatial...]; nullopt after an error.
static std::optional<SmallVector<int64_t>> kernelSizes(Node &node, Value x, Value weight) {
  if (!node.expectRank(weight, node.rank(x), "the weight"))
    return std::nullopt;
  SmallVector<int64_t> sizes;
  for (AffineExpr dim : ArrayRef(node.dims(weight)).drop_front(2)) {
    auto size = nn::getConstantDim(dim);
    if (!size)
      (void)node.unsupported("the weight has a symbolic kernel size", "make the dimension static with --dim");
    else if (*size < 1)
      (void)node.error("the weight has an empty kernel");
    sizes.push_back(size.value_or(1));
  }
  return node.failed() ? std::nullopt : std::optional(sizes);
}

/// Adds a bias [C] to [N, C, spatial...].
static Value addBias(Node &node, Value result, Value bias) {
  if (!bias || node.failed() || !node.expectRank(bias, 1, "the bias"))
    return result;
  DimExprs dims = node.dims(result), shape(dims.size(), node.number(1));
  shape[1] = node.dims(bias)[0];
  if (!node.unify(shape[1], dims[1], "the bias and the result have different numbers of channels"))
    return result;
  return node.binary<AddOp>(result, node.broadcastTo(node.reshape(bias, shape), dims));
}

static int64_t readGroups(Node &node) {
  int64_t groups = node.getInt("group", 1);
  if (groups < 1)
    (void)node.error("attribute 'group' is " + Twine(groups) + ", expected a positive number");
  return std::max<int64_t>(groups, 1);
}

Value buildConvolution(Node &node, Value x, Value weight) {
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
  auto window = kernel ? readWindow(node, x, kernel) : std::nullopt;
  if (!window)
    return {};
  DimExprs in = node.dims(x), shape = node.dims(weight), out{in[0], shape[0]};
  auto outChannels = nn::getConstantDim(shape[0]), inChannels = nn::getConstantDim(in[1]), perGroup = nn::getConstantDim(shape[1]);
  if (inChannels && perGroup && *inChannels != *perGroup * groups)
    return fail("weight has " + Twine(*perGroup * groups) + " input channels in " + Twine(groups) + " groups, but the input has " + Twine(*inChannels));
  if (outChannels && *outChannels % groups)
    return fail(Twine(*outChannels) + " output channels are not a multiple of " + Twine(groups) + " groups");
  if (node.elementType(x) != node.elementType(weight))
    return fail("input and weight have different element types");
  if (!node.unify(in[1], shape[1] * groups, "input channels differ from the weight's"))
    return {};
  in[1] = shape[1] * groups;
  x = node.reshape(x, in);
  out.append(window->outputDims(node, in));
  RankedTensorType type = node.type(out, node.elementType(x));
  if (node.failed())
    return {};
  return node.make<ConvOp>(type, x, weight, window->strides, window->dilations, window->pads, groups, Layout::ChannelsFirst);
}

static LogicalResult conv(Node &node) {
  Value result = buildConvolution(node, node.input(0), node.input(1));
  return result ? node.result(addBias(node, result, node.optionalInput(2))) : failure();
}

/// The borders that give the wanted spatial sizes: output_shape, or auto_pad SAME (size * stride).
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
    window.pads[i] = upper ? half : total - half;
    window.pads[window.rank() + i] = total - window.pads[i];
  }
}

static LogicalResult convTranspose(Node &node) {
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
  SmallVector<int64_t> extra = node.findInts("output_padding").value_or(SmallVector<int64_t>(spatial, 0));
  auto outputShape = node.findInts("output_shape");
  if (node.failed() || !window)
    return failure();
  if (extra.size() != spatial || window->strides.size() != spatial || window->dilations.size() != spatial || (outputShape && outputShape->size() != spatial))
    return node.error("strides, dilations, output_padding or output_shape have a wrong length");
  if (isSame || outputShape)
    padToShape(node, *window, in, extra, outputShape, automatic != "SAME_LOWER");
  if (!node.unify(in[1], shape[0], "the weight has a different number of input channels than the input"))
    return failure();
  for (size_t i = 0; i < spatial; ++i)
    out.push_back((in[2 + i] - 1) * window->strides[i] + (extra[i] + window->reach(i) - window->begin(i) - window->end(i)));
  RankedTensorType type = node.type(out, node.elementType(x));
  if (node.failed())
    return failure();
  Value result = node.make<ConvTransposeOp>(type, x, weight, window->strides, window->dilations, window->pads, groups, Layout::ChannelsFirst);
  return node.result(addBias(node, result, node.optionalInput(2)));
}

ArrayRef<Operator> getConvolutionOperators() {
  static const Operator rows[] = {
      {"Conv", 1, Elements::Float, conv},
      {"ConvTranspose", 1, Elements::Float, convTranspose},
  };
  return rows;
}

} // namespace kiln::import
