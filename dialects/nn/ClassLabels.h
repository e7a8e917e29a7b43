//===- ClassLabels.h - Labels of an output's classes -------------------------===//
//
// What the classes of a classifier are, in their order, on a result of @main:
//   nn.labels = {axis = 1 : i64, labels = array<i64: 0, 5>}        or labels = ["cat", "dog"]
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_CLASSLABELS_H
#define KILN_DIALECTS_NN_CLASSLABELS_H

#include "mlir/IR/BuiltinAttributes.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln::nn {

/// Labels that are all integers or all strings.
struct ClassLabels {
  /// The dimension that has an index for each label; -1: the elements are labels.
  int64_t axis = -1;
  std::vector<int64_t> integers;
  std::vector<std::string> strings;

  size_t size() const { return integers.size() + strings.size(); }
  mlir::Attribute toAttribute(mlir::MLIRContext *context) const;
};

/// Nullopt if the attribute is malformed.
std::optional<ClassLabels> readLabels(mlir::Attribute attribute);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_CLASSLABELS_H
