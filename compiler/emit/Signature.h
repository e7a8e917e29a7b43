//===- Signature.h - What a program sees of a model ------------------------===//
#ifndef KILN_COMPILER_EMIT_SIGNATURE_H
#define KILN_COMPILER_EMIT_SIGNATURE_H

#include "dialects/kernel/Kernel.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Sequences.h"
#include "dialects/nn/SymbolBounds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kiln {

/// An input or output.
struct SignatureTensor {
  std::string onnxName;
  /// The field of the generated struct.
  std::string field;
  mlir::RankedTensorType type;
  nn::DimExprs dims;
  /// What the user promised about the values.
  std::optional<std::pair<double, double>> range = std::nullopt;
  /// The inputs whose buffer an output may be.
  std::vector<unsigned> inPlaceOf = {};
  /// The most elements that it can have, when a dimension is one that the model computes; null otherwise.
  mlir::AffineExpr most = {};
};

/// A named dynamic dimension and the values it may take.
struct SignatureSymbol {
  std::string onnxName;
  std::string field;
  int64_t min;
  int64_t max;
  /// Its number in the module.
  unsigned position;
  /// The most that it can be, when the model computes it; null when the caller gives it.
  mlir::AffineExpr most = {};
};

/// Of a module that is a version for special sizes: a size for each symbol, or -1.
inline constexpr llvm::StringLiteral specialSizesAttrName = "nn.special_sizes";

/// A dimension and the size that a version of the model is for.
using SpecialSize = std::pair<std::string, int64_t>;

/// Everything that the generated header says, read from a module after the kernel stage. A library for several targets has one for each, and
/// one of the whole (mergeSignatures) that belongs to no module.
struct Signature {
  /// The prefix of all symbols, as an identifier and in upper case.
  std::string name;
  std::string macro;
  /// The target's name; of the whole, all names with commas between them.
  std::string target;
  /// The targets, and what a CPU must have to run them beyond its architecture's baseline: "avx avx2 fma". Empty for those that any CPU runs.
  std::vector<std::pair<std::string, std::string>> needs;
  /// What tells the symbols of one of several targets from the others': x86_64_v3. Empty when there is one target, and of the whole.
  std::string variant;
  /// Of the only target of a library: whether a CPU may lack what it needs, so that another unit asks before it calls this one's functions.
  bool isGuarded = false;
  /// What this is a version for, by the dimensions' fields; empty when it takes all sizes. Then, of the whole, those of all versions.
  std::vector<SpecialSize> special;
  /// It is a version for runs in which these expressions of the given symbols are zero, and what that means, for the names of its functions.
  nn::DimExprs zeros;
  std::string label;
  std::vector<std::vector<SpecialSize>> versions;
  std::vector<SignatureTensor> inputs;
  std::vector<SignatureTensor> outputs;
  /// Which of these are elements of sequences and optionals of the ONNX model.
  std::vector<nn::SequenceInfo> sequences;
  /// Those that the caller gives, then those that the model computes and its inputs or outputs mention.
  std::vector<SignatureSymbol> symbols;
  /// A handle: const methods of operations do not exist.
  mutable kernel::EntryOp entry;
  /// Bytes of workspace when they are known, or the function that computes them from the symbols.
  std::optional<int64_t> workspaceBytes;
  mutable mlir::func::FuncOp workspaceSize;
  /// Libraries whose functions the kernels call, sorted.
  std::vector<std::string> libraries;
  /// Whether it needs the context's hook for pictures.
  bool decodesImages = false;
  /// The most stack that a run takes; known once there are objects.
  std::optional<int64_t> stackBytes;
  int64_t weightsBytes = 0;
  uint64_t weightsChecksum = 0;
  /// Weights are a file of their own whose mapping the caller passes.
  bool externalWeights = false;

  /// Whether programs call its functions themselves, rather than those that choose or ask the CPU first.
  bool isWhole() const { return variant.empty() && !isGuarded; }
  bool isVersion() const { return !special.empty() || !zeros.empty(); }
  bool hasDims() const { return !symbols.empty(); }
  /// What element `tensor` is of a sequence, "element 2 of sequence 'x'"; empty when it is of none.
  std::string describeElement(size_t tensor, bool isOutput) const;
  llvm::ArrayRef<SignatureSymbol> givenSymbols() const;
  llvm::ArrayRef<SignatureSymbol> computedSymbols() const { return llvm::ArrayRef(symbols).drop_front(givenSymbols().size()); }
  /// The sizes of a symbol that versions of the model are for.
  std::set<int64_t> specialSizes(const SignatureSymbol &symbol) const;
  bool isDataSized() const { return !computedSymbols().empty(); }
  /// The symbol with this number in the module; null when programs do not see it.
  const SignatureSymbol *findSymbol(unsigned position) const;
  mlir::ModuleOp module() const { return entry->getParentOfType<mlir::ModuleOp>(); }
  /// `text` with the variant behind it, as the names of the target's own files and functions are made.
  std::string variantOf(llvm::StringRef text) const { return text.str() + (variant.empty() ? "" : "_" + variant); }
  /// `text` with the sizes behind it that this is a version for.
  std::string versionOf(llvm::StringRef text) const;
  /// The parameters of NAME_run and of NAME_workspace_size, and their names as arguments.
  std::vector<std::string> runParameters() const;
  std::string runArguments() const;
  std::string dimsParameter() const { return hasDims() ? "const " + name + "_dims *dims" : ""; }
  std::string runFunction() const { return versionOf(variantOf(name + "_run")) + (isGuarded ? "_guarded" : ""); }
  std::string workspaceFunction() const { return versionOf(variantOf(name + "_workspace_size")) + (isGuarded ? "_guarded" : ""); }
  std::string kernelHeader() const { return variantOf(name) + "_kernels.h"; }
  std::string weightsFile() const { return name + "_weights.bin"; }
};

/// Reads the signature; reports what is missing in the module. An empty `name` means the module's own.
mlir::FailureOr<Signature> readSignature(mlir::ModuleOp module, llvm::StringRef name);

/// What a program sees of a library for these targets: one signature, and a workspace that is large enough for each.
Signature mergeSignatures(llvm::ArrayRef<Signature> targets);

/// The C type behind a pointer in the generated structs: bool is uint8_t, f16 and bf16 are uint16_t.
std::string publicType(mlir::Type elementType);
/// f32, u8, bool...
std::string elementName(mlir::Type elementType);
/// KILN_ELEMENT_F32...
std::string elementEnumerator(mlir::Type elementType);
/// f32[1,3,batch].
std::string shapeText(const SignatureTensor &tensor, const Signature &signature);
/// A dimension as C text; `prefix` stands before the names of the symbols.
std::string dimText(mlir::AffineExpr expr, const Signature &signature, llvm::StringRef prefix);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SIGNATURE_H
