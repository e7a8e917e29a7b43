//===- SessionPrinter.cpp - NAME.hpp, for C++ programs ---------------------===//
#include "compiler/emit/SessionPrinter.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/Identifiers.h"

#include "dialects/nn/ConstantData.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

/// Inputs, then outputs: their numbers in a session.
static std::vector<const SignatureTensor *> listTensors(const Signature &signature) {
  std::vector<const SignatureTensor *> tensors;
  for (auto *list : {&signature.inputs, &signature.outputs})
    for (const SignatureTensor &tensor : *list)
      tensors.push_back(&tensor);
  return tensors;
}

static std::string sizeText(size_t value) { return std::to_string(value); }

/// The struct of dimensions from the array of a session.
static std::string printDims(const Signature &signature) {
  if (!signature.hasDims())
    return "";
  std::string fields;
  for (size_t i = 0; i < signature.symbols.size(); ++i)
    fields += (i ? ", values[" : "values[") + sizeText(i) + "]";
  return "  static " + signature.name + "_dims make_dims(const int64_t *values) noexcept { return {" + fields + "}; }\n";
}

/// The head of a function of the dimensions, which its text names `dims.`.
static std::string openFunction(const std::string &result, const std::string &name, const std::string &more, const Signature &signature) {
  std::string text = "  static " + result + " " + name + "([[maybe_unused]] const int64_t *values" + more + ") noexcept {\n";
  if (signature.hasDims())
    text += "    [[maybe_unused]] const " + signature.name + "_dims dims = make_dims(values);\n";
  return text;
}

static std::string printShapes(const Signature &signature) {
  std::string text = openFunction("void", "shapes", ", [[maybe_unused]] int64_t *extents_of_all", signature);
  size_t at = 0;
  for (const SignatureTensor *tensor : listTensors(signature))
    for (AffineExpr dim : tensor->dims)
      text += "    extents_of_all[" + sizeText(at++) + "] = " + dimText(dim, signature, "dims.") + ";\n";
  return "  static constexpr size_t extents = " + sizeText(at) + ";\n" + text + "  }\n";
}

/// Room for the outputs whose sizes the run computes.
static std::string printMost(const Signature &signature) {
  std::string text = openFunction("size_t", "most_elements", ", [[maybe_unused]] size_t number", signature), numbers;
  for (auto [i, tensor] : llvm::enumerate(listTensors(signature)))
    if (tensor->most) {
      text += "    if (number == " + sizeText(i) + ")\n      return size_t(" + dimText(tensor->most, signature, "dims.") + ");\n";
      numbers += (numbers.empty() ? "number == " : " || number == ") + sizeText(i);
    }
  return text + "    return 0;\n  }\n  static bool is_computed([[maybe_unused]] size_t number) noexcept { return " + (numbers.empty() ? "false" : numbers) +
         "; }\n";
}

/// A function that tells dimensions that a run raises from others.
static std::string printRaised(const Signature &signature) {
  std::string numbers;
  for (auto [i, symbol] : llvm::enumerate(signature.symbols))
    if (symbol.isRaised)
      numbers += (numbers.empty() ? "symbol == " : " || symbol == ") + sizeText(i);
  return "  static bool is_raised([[maybe_unused]] size_t symbol) noexcept { return " + (numbers.empty() ? "false" : numbers) + "; }\n";
}

/// The fields of a struct of the ABI from consecutive places.
static std::string fillStruct(const std::vector<SignatureTensor> &tensors, bool isConst, size_t first) {
  std::string fields;
  for (auto [i, tensor] : llvm::enumerate(tensors))
    fields += (i ? ", static_cast<" : "static_cast<") + std::string(isConst ? "const " : "") + publicType(tensor.type.getElementType()) + " *>(places[" +
              sizeText(first + i) + "])";
  return tensors.empty() ? "nullptr" : fields;
}

static std::string printRun(const Signature &signature) {
  std::string text = "  static kiln_status run([[maybe_unused]] int64_t *values, [[maybe_unused]] void *const *places, [[maybe_unused]] const void *weights,\n"
                     "                         void *workspace, const kiln_context *context) noexcept {\n";
  if (signature.hasDims())
    text += "    " + std::string(signature.writesDims() ? "" : "const ") + signature.name + "_dims dims = make_dims(values);\n";
  text += "    const " + signature.name + "_inputs inputs = {" + fillStruct(signature.inputs, true, 0) + "};\n";
  text += "    const " + signature.name + "_outputs outputs = {" + fillStruct(signature.outputs, false, signature.inputs.size()) + "};\n";
  text += "    const kiln_status status = " + signature.name + "_run(" + (signature.hasDims() ? "&dims, " : "") + "&inputs, &outputs, " +
          (signature.externalWeights ? "weights, " : "") + "workspace, context);\n";
  for (auto [i, symbol] : llvm::enumerate(signature.symbols))
    if (symbol.most || symbol.isRaised)
      text += "    values[" + sizeText(i) + "] = dims." + symbol.field + ";\n";
  return text + "    return status;\n  }\n";
}

/// What kiln::session asks of a model.
static std::string printModel(const Signature &signature) {
  const std::string &name = signature.name;
  std::string sizes;
  for (const SignatureTensor *tensor : listTensors(signature))
    sizes += sizeText(std::max<int64_t>(nn::elementBytes(tensor->type.getElementType()), 1)) + ", ";
  std::string text = "namespace kiln::detail {\nstruct " + name + "_model {\n  static constexpr size_t inputs = " + sizeText(signature.inputs.size()) +
                     ", outputs = " + sizeText(signature.outputs.size()) + ", symbols = " + sizeText(signature.symbols.size()) +
                     ", computed = " + sizeText(signature.computedSymbols().size()) + ";\n  static const kiln_model_info &info() noexcept { return " + name +
                     "_info; }\n  static size_t element_bytes(size_t number) noexcept {\n    constexpr size_t sizes[] = {" + sizes +
                     "1};\n    return sizes[number];\n  }\n" + printDims(signature);
  text += printRaised(signature) + openFunction("size_t", "workspace_size", "", signature);
  text += "    return " + name + "_workspace_size(" + (signature.hasDims() ? "&dims" : "") + ");\n  }\n";
  text += openFunction("kiln_status", "explain", ", [[maybe_unused]] char *buffer, [[maybe_unused]] size_t size", signature) + "    return " +
          (signature.givenSymbols().empty() ? "KILN_STATUS_OK" : name + "_explain(&dims, buffer, size)") + ";\n  }\n";
  return text + printShapes(signature) + printMost(signature) + printRun(signature) + "};\n} // namespace kiln::detail\n\n";
}

/// A setter for elements of a type, without and with their shape.
static std::string printSetter(const std::string &self, const std::string &setter, const std::string &type, const std::string &at) {
  std::string head = "  " + self + " &" + setter + "(kiln::span<" + type + "> values", end = "    return *this;\n  }\n";
  std::string set = "    this->set(" + at + ", values.elements, values.count";
  return head + ") noexcept {\n" + set + ");\n" + end +
         head + ", std::initializer_list<int64_t> shape) noexcept {\n" + set + ", shape.begin(), shape.size());\n" + end +
         head + ", kiln::span<const int64_t> shape) noexcept {\n" + set + ", shape.elements, shape.count);\n" + end;
}

static std::string printArgument(const Signature &signature, size_t position, const std::string &setter) {
  const SignatureTensor &tensor = *listTensors(signature)[position];
  bool isInput = position < signature.inputs.size();
  std::string self = signature.name + "_session", at = sizeText(position), type = publicType(tensor.type.getElementType());
  std::string text = "\n  // " + std::string(isInput ? "Input " : "Output ") + makeCommentText(tensor.onnxName) + ": ";
  text += makeCommentText(shapeText(tensor, signature)) + (isInput ? "" : ". The session's until its next run, unless the caller gives memory") + ".\n";
  if (!isInput)
    text += "  kiln::tensor<" + type + "> " + setter + "() const noexcept { return this->template get<" + type + ">(" + at + "); }\n";
  std::string constness = isInput ? "const " : "";
  text += printSetter(self, setter, constness + type, at);
  if (tensor.type.getElementType().isF16())
    text += "#ifdef KILN_HAS_FLOAT16\n" + printSetter(self, setter, constness + "kiln::float16", at) + "#endif\n";
  if (tensor.type.getElementType().isBF16())
    text += "#ifdef KILN_HAS_BFLOAT16\n" + printSetter(self, setter, constness + "kiln::bfloat16", at) + "#endif\n";
  return text;
}

/// What sets a dimension, or gives one that the run has computed.
static std::string printDimension(const std::string &self, const SignatureSymbol &symbol, const std::string &accessor, const std::string &at) {
  std::string name = "'" + makeCommentText(symbol.onnxName) + "'";
  if (symbol.most)
    return "  // The dimension " + name + ", which the run writes.\n  int64_t " + accessor + "() const noexcept { return this->dim(" + at + "); }\n";
  return "  // Sets the dimension " + name + ", which follows from the shapes of inputs, too.\n  " + self + " &" + accessor +
         "(int64_t value) noexcept {\n    this->set_dim(" + at + ", value);\n    return *this;\n  }\n";
}

static std::string printSession(const Signature &signature) {
  std::string self = signature.name + "_session", text = printModel(signature);
  NameScope names;
  for (StringRef name : {"run", "try_run", "message", "use", "set", "get", "dim", "set_dim", "finish", "session"})
    names.reserve(name);
  names.reserve(self);
  std::vector<std::string> setters;
  for (const SignatureTensor *tensor : listTensors(signature))
    setters.push_back(names.unique(tensor->field));
  text += "// A run of '" + makeCommentText(signature.name) + "' with its memory: inputs, run(), outputs. What inputs point to must live until the run.\n";
  text += "class " + self + " : public kiln::session<kiln::detail::" + signature.name + "_model> {\npublic:\n";
  if (signature.externalWeights)
    text += "  // The contents of the weights file, which must outlive the session, aligned to KILN_ALIGNMENT.\n  explicit " + self +
            "(kiln::span<const unsigned char> weights) noexcept : session(weights.elements, weights.count) {}\n";
  text += "  // Checks the arguments and runs. Throws kiln::error; without exceptions it prints the message and traps. try_run() does neither.\n";
  text += "  " + self + " &run() { return this->finish(*this); }\n";
  for (auto [i, symbol] : llvm::enumerate(signature.symbols))
    text += printDimension(self, symbol, names.unique(symbol.field), sizeText(i));
  for (size_t i = 0; i < setters.size(); ++i)
    text += printArgument(signature, i, setters[i]);
  return text + "};\n\n";
}

/// A header of the runtime without what it includes of the runtime, which stands before it.
static std::string takeAlone(StringRef path) {
  std::string text;
  for (StringRef line : llvm::split(embeddedFile(path), '\n'))
    if (!line.starts_with("#include \""))
      text += line.str() + "\n";
  return text;
}

SourceFile printSessions(ArrayRef<Signature> models) {
  const std::string &library = models.front().library;
  std::string guard = makeMacroName(library) + "_KILN_MODEL_HPP";
  std::string text = "// '" + makeCommentText(library) + "' for C++ programs, generated by Kiln. Edits will be lost. C++17.\n";
  text += "#ifndef " + guard + "\n#define " + guard + "\n\n#include \"" + models.front().header() + "\"\n\n";
  text += takeAlone("builtin/tensor.h") + takeAlone("builtin/session.h");
  for (const Signature &model : models)
    text += printSession(model);
  return {library + ".hpp", text + "#endif // " + guard + "\n"};
}

} // namespace kiln
