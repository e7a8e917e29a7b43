//===- Signature.h - The interface of a compiled model ------------------------===//
#ifndef KILN_COMPILER_EMIT_SIGNATURE_H
#define KILN_COMPILER_EMIT_SIGNATURE_H

#include "compiler/ImageOptions.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Sequences.h"
#include "dialects/nn/SymbolBounds.h"
#include "dialects/nn/ClassLabels.h"
#include "dialects/nn/TensorQuantization.h"
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
  /// The range of the values that the user promised.
  std::optional<std::pair<double, double>> range = std::nullopt;
  /// What its integers stand for, if constants of the model say it.
  std::optional<nn::TensorQuantization> quantization = std::nullopt;
  /// What the classes of an output are, if it comes from a classifier.
  std::optional<nn::ClassLabels> labels = std::nullopt;
  /// The caller's layout, "nhwc"; empty: the model's.
  std::string layout = "";
  /// The inputs whose buffer the output may be.
  std::vector<unsigned> inPlaceOf = {};
  /// The upper bound of its number of elements, if it has a computed dimension; otherwise null.
  mlir::AffineExpr most = {};
};

/// A named dynamic dimension and its possible values.
struct SignatureSymbol {
  std::string onnxName;
  std::string field;
  int64_t min;
  int64_t max;
  /// Its number in the module.
  unsigned position;
  /// Its upper bound, if the model computes it; null if the caller gives it.
  mlir::AffineExpr most = {};
  /// The bounds without what the model demands, and whether the user gave them. `min` and `max`, which a run checks, are closer where the model demands it
  /// (SizeRules.h); these nodes do.
  int64_t givenMin = 0;
  int64_t givenMax = 0;
  bool isBounded = false;
  /// Whether the caller guesses it and a run raises it, because it bounds a size that data decide.
  bool isRaised = false;
  std::string minNode = {};
  std::string maxNode = {};
  /// A number all of whose multiples fit the model, where not all sizes do; else 0.
  int64_t multiple = 0;
};

/// The weights of one rank of a sharded model: its file, with bytes and checksum.
struct RankWeights {
  std::string file;
  int64_t bytes = 0;
  uint64_t checksum = 0;
};

/// What a run checks of the dimensions beside their bounds: that an expression of the module's symbols is zero.
struct SizeRule {
  mlir::AffineExpr mustBeZero;
  /// The ONNX node that demands it; empty if it is not known.
  std::string node;
  /// The symbols in it, by their places in the signature.
  std::vector<unsigned> symbols;
  /// "past + seq <= 1024"
  std::string text;
  /// Behind the sizes: "must be a multiple of 32".
  std::string demand;
  /// It is a bound of its symbol, which a run checks as such.
  bool isBound = false;
};

/// A dimension and the size that a version of the model is for.
using SpecialSize = std::pair<std::string, int64_t>;

/// The contents of the generated header, read from a module after the kernel stage. A library for several targets has a signature for each target,
/// and one for the whole library (mergeSignatures), which belongs to no module.
struct Signature {
  /// The prefix of all symbols, as an identifier and in upper case.
  std::string name;
  std::string macro;
  /// The stem of the header, the weights and the API macro: `name`, unless several models share a library.
  std::string library;
  /// The target's name; for the whole library, all names separated by commas.
  std::string target;
  /// The targets, and the features that a CPU needs beyond its architecture's baseline: "avx avx2 fma". Empty for targets that run on any CPU.
  std::vector<std::pair<std::string, std::string>> needs;
  /// The suffix of the symbols of one of several targets: x86_64_v3. Empty for a single target and for the whole library.
  std::string variant;
  /// For a single target: whether a CPU may lack a feature, so that another unit must check the CPU before it calls this one's functions.
  bool isGuarded = false;
  /// The sizes of a special version, by the fields of dimensions; empty for the general one. For the whole library, the sizes of all versions.
  std::vector<SpecialSize> special;
  /// For a version for runs in which certain expressions of the given symbols are zero: these expressions, and a name for the functions.
  nn::DimExprs zeros;
  std::string label;
  std::vector<std::vector<SpecialSize>> versions;
  std::vector<SignatureTensor> inputs;
  std::vector<SignatureTensor> outputs;
  /// The inputs and outputs that are elements of sequences and optionals of the ONNX model.
  std::vector<nn::SequenceInfo> sequences;
  /// The symbols that the caller gives, then those that the model computes and that its inputs or outputs mention.
  std::vector<SignatureSymbol> symbols;
  /// What a run checks of the symbols that the caller gives, and the same in lines for people.
  std::vector<SizeRule> rules;
  std::vector<std::string> demands;
  /// Demands on the data, in words; a run checks them.
  std::vector<std::string> dataDemands;
  /// The file's metadata_props.
  std::vector<std::pair<std::string, std::string>> metadata;
  /// A handle: const methods of operations do not exist.
  mutable kernel::EntryOp entry;
  /// The bytes of workspace if known, or else the function that computes them from the symbols.
  std::optional<int64_t> workspaceBytes;
  mutable mlir::func::FuncOp workspaceSize;
  /// Libraries whose functions the kernels call, sorted.
  std::vector<std::string> libraries;
  /// Whether it needs the context's hook decode_image.
  bool decodesImages = false;
  /// The stack size of a run; known once there are objects.
  std::optional<int64_t> stackBytes;
  /// What is rounded because the user asked for it, in sentences with the bounds. For the whole library, those of one target begin with its name.
  std::vector<std::string> rounding;
  /// Whether kernels run in the mode that takes subnormal numbers for zero.
  bool flushesSubnormals = false;
  int64_t weightsBytes = 0;
  uint64_t weightsChecksum = 0;
  /// Whether the weights are in a separate file, whose mapping the caller passes.
  bool externalWeights = false;
  /// For a sharded model the weights of each rank, and the ranks that run this module, the first of them in front.
  std::vector<RankWeights> rankWeights;
  size_t rank = 0;
  std::vector<int64_t> sharedBy;
  /// Whether shared libraries hide its functions.
  bool isInternal = false;
  /// How programs make inputs of pictures, if the user has said it.
  std::optional<ImageOptions> images;

  /// Whether programs call its functions directly, rather than functions that check the CPU or choose a target first.
  bool isWhole() const { return variant.empty() && !isGuarded; }
  bool isVersion() const { return !special.empty() || !zeros.empty() || rank > 0; }
  bool isSharded() const { return !rankWeights.empty(); }
  bool hasDims() const { return !symbols.empty(); }
  /// A text for an element of a sequence, "element 2 of sequence 'x'"; empty for other tensors.
  std::string describeElement(size_t tensor, bool isOutput) const;
  llvm::ArrayRef<SignatureSymbol> givenSymbols() const;
  llvm::ArrayRef<SignatureSymbol> computedSymbols() const { return llvm::ArrayRef(symbols).drop_front(givenSymbols().size()); }
  /// The sizes of a symbol that have special versions.
  std::set<int64_t> specialSizes(const SignatureSymbol &symbol) const;
  bool isDataSized() const { return !computedSymbols().empty(); }
  /// Whether runs write into the caller's dimensions.
  bool writesDims() const {
    return isDataSized() || llvm::any_of(symbols, [](const SignatureSymbol &symbol) { return symbol.isRaised; });
  }
  /// The symbol with this number in the module; null if it is not part of the interface.
  const SignatureSymbol *findSymbol(unsigned position) const;
  mlir::ModuleOp module() const { return entry->getParentOfType<mlir::ModuleOp>(); }
  /// `text` followed by the variant, as in the names of the target's files and functions.
  std::string variantOf(llvm::StringRef text) const { return text.str() + (variant.empty() ? "" : "_" + variant); }
  /// `text` followed by the sizes of a special version.
  std::string versionOf(llvm::StringRef text) const;
  /// The parameters of NAME_run and of NAME_workspace_size, and their names as arguments.
  std::vector<std::string> runParameters() const;
  std::string runArguments() const;
  std::string dimsParameter() const { return hasDims() ? "const " + name + "_dims *dims" : ""; }
  std::string runFunction() const { return versionOf(variantOf(name + "_run")) + (isGuarded ? "_guarded" : ""); }
  std::string workspaceFunction() const { return versionOf(variantOf(name + "_workspace_size")) + (isGuarded ? "_guarded" : ""); }
  std::string kernelHeader() const { return variantOf(name) + "_kernels.h"; }
  std::string weightsFile() const { return library + "_weights.bin"; }
  std::string header() const { return library + ".h"; }
  std::string weightsSymbol() const { return library + "_weights"; }
};

/// Reads the signature and reports errors in the module. If `name` is empty, the module's name is used.
mlir::FailureOr<Signature> readSignature(mlir::ModuleOp module, llvm::StringRef name);

/// The signature of a library for these targets, with a workspace that is large enough for each.
Signature mergeSignatures(llvm::ArrayRef<Signature> targets);

/// The C type behind a pointer in the generated structs: bool is uint8_t, f16 and bf16 are uint16_t.
std::string publicType(mlir::Type elementType);
/// f32, u8, bool...
std::string elementName(mlir::Type elementType);
/// KILN_ELEMENT_F32...
std::string elementEnumerator(mlir::Type elementType);
/// f32[1,3,batch].
std::string shapeText(const SignatureTensor &tensor, const Signature &signature);
/// "scale 0.5, zero point 3", "256 scales along axis 1".
std::string quantizationText(const nn::TensorQuantization &quantization);
/// "labels 0, 1, 2 along axis 1"; of many, the first and the last.
std::string labelsText(const nn::ClassLabels &labels);
/// The shortest text that reads back as the same f32, and that text as a constant of C.
std::string numberText(float number);
std::string floatLiteral(float number);
/// As an int64_t, in C and C++.
std::string integerLiteral(int64_t number);
/// A dimension as C text, with `prefix` before the names of the symbols.
std::string dimText(mlir::AffineExpr expr, const Signature &signature, llvm::StringRef prefix);

/// The same for people: "ceil_to(height, 32)" (SizeText.h).
std::string readableText(mlir::AffineExpr expr, const Signature &signature);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SIGNATURE_H
