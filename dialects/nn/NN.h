//===- NN.h - The nn dialect: attributes, enums and interfaces -------------===//
//
// The operations have one header for each family, NN<Family>Ops.h, which is made from FamilyOps.h.in. A source includes those whose operations it names.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_NN_H
#define KILN_DIALECTS_NN_NN_H

#include "dialects/kernel/Kernel.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/nn/NNDialect.h.inc"
#include "dialects/nn/NNEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/nn/NNAttributes.h.inc"

#include "dialects/nn/NNInterfaces.h.inc"

namespace kiln::nn {

/// Whether the element type is that of strings: i128, whose bits are a kiln_string.
bool isString(mlir::Type elementType);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_NN_H
