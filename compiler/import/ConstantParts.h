//===- ConstantParts.h - Parts of a model that constants decide ------------===//
#ifndef KILN_COMPILER_IMPORT_CONSTANTPARTS_H
#define KILN_COMPILER_IMPORT_CONSTANTPARTS_H

#include "compiler/import/Import.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"

namespace kiln::import {

class SymbolicSizes;

/// The results of parts that were run, by the hash of the part. An import repeats itself under other assumptions and asks again.
using PartResults = llvm::StringMap<std::vector<mlir::ElementsAttr>>;

/// Computes values that follow from constants alone, when the import needs their elements: by an interpreter of small operations, or by a compiled part.
class ConstantParts {
public:
  ConstantParts(const ImportOptions &options, const SymbolicSizes &sizes, PartResults &known) : options(options), sizes(sizes), known(known) {}

  /// Whether constants alone decide the elements.
  static bool decide(mlir::Value value);
  /// Whether an input of the model, or of a body, decides elements of the value.
  static bool readsInputs(mlir::Value value);
  /// The elements of a tensor of numbers; null if an input, a symbolic dimension or a random number decides them, or if the part takes too much work.
  mlir::ElementsAttr compute(mlir::Value value);
  /// compute() for several values, which may have sizes that the data of constants decide. Empty, or one for each.
  std::vector<mlir::ElementsAttr> computeAll(llvm::ArrayRef<mlir::Value> values);

private:
  std::vector<mlir::ElementsAttr> run(llvm::ArrayRef<mlir::Operation *> part, llvm::ArrayRef<mlir::Value> values);

  const ImportOptions &options;
  const SymbolicSizes &sizes;
  PartResults &known;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_CONSTANTPARTS_H
