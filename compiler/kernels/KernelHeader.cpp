//===- KernelHeader.cpp - The C functions of a library of kernels ---------------===//
//
//   kiln_status NAME_gemm_f32(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c, void *workspace, const kiln_context *context);
//   size_t NAME_gemm_f32_workspace_size(int64_t m, int64_t n, int64_t k);
//
// The small model behind a kernel has structs of sizes and pointers; these functions have a parameter for each field.
//
//===----------------------------------------------------------------------===//
#include "compiler/kernels/KernelHeader.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/KernelPrinter.h"
#include "compiler/kernels/PackFunctions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln {

/// Columns of a comment.
static constexpr size_t headerColumns = 130;

namespace {
/// The parameters of a kernel's function.
class KernelFunction {
public:
  KernelFunction(StringRef library, const CompiledKernel &kernel);

  std::string comment() const;
  std::string declareRun() const { return printCall("kiln_status " + name, runParameters); }
  std::string declareSize() const {
    return sizeParameters.empty() ? "size_t " + name + "_workspace_size(void)" : printCall("size_t " + name + "_workspace_size", sizeParameters);
  }
  std::string defineRun() const;
  std::string defineSize() const;
  /// What packs an operand; null: there is none.
  const PackFunctions *packs() const { return pack ? &*pack : nullptr; }

private:
  const SignatureSymbol *findSize(StringRef size) const;
  std::string nameOf(const SignatureTensor &tensor) const { return names.at(tensor.onnxName); }
  /// Statements that fill the struct of dimensions.
  std::string setDims() const;
  std::string defineDerived() const;
  std::string setPacked() const;
  /// The operand of the form with the name of a tensor.
  const KernelTensor &formOf(const SignatureTensor &tensor) const {
    return *find_if(form.inputs, [&](const KernelTensor &operand) { return operand.name == tensor.onnxName; });
  }

  const KernelForm &form;
  const Signature &model;
  std::string name;
  /// The sizes that the caller gives.
  std::vector<const SignatureSymbol *> sizes;
  std::vector<std::string> sizeParameters, runParameters;
  /// The parameter of each tensor.
  std::map<std::string, std::string> names;
  /// What packs an operand.
  std::optional<PackFunctions> pack;
};
} // namespace

const SignatureSymbol *KernelFunction::findSize(StringRef size) const {
  auto found = find_if(model.symbols, [&](const SignatureSymbol &symbol) { return symbol.onnxName == size; });
  return found == model.symbols.end() ? nullptr : &*found;
}

KernelFunction::KernelFunction(StringRef library, const CompiledKernel &kernel)
    : form(kernel.form), model(kernel.model), name((library + "_" + form.name).str()) {
  NameScope scope;
  for (StringRef reserved : ownParameters)
    scope.reserve(reserved);
  for (const std::string &size : form.sizes)
    if (const SignatureSymbol *symbol = findSize(size)) {
      sizes.push_back(symbol);
      scope.reserve(symbol->field);
      sizeParameters.push_back("int64_t " + symbol->field);
    }
  for (const DerivedSize &size : form.derived)
    if (const SignatureSymbol *symbol = findSize(size.name))
      scope.reserve(symbol->field);
  runParameters = sizeParameters;
  for (const SignatureTensor &tensor : model.inputs) {
    if (formOf(tensor).isBehindPacked())
      continue;
    std::string &field = names[tensor.onnxName] = scope.unique(tensor.field);
    std::string type = formOf(tensor).isPacked ? "void" : publicType(tensor.type.getElementType());
    runParameters.push_back(tensor.dims.empty() ? type + " " + field : "const " + type + " *" + field);
  }
  for (const SignatureTensor &tensor : model.outputs) {
    std::string &field = names[tensor.onnxName] = scope.unique(tensor.field);
    runParameters.push_back(publicType(tensor.type.getElementType()) + " *" + field);
  }
  runParameters.insert(runParameters.end(), {"void *workspace", "const kiln_context *context"});
  if (!kernel.panels.empty())
    pack.emplace(name, kernel);
}

/// Lines of a comment, broken between words.
static std::string wrap(StringRef text) {
  std::string lines = " *";
  size_t column = 2;
  for (StringRef word : llvm::split(text, ' ')) {
    if (column + word.size() >= headerColumns) {
      lines += "\n *  ";
      column = 4;
    }
    lines += (" " + word).str();
    column += word.size() + 1;
  }
  return lines + "\n";
}

std::string KernelFunction::comment() const {
  std::string text = "/* " + name + (form.kernel == form.name ? "" : " (" + form.kernel + ")") + "\n" + wrap(makeCommentText(form.summary));
  if (!form.parameters.empty())
    text += wrap("Made for " + makeCommentText(join(map_range(form.parameters, [](const KernelParameter &p) { return p.name + "=" + p.value; }), ", ")));
  std::string bounds;
  for (const SignatureSymbol *size : sizes)
    bounds += (bounds.empty() ? "" : ", ") + size->field + ": " + std::to_string(size->min) + " to " + std::to_string(size->max);
  text += bounds.empty() ? "" : wrap("  " + bounds);
  for (const SignatureTensor &tensor : model.inputs)
    if (!formOf(tensor).isBehindPacked())
      text += wrap("  " + nameOf(tensor) + ": " + makeCommentText(shapeText(tensor, model)) + (tensor.dims.empty() ? ", by value" : "") +
                   (formOf(tensor).isPacked ? ", as " + pack->packFunction() + "() has written it for the same sizes" : ""));
  for (const SignatureTensor &tensor : model.outputs) {
    std::string place;
    for (auto [i, input] : enumerate(tensor.inPlaceOf))
      place += (i ? " or " : ", may be ") + nameOf(model.inputs[input]);
    text += wrap("  " + nameOf(tensor) + ": " + makeCommentText(shapeText(tensor, model)) + ", written" + place);
  }
  for (const DerivedSize &size : form.derived)
    text += wrap("  " + makeCommentText(size.name + " = " + size.of) + " / " + std::to_string(size.divisor) + ", which must leave no remainder");
  if (model.workspaceBytes == 0)
    text += " * It needs no workspace.\n";
  return text + " */\n";
}

std::string KernelFunction::setDims() const {
  std::string text;
  for (const SignatureSymbol *size : sizes)
    text += "  dims." + size->field + " = " + size->field + ";\n";
  // A size that leaves a remainder gives dimensions that do not fit each other.
  for (const DerivedSize &size : form.derived) {
    const SignatureSymbol *symbol = findSize(size.name), *of = findSize(size.of);
    if (symbol && of)
      text += "  dims." + symbol->field + " = " + of->field + " / " + std::to_string(size.divisor) + ";\n";
  }
  return text;
}

/// The sizes that follow from others, as the packed operand counts them.
std::string KernelFunction::defineDerived() const {
  std::string text;
  for (const DerivedSize &size : form.derived) {
    const SignatureSymbol *symbol = findSize(size.name), *of = findSize(size.of);
    if (symbol && of)
      text += "  const int64_t " + symbol->field + " = " + of->field + " / " + std::to_string(size.divisor) + ";\n";
  }
  return text;
}

/// Statements that set the packed operand, and what lies behind it.
std::string KernelFunction::setPacked() const {
  std::string text;
  for (const SignatureTensor &tensor : model.inputs) {
    std::string type = "const " + publicType(tensor.type.getElementType()) + " *";
    if (formOf(tensor).isPacked) {
      text += "  if (reinterpret_cast<uintptr_t>(" + nameOf(tensor) + ") % KILN_ALIGNMENT != 0)\n    return KILN_STATUS_INVALID_ARGUMENT;\n";
      text += "  inputs." + tensor.field + " = static_cast<" + type + ">(" + nameOf(tensor) + ");\n";
    } else if (formOf(tensor).isBehindPacked()) {
      if (formOf(tensor).isScales)
        text += defineDerived();
      std::string matrix;
      for (const SignatureTensor &other : model.inputs)
        matrix = formOf(other).isPacked ? nameOf(other) : matrix;
      text += "  if (const kiln::panels *form = " + matrix + " ? " + pack->panelsFunction() + "() : nullptr)\n    inputs." + tensor.field +
              " = reinterpret_cast<" + type + ">(static_cast<const char *>(" + matrix + ") + " + pack->panelBytes() + ");\n";
    }
  }
  return text;
}

std::string KernelFunction::defineRun() const {
  std::string text = (pack ? pack->define() : "") + "extern \"C\" " + declareRun() + " {\n", arguments;
  if (model.hasDims()) {
    text += "  " + model.name + "_dims dims = {};\n" + setDims();
    arguments = "&dims, ";
  }
  text += "  " + model.name + "_inputs inputs = {};\n";
  text += setPacked();
  for (const SignatureTensor &tensor : model.inputs)
    if (!formOf(tensor).isPacked && !formOf(tensor).isBehindPacked())
      text += "  inputs." + tensor.field + " = " + (tensor.dims.empty() ? "&" : "") + nameOf(tensor) + ";\n";
  text += "  " + model.name + "_outputs outputs = {};\n";
  for (const SignatureTensor &tensor : model.outputs)
    text += "  outputs." + tensor.field + " = " + nameOf(tensor) + ";\n";
  if (model.workspaceBytes != 0)
    text += "  // Without bytes there may be no workspace, but the model wants one.\n  if (!workspace && " + model.name + "_workspace_size(" +
            (model.hasDims() ? "&dims" : "") + ") == 0)\n    workspace = empty_workspace;\n";
  return text + "  return " + model.name + "_run(" + arguments + "&inputs, &outputs, workspace, context);\n}\n\n";
}

std::string KernelFunction::defineSize() const {
  std::string text = "extern \"C\" " + declareSize() + " {\n";
  if (!model.hasDims())
    return text + "  return " + model.name + "_workspace_size();\n}\n\n";
  return text + "  " + model.name + "_dims dims = {};\n" + setDims() + "  return " + model.name + "_workspace_size(&dims);\n}\n\n";
}

/// What holds for all functions.
static constexpr StringLiteral conventions =
    "/* What holds for all kernels.\n"
    " * - Sizes have bounds, which stand above each function. Others end a call with KILN_STATUS_DIMENSION_OUT_OF_BOUNDS; tensors or a workspace\n"
    " *   beyond 2^62 bytes end it with KILN_STATUS_SIZE_OVERFLOW. NAME_workspace_size() is SIZE_MAX for both. Nothing is written then.\n"
    " * - The caller owns all buffers. They hold row-major elements without gaps, aligned as their type. f16 and bf16 are the bits in a\n"
    " *   uint16_t. A NULL pointer ends a call with KILN_STATUS_NULL_POINTER, also where a size is 0.\n"
    " * - Results must not overlap anything else, except that one marked \"may be x\" may be that operand's own buffer, which is overwritten.\n"
    " * - The workspace has the bytes that NAME_workspace_size() says, is aligned to KILN_ALIGNMENT, and belongs to the call while it lasts. It\n"
    " *   may be NULL where that is 0. Kernels allocate nothing and lock nothing.\n"
    " * - Any number of threads may call a kernel at once, each with a workspace of its own. `context` has the threads of one call, and may be\n"
    " *   NULL for one thread. Results are the same for any number of threads.\n"
    " * - KILN_STATUS_UNSUPPORTED_CPU: the CPU can run none of the targets. */\n\n";

std::string printKernelHeader(StringRef name, ArrayRef<CompiledKernel> kernels) {
  const Signature &first = kernels.front().model;
  std::string macro = makeMacroName(name), guard = macro + "_KILN_KERNELS_H", api = macro + "_API";
  std::string text = "/* Kernels '" + makeCommentText(name) + "' for " + makeCommentText(first.target) +
                     ", generated by Kiln. Edits will be lost. C11 and C++17. */\n#ifndef " + guard + "\n#define " + guard + "\n\n" +
                     embeddedFile("kiln/abi.h").str() + "\n#if defined(__GNUC__) || defined(__clang__)\n#define " + api +
                     " __attribute__((visibility(\"default\")))\n#else\n#define " + api + "\n#endif\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" +
                     conventions.str();
  text += "/* The target whose kernels run: of " + makeCommentText(first.target) +
          ", the best that the CPU can run, chosen once per process. NULL if it can run none.\n"
          " * The environment variable KILN_TARGET=NAME selects one of several. */\n" + api + " const char *" + name.str() + "_target(void);\n\n";
  for (const CompiledKernel &kernel : kernels) {
    KernelFunction function(name, kernel);
    text += function.comment() + api + " " + function.declareRun() + ";\n" + api + " " + function.declareSize() + ";\n\n";
    if (const PackFunctions *pack = function.packs())
      text += pack->comment() + api + " " + pack->declareSize() + ";\n" + api + " " + pack->declarePack() + ";\n\n";
  }
  return text + "#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n#endif /* " + guard + " */\n";
}

std::string printKernelUnit(StringRef name, ArrayRef<CompiledKernel> kernels) {
  std::string text = "// The functions of the kernels '" + makeCommentText(name) + "', by those of the models behind them.\n";
  text += "#include \"" + name.str() + ".h\"\n";
  for (const CompiledKernel &kernel : kernels)
    text += "#include \"" + kernel.model.name + ".h\"\n";
  if (any_of(kernels, [](const CompiledKernel &kernel) { return !kernel.panels.empty(); }))
    text += "#include \"kiln/pack.h\"\n";
  text += "\nnamespace {\nalignas(KILN_ALIGNMENT) unsigned char empty_workspace[KILN_ALIGNMENT];\n} // namespace\n\n";
  text += "extern \"C\" const char *" + name.str() + "_target(void) { return " + kernels.front().model.name + "_target(); }\n\n";
  for (const CompiledKernel &kernel : kernels) {
    KernelFunction function(name, kernel);
    text += function.defineRun() + function.defineSize();
  }
  return text;
}

} // namespace kiln
