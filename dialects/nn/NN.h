//===- NN.h - The nn dialect -----------------------------------------------===//
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

#define GET_OP_CLASSES
#include "dialects/nn/NNOps.h.inc"

namespace kiln::nn {

/// Whether the element type is that of strings: i128, whose bits are a kiln_string.
bool isString(mlir::Type elementType);

/// Names of the discardable attributes that the dialect defines (see NNBase.td).
inline constexpr llvm::StringLiteral modelAttrName = "nn.model";
inline constexpr llvm::StringLiteral symbolsAttrName = "nn.symbols";
inline constexpr llvm::StringLiteral constraintsAttrName = "nn.constraints";
inline constexpr llvm::StringLiteral computedSymbolsAttrName = "nn.computed_symbols";
inline constexpr llvm::StringLiteral nameAttrName = "nn.name";
inline constexpr llvm::StringLiteral nodeAttrName = "nn.node";
inline constexpr llvm::StringLiteral rangeAttrName = "nn.range";
inline constexpr llvm::StringLiteral symbolBoundsAttrName = "nn.symbol_bounds";
inline constexpr llvm::StringLiteral accuracyAttrName = "nn.accuracy";
inline constexpr llvm::StringLiteral transposesAttrName = "nn.transposes";
inline constexpr llvm::StringLiteral specialSizesAttrName = "nn.special_sizes";
inline constexpr llvm::StringLiteral askedInPlaceAttrName = "nn.asked_in_place";

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_NN_H
