//===- ControlFlow.h - Values in operators with bodies --------------===//
#ifndef KILN_COMPILER_IMPORT_CONTROLFLOW_H
#define KILN_COMPILER_IMPORT_CONTROLFLOW_H

#include "dialects/nn/Dims.h"
#include "mlir/IR/Value.h"

namespace kiln::import {

/// The known value of a scalar.
std::optional<int64_t> knownScalar(mlir::Value value);

/// A shape as printed in messages: [2, s0].
std::string describeShape(const nn::DimExprs &dims);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_CONTROLFLOW_H
