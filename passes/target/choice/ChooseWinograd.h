//===- ChooseWinograd.h - Forms of 3x3 convolutions ------------------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_CHOOSEWINOGRAD_H
#define KILN_PASSES_TARGET_CHOICE_CHOOSEWINOGRAD_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include <string>

namespace kiln {

/// The work of a 3x3 convolution as profiles name it. Its form, direct or Winograd's, is chosen before there are groups; a plan says `winograd`, or not.
std::string describeForms(mlir::Type input, mlir::Type result);
/// The forms that are worth measuring for the convolution of a group, its own first; none where only one is possible.
llvm::SmallVector<kernel::PlanAttr> listForms(nn::GroupOp group, kernel::TargetAttr target);


/// Whether Winograd's form of a convolution of f32 is faster than the direct one with factors of that type. Its padding may still be its own.
bool isWinogradFaster(nn::ConvOp conv, kernel::TargetAttr target, mlir::Type factor);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_CHOOSEWINOGRAD_H
