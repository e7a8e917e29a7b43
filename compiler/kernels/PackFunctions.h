//===- PackFunctions.h - What packs the right side of a product -----------------===//
#ifndef KILN_COMPILER_KERNELS_PACKFUNCTIONS_H
#define KILN_COMPILER_KERNELS_PACKFUNCTIONS_H

#include "compiler/kernels/KernelHeader.h"

namespace kiln {

/// The two functions of a kernel with a packed operand, a matrix or the filters of a convolution: how many bytes it has, and what writes them.
class PackFunctions {
public:
  /// `name` is that of the kernel's function.
  PackFunctions(llvm::StringRef name, const CompiledKernel &kernel);

  std::string comment() const;
  std::string declareSize() const;
  std::string declarePack() const;
  std::string define() const;
  /// `NAME_panels()`, the panels of the target that runs, or null; and the bytes before the sums of columns in `NAME_panels()`'s form.
  std::string panelsFunction() const { return prefix + "_panels"; }
  std::string panelBytes() const;
  /// The name of the function that packs.
  std::string packFunction() const { return prefix; }

private:
  std::string checkSizes(llvm::StringRef fault) const;
  std::string setDerived(llvm::StringRef fault) const;
  /// Whether the operand is a convolution's weight, or one of blocks with scales, no matrix.
  bool hasSums() const;
  bool isFilters() const { return matrix->dims.size() > 2 && !scales; }
  std::string countFilters() const;
  std::string packFilters(llvm::StringRef type) const;
  std::string packMatrix(llvm::StringRef type) const;
  std::string packBlocks() const;
  std::string countBlocks() const;
  std::string orderParameter() const;

  const CompiledKernel &kernel;
  /// gemm_f32_packed, and gemm_f32_pack beside it.
  std::string function, prefix;
  const SignatureTensor *matrix = nullptr;
  /// The scales of its blocks, if it has any.
  const SignatureTensor *scales = nullptr;
  /// C text of its first two sizes, and the parameters of those that the caller gives.
  std::string rows, columns;
  /// The groups of a convolution, and the size that follows from them, if it does.
  const DerivedSize *derived = nullptr;
  std::vector<const SignatureSymbol *> sizes;
  std::vector<std::string> parameters;
};

/// The name of the function that packs for the kernel's function of this name: gemm_f32_pack for gemm_f32_packed.
std::string packFunctionOf(llvm::StringRef function);

/// The panels that the layout of a packed input says, "packed 32x4": width and depth. Nullopt: it is another one.
std::optional<std::pair<int64_t, int64_t>> readPanels(llvm::StringRef layout);

} // namespace kiln

#endif // KILN_COMPILER_KERNELS_PACKFUNCTIONS_H
