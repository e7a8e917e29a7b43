//===- WrapperPrinter.cpp - The C++17 section of the generated header ------===//
#include "compiler/emit/WrapperPrinter.h"
#include "compiler/emit/Identifiers.h"

using namespace mlir;

namespace kiln {

// The same text in every header, under a guard of its own.
static constexpr StringLiteral spanText = R"(#if defined(__cplusplus) && __cplusplus >= 201703L
#ifndef KILN_SPAN_H
#define KILN_SPAN_H
namespace kiln {
// Contiguous elements that the caller owns: from a pointer and a count, an array, or anything with data() and size().
template <typename T> struct span {
  T *elements = nullptr;
  size_t count = 0;
  span() = default;
  span(T *data, size_t size) : elements(data), count(size) {}
  template <size_t N> span(T (&array)[N]) : elements(array), count(N) {}
  template <typename C, typename = decltype(static_cast<T *>(static_cast<C *>(nullptr)->data()))>
  span(C &container) : elements(container.data()), count(container.size()) {}
  template <typename C, typename = decltype(static_cast<T *>(static_cast<const C *>(nullptr)->data()))>
  span(const C &container) : elements(container.data()), count(container.size()) {}
};
} // namespace kiln
#endif

)";

/// The number of elements as C++ text; an upper bound if it depends on the data.
static std::string countText(const SignatureTensor &tensor, const Signature &signature) {
  if (tensor.most)
    return "size_t(" + dimText(tensor.most, signature, "dims_.") + ")";
  std::string text = "size_t(1)";
  for (AffineExpr dim : tensor.dims)
    text += " * size_t(" + dimText(dim, signature, "dims_.") + ")";
  return text;
}

namespace {
/// An argument of the class: the name of its setter, which is unique among all.
struct Argument {
  const SignatureTensor *tensor;
  std::string setter;
  std::string place;
  std::string size;
  bool isConst;
};
} // namespace

static std::vector<Argument> collectArguments(const Signature &signature, NameScope &names) {
  std::vector<Argument> arguments;
  auto add = [&](const SignatureTensor &tensor, StringRef structure, bool isConst) {
    std::string setter = names.unique(tensor.field);
    arguments.push_back({&tensor, setter, structure.str() + "." + tensor.field, setter + "_size_", isConst});
  };
  for (const SignatureTensor &tensor : signature.inputs)
    add(tensor, "inputs_", true);
  for (const SignatureTensor &tensor : signature.outputs)
    add(tensor, "outputs_", false);
  return arguments;
}

static std::string printSetter(const Argument &argument, const Signature &signature) {
  std::string type = (argument.isConst ? "const " : "") + publicType(argument.tensor->type.getElementType());
  std::string self = signature.name + "_call";
  return "  // " + makeCommentText(shapeText(*argument.tensor, signature)) + "\n  " + self + " &" + argument.setter + "(kiln::span<" + type +
         "> values) {\n    " + argument.place + " = values.elements;\n    " + argument.size + " = values.count;\n    return *this;\n  }\n";
}

static std::string printRun(const Signature &signature, const std::vector<Argument> &arguments) {
  std::string weights = signature.externalWeights ? "kiln::span<const unsigned char> weights, " : "";
  std::string text = "  // Checks the sizes, then runs. A size that does not fit the dimensions is KILN_STATUS_INVALID_ARGUMENT.\n"
                     "  kiln_status run(" + weights + "kiln::span<unsigned char> workspace, const kiln_context *context = nullptr)" +
                     (signature.writesDims() ? " {\n" : " const {\n");
  for (const SignatureSymbol &symbol : signature.givenSymbols())
    text += "    if (dims_." + symbol.field + " < " + std::to_string(symbol.min) + " || dims_." + symbol.field + " > " +
            std::to_string(symbol.max) + ")\n      return KILN_STATUS_DIMENSION_OUT_OF_BOUNDS;\n";
  std::string dims = signature.hasDims() ? "&dims_" : "";
  text += "    const size_t needed = " + signature.name + "_workspace_size(" + dims + ");\n";
  // This keeps the products below from wrapping around.
  if (signature.hasDims())
    text += "    if (needed == SIZE_MAX)\n      return KILN_STATUS_SIZE_OVERFLOW;\n";
  for (const Argument &argument : arguments)
    text += "    if (" + argument.size + (argument.tensor->most ? " < " : " != ") + countText(*argument.tensor, signature) +
            ")\n      return KILN_STATUS_INVALID_ARGUMENT;\n";
  if (signature.externalWeights && !signature.isSharded())
    text += "    if (weights.count != " + signature.macro + "_WEIGHTS_SIZE)\n      return KILN_STATUS_WEIGHTS_MISMATCH;\n";
  text += "    if (workspace.count < needed)\n      return KILN_STATUS_WORKSPACE_TOO_SMALL;\n";
  return text + "    return " + signature.name + "_run(" + (dims.empty() ? "" : dims + ", ") + "&inputs_, &outputs_, " +
         (signature.externalWeights ? "weights.elements, " : "") + "workspace.elements, context);\n  }\n";
}

std::string printWrapper(const Signature &signature) {
  NameScope names;
  std::string self = signature.name + "_call";
  for (const std::string &name : {std::string("run"), std::string("workspace_size"), self})
    names.reserve(name);
  std::vector<Argument> arguments = collectArguments(signature, names);
  std::string text = spanText.str() + "// A call with named arguments: " + self + "().first(...).second(...).run(workspace).\nclass " + self + " {\npublic:\n";
  for (const SignatureSymbol &symbol : signature.computedSymbols())
    text += "  // Written by the run.\n  int64_t " + names.unique(symbol.field) + "() const { return dims_." + symbol.field + "; }\n";
  for (const SignatureSymbol &symbol : signature.givenSymbols()) {
    std::string setter = names.unique(symbol.field);
    text += "  " + self + " &" + setter + "(int64_t value) {\n    dims_." + symbol.field + " = value;\n    return *this;\n  }\n";
  }
  for (const Argument &argument : arguments)
    text += printSetter(argument, signature);
  text += "  size_t workspace_size() const { return " + signature.name + "_workspace_size(" + (signature.hasDims() ? "&dims_" : "") + "); }\n";
  text += printRun(signature, arguments) + "\nprivate:\n";
  if (signature.hasDims())
    text += "  " + signature.name + "_dims dims_ = {};\n";
  text += "  " + signature.name + "_inputs inputs_ = {};\n  " + signature.name + "_outputs outputs_ = {};\n";
  for (const Argument &argument : arguments)
    text += "  size_t " + argument.size + " = 0;\n";
  return text + "};\n#endif\n";
}

} // namespace kiln
