//===- BoundedWeights.h - Products of bytes whose sums of two fit 16 bits --===//
//
// Weights without a sign are safe if they have seven bits: two products by -128 are above -32768.
//
// Where the CPU has no instruction for four products of bytes, it has one for two that saturates: weights w and v are safe with it, whatever the activations,
// if 255 (w + v), counting positive weights only, is at most 32767, and the same for negative ones. Weights are constants, so this is proved for each kernel.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_BOUNDEDWEIGHTS_H
#define KILN_PASSES_TARGET_CHOICE_BOUNDEDWEIGHTS_H

#include "dialects/kernel/Kernel.h"
#include "dialects/nn/NN.h"
#include <string>

namespace kiln {

/// Pairs of neighbours along a dimension, and how many of them are safe.
struct PairCount {
  int64_t safe = 0, all = 0;
};
PairCount countSafePairs(mlir::ElementsAttr weights, unsigned dimension);

/// The form of a step for safe weights; null: it has none.
kernel::StepAttr getBoundedForm(kernel::StepAttr step);

/// The step for weights without a sign that have so many bits: the form for safe weights if they are seven at most and `step` has one.
kernel::StepAttr chooseBoundedStep(kernel::StepAttr step, int64_t bits);

/// Why a step is not for weights without a sign that have so many bits; empty when it is.
std::string findBoundsFault(llvm::StringRef function, int64_t bits);

/// The step that takes the place of `step` if all pairs of the constant weights along that dimension are safe; otherwise, and for steps that have no such form,
/// `step`.
kernel::StepAttr chooseBoundedStep(kernel::StepAttr step, mlir::Value weights, unsigned dimension);

/// Why the step of a plan is not for these weights; empty when it is.
std::string findBoundsFault(kernel::PlanAttr plan, mlir::Value weights, unsigned dimension);

/// What the proof says, to be added to the reason for a kernel by `step`; empty for steps that need none.
std::string describeBounds(kernel::StepAttr step, mlir::Value weights, unsigned dimension);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_BOUNDEDWEIGHTS_H
