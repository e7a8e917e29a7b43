//===- TensorQuantization.cpp - Quantised tensors of a model's signature ------===//
#include "dialects/nn/TensorQuantization.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/QuantizedProducts.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln::nn {

Attribute TensorQuantization::toAttribute(MLIRContext *context) const {
  Builder b(context);
  NamedAttrList fields;
  fields.append("axis", b.getI64IntegerAttr(axis));
  fields.append("scales", b.getDenseF32ArrayAttr(scales));
  fields.append("zero_points", b.getDenseI64ArrayAttr(zeroPoints));
  return fields.getDictionary(context);
}

std::optional<TensorQuantization> readQuantization(Attribute attribute) {
  auto fields = dyn_cast_or_null<DictionaryAttr>(attribute);
  auto axis = fields ? fields.getAs<IntegerAttr>("axis") : IntegerAttr();
  auto scales = fields ? fields.getAs<DenseF32ArrayAttr>("scales") : DenseF32ArrayAttr();
  auto zeros = fields ? fields.getAs<DenseI64ArrayAttr>("zero_points") : DenseI64ArrayAttr();
  if (!axis || !scales || !zeros || axis.getInt() < -1 || scales.empty() || scales.size() != zeros.size() || (axis.getInt() < 0 && scales.size() != 1))
    return std::nullopt;
  return TensorQuantization{axis.getInt(), scales.asArrayRef().vec(), zeros.asArrayRef().vec()};
}

std::optional<TensorQuantization> describeQuantization(Operation *op) {
  if (!isa_and_nonnull<QuantizeOp, DequantizeOp>(op))
    return std::nullopt;
  Value scale = op->getOperand(1), zero = op->getOperand(2);
  auto one = getSplatNumber(scale), oneZero = getSplatNumber(zero);
  if (one && oneZero)
    return TensorQuantization{-1, {static_cast<float>(*one)}, {static_cast<int64_t>(*oneZero)}};
  for (unsigned axis = 0, rank = cast<RankedTensorType>(scale.getType()).getRank(); axis < rank; ++axis) {
    auto scales = getNumbersAlong(scale, axis), zeros = getNumbersAlong(zero, axis);
    if (!scales || !zeros)
      continue;
    size_t count = std::max(scales->size(), zeros->size());
    auto at = [](ArrayRef<double> numbers, size_t i) { return numbers[numbers.size() == 1 ? 0 : i]; };
    TensorQuantization result{axis, {}, {}};
    for (size_t i = 0; i < count; ++i) {
      result.scales.push_back(static_cast<float>(at(*scales, i)));
      result.zeroPoints.push_back(static_cast<int64_t>(at(*zeros, i)));
    }
    return result;
  }
  return std::nullopt;
}

} // namespace kiln::nn
