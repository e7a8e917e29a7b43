//===- NumberArithmetic.h - Arithmetic on sizes and real numbers -----------===//
#ifndef KILN_COMPILER_IMPORT_NUMBERARITHMETIC_H
#define KILN_COMPILER_IMPORT_NUMBERARITHMETIC_H

#include "compiler/import/Contents.h"

namespace kiln::import {

/// Numbers whose expressions have very many parts count as unknown: no real model has them, and comparing them would take long.
bool isTooComplex(const Number &number);

/// A number of a tensor as an expression with a divisor, a power of two for real numbers; nullopt for infinities, NaN and those that do not fit 64 bits.
std::optional<Number> toRational(const Number &number, mlir::MLIRContext *context);

/// An upper bound of the magnitude of an expression: a symbol without bounds is at most the number that a run refuses otherwise. nullopt: beyond 64 bits.
std::optional<int64_t> getMagnitude(mlir::AffineExpr expr, const nn::DimFacts &facts);

/// Whether the element of a tensor of f32 or f64 is what Number says. A quotient that is rounded once lies on the same side of each whole number as the exact
/// one, if the numerator is below the precision and the divisor, which is whole, at most that.
bool isFaithful(const Number &number, mlir::Type element, const nn::DimFacts &facts);

/// The exact difference of two numbers as a tensor of these elements holds it; nullopt if it is rounded, or may be.
std::optional<Number> subtract(const Number &x, const Number &y, mlir::Type element, const nn::DimFacts &facts);

/// One element of the result of an element-wise operation, in the arithmetic of its types; nullopt if it cannot be written down.
std::optional<Number> computeNumber(mlir::Operation *op, llvm::ArrayRef<Number> arguments, const nn::DimFacts &facts);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_NUMBERARITHMETIC_H
