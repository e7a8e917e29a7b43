//===- ClassLabels.cpp - Labels of an output's classes -----------------------===//
#include "dialects/nn/ClassLabels.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln::nn {

Attribute ClassLabels::toAttribute(MLIRContext *context) const {
  Builder b(context);
  SmallVector<StringRef> texts(strings.begin(), strings.end());
  NamedAttrList fields;
  fields.append("axis", b.getI64IntegerAttr(axis));
  fields.append("labels", strings.empty() ? Attribute(b.getDenseI64ArrayAttr(integers)) : b.getStrArrayAttr(texts));
  return fields.getDictionary(context);
}

std::optional<ClassLabels> readLabels(Attribute attribute) {
  auto fields = dyn_cast_or_null<DictionaryAttr>(attribute);
  auto axis = fields ? fields.getAs<IntegerAttr>("axis") : IntegerAttr();
  if (!axis || axis.getInt() < -1)
    return std::nullopt;
  ClassLabels labels{axis.getInt(), {}, {}};
  if (auto integers = fields.getAs<DenseI64ArrayAttr>("labels"))
    labels.integers = integers.asArrayRef().vec();
  else if (auto strings = fields.getAs<ArrayAttr>("labels"); strings && llvm::all_of(strings, llvm::IsaPred<StringAttr>))
    for (auto text : strings.getAsRange<StringAttr>())
      labels.strings.push_back(text.str());
  return labels.size() ? std::optional(std::move(labels)) : std::nullopt;
}

} // namespace kiln::nn
