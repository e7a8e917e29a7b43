//===- LibraryMapping.h - Which operations go to a library -----------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_LIBRARYMAPPING_H
#define KILN_PASSES_TARGET_CHOICE_LIBRARYMAPPING_H

#include "dialects/kernel/Kernel.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace kiln {

/// What the libraries of a target say to an operation.
struct LibraryAnswer {
  llvm::StringRef library;
  bool takes;
  /// The target names the operation, or all; not only what is faster.
  bool isAsked;
  /// Why it takes the operation, or why not; a few words.
  std::string reason;
};

/// nullopt when the target lists no library that has operations of this kind.
std::optional<LibraryAnswer> askLibraries(mlir::Operation *op, kernel::TargetAttr target);

/// Whether a library of its target takes the operation. It is then left as it is: no explicit padding, no Winograd form, no other anchors in its group.
bool goesToLibrary(mlir::Operation *op);

/// Whether the library is asked for Winograd's form of a convolution, which rounds in another way.
bool usesLibraryWinograd(mlir::Operation *op);

/// Whether `next`, which reads the result of `last`, can go with `anchor`, for which a library is taken: a bias behind the anchor, then a relu.
bool goesAlong(mlir::Operation *anchor, mlir::Operation *last, mlir::Operation *next);

/// The dimension of a result that a bias is along: columns, or output channels.
unsigned getBiasDim(mlir::Operation *anchor);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_LIBRARYMAPPING_H
