//===- ExplainPrinter.cpp - What is wrong with arguments, as C --------------===//
#include "compiler/emit/ExplainPrinter.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/SizeRules.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

std::string printDemands(const Signature &signature) {
  constexpr size_t most = 24;
  if (signature.demands.empty())
    return "";
  std::string text = "/* The model demands this of its dimensions. A run with others ends with KILN_STATUS_DIMENSION_OUT_OF_BOUNDS\n"
                     " * or KILN_STATUS_DIMENSION_MISMATCH, and " +
                     signature.name + "_explain() says which ones do not fit:";
  for (const std::string &demand : llvm::ArrayRef(signature.demands).take_front(most))
    text += "\n * - " + makeCommentText(demand);
  if (signature.demands.size() > most)
    text += "\n * - and " + std::to_string(signature.demands.size() - most) + " more";
  return text + " */\n";
}

static std::string explain(const std::string &status, const std::string &words) {
  return "kiln_explain(buffer, size, " + status + ", " + makeStringLiteral(words) + ")";
}

/// Returns from the function unless the condition holds. The text begins with the dimensions and their values.
static std::string printCheck(const SizeDemand &demand, const Signature &signature) {
  std::vector<std::string> names, values;
  for (unsigned place : demand.symbols) {
    names.push_back(makeStringLiteral(signature.symbols[place].field));
    values.push_back("dims->" + signature.symbols[place].field);
  }
  return "  if (!(" + demand.condition + ")) {\n    const char *const names[] = {" + llvm::join(names, ", ") + "};\n    const int64_t values[] = {" +
         llvm::join(values, ", ") + "};\n    return kiln_explain_dims(buffer, size, " + demandStatus(demand).str() + ", names, values, " +
         std::to_string(names.size()) + ", " + makeStringLiteral(demand.words) + ");\n  }\n";
}

/// A comparison of equal sides, or one with no symbol of its own, would make compilers warn; constraints that always hold are no rules.
static std::string printExplainDims(const Signature &signature) {
  const std::string &name = signature.name;
  std::string text = "/* What is wrong with these dimensions: the status that a run with them would end with, and a text that names the dimension, its\n"
                     " * value, what is expected of it and the ONNX node that demands it. The text is cut to the `size` bytes of `buffer`, which may be\n"
                     " * NULL, and is empty if nothing is wrong. Only dimensions that depend on the data are not looked at. */\n";
  text += "static inline kiln_status " + name + "_explain(const " + name + "_dims *dims, char *buffer, size_t size) {\n  if (!dims)\n    return " +
          explain("KILN_STATUS_NULL_POINTER", "dims is NULL") + ";\n";
  std::vector<SizeDemand> demands = listSizeDemands(signature, [](const SignatureSymbol &symbol) { return "dims->" + symbol.field; });
  auto print = [&](bool isBound) {
    for (const SizeDemand &demand : demands)
      text += demand.isBound == isBound ? printCheck(demand, signature) : "";
  };
  print(/*isBound=*/true);
  text += "  if (" + name + "_workspace_size(dims) == SIZE_MAX)\n    return " +
          explain("KILN_STATUS_SIZE_OVERFLOW", "these dimensions make a tensor or the workspace larger than 2^62 bytes") + ";\n";
  print(/*isBound=*/false);
  return text + "  return " + explain("KILN_STATUS_OK", "") + ";\n}\n\n";
}

/// A check of all pointers of a struct.
static std::string printPointers(const std::vector<SignatureTensor> &tensors, const std::string &pointer, const Signature &signature) {
  if (tensors.empty())
    return "";
  std::string pointers, names;
  for (const SignatureTensor &tensor : tensors) {
    std::string place = pointer + "->" + tensor.field;
    pointers += (pointers.empty() ? "" : ", ") + place;
    names += (names.empty() ? "" : ", ") + makeStringLiteral(place + " (" + shapeText(tensor, signature) + ")");
  }
  return "  {\n    const void *const pointers[] = {" + pointers + "};\n    const char *const names[] = {" + names + "};\n" +
         "    if ((status = kiln_explain_pointers(buffer, size, pointers, names, " + std::to_string(tensors.size()) + ")) != KILN_STATUS_OK)\n" +
         "      return status;\n  }\n";
}

static std::string printNull(const std::string &pointer) {
  return "  if (!" + pointer + ")\n    return " + explain("KILN_STATUS_NULL_POINTER", pointer + " is NULL") + ";\n";
}

static std::string printExplainRun(const Signature &signature) {
  const std::string &name = signature.name;
  bool hasDims = !signature.givenSymbols().empty();
  std::string dims = signature.hasDims() ? "dims" : "", parameters;
  for (StringRef parameter : signature.runParameters()) {
    bool isWorkspace = parameter == "void *workspace";
    parameters += isWorkspace ? "const void *workspace, size_t workspace_size, " : parameter.str() + ", ";
  }
  std::string text = "/* The same for all arguments of a run, of which it names the first that is wrong: a pointer that is NULL, a workspace that is too\n"
                     " * small or not aligned, and so on. `workspace_size` is the number of bytes at `workspace`. The contents of inputs are not\n"
                     " * looked at. */\n";
  text += "static inline kiln_status " + name + "_explain_run(" + parameters + "char *buffer, size_t size) {\n  kiln_status status;\n";
  text += "  if (!" + name + "_target())\n    return " +
          explain("KILN_STATUS_UNSUPPORTED_CPU", ("the CPU can run none of the targets: " + StringRef(signature.target)).str()) + ";\n";
  if (hasDims)
    text += "  if ((status = " + name + "_explain(dims, buffer, size)) != KILN_STATUS_OK)\n    return status;\n";
  else if (signature.hasDims())
    text += printNull("dims");
  text += printNull("inputs") + printNull("outputs") + printPointers(signature.inputs, "inputs", signature) +
          printPointers(signature.outputs, "outputs", signature);
  if (signature.externalWeights)
    text += printNull("weights") + "  if ((uintptr_t)weights % KILN_ALIGNMENT != 0)\n    return " +
            explain("KILN_STATUS_INVALID_ARGUMENT", "weights is not aligned to KILN_ALIGNMENT") + ";\n";
  text += "  if ((status = kiln_explain_workspace(buffer, size, workspace, workspace_size, " + name + "_workspace_size(" + dims +
          "))) != KILN_STATUS_OK)\n    return status;\n";
  text += "  if (context && (context->abi_version != KILN_ABI_VERSION || !KILN_HAS_FIELD(kiln_context, context, parallel_user)))\n    return " +
          explain("KILN_STATUS_ABI_MISMATCH", "context is not one that KILN_CONTEXT_INIT began") + ";\n";
  if (signature.decodesImages)
    text += "  if (!context || !KILN_HAS_FIELD(kiln_context, context, decode_user) || !context->decode_image)\n    return " +
            explain("KILN_STATUS_MISSING_IMAGE_DECODER", "context->decode_image is NULL, and the model decodes pictures") + ";\n";
  return text + "  return " + explain("KILN_STATUS_OK", "") + ";\n}\n\n";
}

std::string printExplain(const Signature &signature) {
  return (signature.givenSymbols().empty() ? "" : printExplainDims(signature)) + printExplainRun(signature);
}

} // namespace kiln
