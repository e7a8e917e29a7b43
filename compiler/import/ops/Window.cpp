//===- Window.cpp - The sliding window of convolutions and pools -------------===//
#include "compiler/import/ops/Window.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::import {

/// Attribute values beyond this serve no model and overflow arithmetic.
static constexpr int64_t sizeLimit = int64_t(1) << 31;

static SmallVector<int64_t> readSizes(Node &node, StringRef name, size_t count, int64_t fallback, int64_t least) {
  SmallVector<int64_t> values = node.findInts(name).value_or(SmallVector<int64_t>(count, fallback));
  if (values.size() != count)
    (void)node.error("attribute '" + name + "' has " + Twine(values.size()) + " entries, expected " + Twine(count));
  for (int64_t value : values)
    if (value < least || value > sizeLimit)
      (void)node.error("attribute '" + name + "' has the entry " + Twine(value) + ", expected at " +
                       (value < least ? "least " + Twine(least) : "most " + Twine(sizeLimit)));
  return node.failed() ? SmallVector<int64_t>(count, std::max<int64_t>(fallback, least)) : values;
}

/// SAME_UPPER and SAME_LOWER: ceil(size / stride) results, with the odd element of the border at the end or the beginning.
static void padSame(Node &node, Window &window, ArrayRef<AffineExpr> input, bool upper, bool pads) {
  size_t rank = window.rank();
  for (size_t i = 0; i < rank; ++i) {
    auto size = nn::getConstantDim(input[2 + i]);
    // With stride one the border does not depend on the size.
    if (!size && window.strides[i] != 1) {
      if (!pads) {
        (void)node.unsupported("auto_pad SAME on a symbolic dimension with a stride", "make the dimension static with --dim");
        return;
      }
      window.low.resize(rank, node.number(0));
      window.high.resize(rank, node.number(0));
      AffineExpr total = window.reach(i) - 1 - (input[2 + i] - 1) % window.strides[i];
      if (window.reach(i) < window.strides[i])
        total = nn::getPositivePart(total);
      window.low[i] = nn::simplifyDim(upper ? total.floorDiv(2) : total.ceilDiv(2));
      window.high[i] = nn::simplifyDim(total - window.low[i]);
      continue;
    }
    int64_t total = window.reach(i) - 1;
    if (size)
      total = (llvm::divideCeilSigned(*size, window.strides[i]) - 1) * window.strides[i] + window.reach(i) - *size;
    total = std::max<int64_t>(total, 0);
    window.pads[i] = upper ? total / 2 : total - total / 2;
    window.pads[rank + i] = total - window.pads[i];
  }
}

Value padInput(Node &node, Value input, Window &window, DimExprs &dims, double fill) {
  if (window.low.empty())
    return input;
  DimExprs low(2, node.number(0)), high = low;
  for (size_t i = 0; i < window.rank(); ++i) {
    // All borders together, so that the window has none of its own.
    low.push_back(window.low[i] + window.begin(i));
    high.push_back(window.high[i] + window.end(i));
    dims[2 + i] = nn::simplifyDim(dims[2 + i] + low.back() + high.back());
  }
  window.pads.assign(2 * window.rank(), 0);
  window.low.clear();
  window.high.clear();
  return node.pad(input, low, high, nn::PadMode::Constant, node.splat({}, node.elementType(input), fill));
}

std::optional<Window> readWindow(Node &node, Value input, std::optional<SmallVector<int64_t>> kernel, bool pads, int64_t most) {
  int64_t rank = node.rank(input);
  if (rank < 3 || rank > 2 + most) {
    (void)node.error("the input has rank " + Twine(rank) + ", expected [N, C] and one to three spatial dimensions");
    return std::nullopt;
  }
  size_t spatial = rank - 2;
  Window window;
  if (auto given = node.findInts("kernel_shape")) {
    if (kernel && *given != *kernel)
      (void)node.error("attribute 'kernel_shape' differs from the weight's shape");
    window.kernel = readSizes(node, "kernel_shape", spatial, 1, 1);
  } else if (kernel) {
    window.kernel = *kernel;
  } else {
    (void)node.error("attribute 'kernel_shape' is missing");
  }
  if (window.kernel.size() != spatial && !node.failed())
    (void)node.error("the kernel has " + Twine(window.kernel.size()) + " spatial dimensions, the input " + Twine(spatial));
  window.strides = readSizes(node, "strides", spatial, 1, 1);
  window.dilations = readSizes(node, "dilations", spatial, 1, 1);
  window.pads = readSizes(node, "pads", 2 * spatial, 0, 0);
  std::string automatic = node.getString("auto_pad", "NOTSET");
  if (node.failed())
    return std::nullopt;
  // Exporters write zeros beside it.
  if (automatic != "NOTSET" && llvm::any_of(window.pads, [](int64_t pad) { return pad != 0; }))
    (void)node.error("attributes 'pads' and 'auto_pad' are given both");
  if (automatic == "VALID")
    window.pads.assign(2 * spatial, 0);
  else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    padSame(node, window, node.dims(input), automatic == "SAME_UPPER", pads);
  else if (automatic != "NOTSET" && !automatic.empty())
    (void)node.error("attribute 'auto_pad' is '" + automatic + "', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  return node.failed() ? std::nullopt : std::optional(window);
}

int64_t Window::cut(size_t i) const { return std::clamp<int64_t>(strides[i] - reach(i) + end(i), 0, strides[i]); }

void Window::padOverhang() {
  for (size_t i = 0; isCeil && i < rank(); ++i)
    pads[rank() + i] += strides[i] - 1 - cut(i);
  isCeil = false;
}

DimExprs Window::outputDims(Node &node, ArrayRef<AffineExpr> input) const {
  DimExprs result;
  for (size_t i = 0; i < rank(); ++i) {
    AffineExpr room = nn::simplifyDim(input[2 + i] + (begin(i) + end(i) - reach(i)));
    auto space = nn::getConstantDim(room);
    if (space && *space < 0)
      (void)node.error("the kernel reaches over " + Twine(reach(i)) + " elements, but dimension " + Twine(2 + i) + " has only " +
                       Twine(*space + reach(i)) + " with its padding");
    else
      node.requireNotNegative(room, "the kernel is larger than the padded input");
    AffineExpr count = (isCeil ? (room - cut(i)).ceilDiv(strides[i]) : room.floorDiv(strides[i])) + 1;
    result.push_back(nn::simplifyDim(count));
  }
  return result;
}

} // namespace kiln::import
