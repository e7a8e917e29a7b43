//===- HeaderPrinter.cpp - The generated header ----------------------------===//
#include "compiler/emit/HeaderPrinter.h"
#include "compiler/emit/WrapperPrinter.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/ExplainPrinter.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/KernelPrinter.h"
#include "compiler/emit/Preprocess.h"
#include "compiler/emit/ShapePrinter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace kiln {

/// Columns of a list in a comment.
static constexpr size_t headerColumns = 130;

static std::string printStruct(const std::vector<SignatureTensor> &tensors, StringRef kind, bool isConst, const Signature &signature) {
  std::string text = isConst ? "/* What a run reads. */\n" : "/* Where a run writes. */\n";
  text += "typedef struct " + signature.name + "_" + kind.str() + " {\n";
  for (auto [position, tensor] : llvm::enumerate(tensors)) {
    std::string type = (isConst ? "const " : "") + publicType(tensor.type.getElementType()) + " *" + tensor.field + ";";
    std::string named = tensor.field == tensor.onnxName ? "" : ", '" + makeCommentText(tensor.onnxName) + "'";
    if (std::string element = signature.describeElement(position, !isConst); !element.empty())
      named += ", " + makeCommentText(element);
    if (tensor.range)
      named += llvm::formatv(", values in [{0}, {1}]", tensor.range->first, tensor.range->second);
    if (tensor.quantization)
      named += ", " + quantizationText(*tensor.quantization);
    if (tensor.labels)
      named += ", " + makeCommentText(labelsText(*tensor.labels));
    if (!tensor.layout.empty())
      named += ", " + tensor.layout;
    for (auto [i, input] : llvm::enumerate(tensor.inPlaceOf))
      named += (i ? " or inputs->" : ", may be inputs->") + signature.inputs[input].field;
    text += "  " + type + " /* " + makeCommentText(shapeText(tensor, signature)) + named + " */\n";
  }
  for (const nn::SequenceInfo &sequence : signature.sequences)
    if (sequence.isOutput != isConst && sequence.count <= 0)
      text += "  /* '" + makeCommentText(sequence.name) + "' is " +
              (sequence.count < 0 ? "an optional without a value" : "a sequence without elements") + " */\n";
  if (tensors.empty())
    text += "  const void *reserved; /* the model has none, and C does not allow an empty struct */\n";
  return text + "} " + signature.name + "_" + kind.str() + ";\n\n";
}

/// A macro for a size that the model computes: a number, or a function of the dimensions that the caller gives, which computes nothing from those
/// that are outside of their bounds or too large.
static std::string printMost(const std::string &macro, AffineExpr most, const Signature &signature) {
  bool isKnown = isa<AffineConstantExpr>(most);
  std::string text = dimText(most, signature, "(dims)->");
  if (isKnown)
    return "#define " + macro + " " + text + "\n";
  return "#define " + macro + "(dims) \\\n  (" + signature.name + "_workspace_size(dims) == SIZE_MAX ? INT64_MAX : (int64_t)(" + text + "))\n";
}

static std::string listSpecialSizes(const SignatureSymbol &symbol, const Signature &signature) {
  std::set<int64_t> sizes = signature.specialSizes(symbol);
  return llvm::join(llvm::map_range(sizes, [](int64_t size) { return std::to_string(size); }), ", ");
}

/// Tells the caller about dimensions that bound sizes of which only the data tell.
static std::string printRaised(const Signature &signature) {
  std::string names;
  for (const SignatureSymbol &symbol : signature.symbols)
    if (symbol.isRaised)
      names += (names.empty() ? "" : ", ") + symbol.field;
  if (names.empty())
    return "";
  return " * Memory has room for sizes up to dimensions that the caller guesses, 0 for the first run: " + names +
         ".\n * A run that needs more raises one of them and ends with KILN_STATUS_DIMENSION_OUT_OF_BOUNDS. Give the workspace and the outputs the\n"
         " * room that they then need, and the inputs again where an output has updated them in place, and repeat the run.\n";
}

static std::string printDims(const Signature &signature) {
  if (!signature.hasDims())
    return "";
  std::string text, macros;
  for (const SignatureSymbol &symbol : signature.computedSymbols())
    macros += printMost(signature.macro + "_" + makeMacroName(symbol.field) + "_MAX", symbol.most, signature);
  for (const SignatureTensor &tensor : signature.outputs)
    if (tensor.most)
      macros += printMost(signature.macro + "_" + makeMacroName(tensor.field) + "_MOST_ELEMENTS", tensor.most, signature);
  if (signature.isDataSized())
    macros = "/* The last " + std::to_string(signature.computedSymbols().size()) + " of the dimensions depend on the data: " + signature.name +
             "_run overwrites them, and leaves them\n * unspecified if it fails. An output that depends on them needs room for ..._MOST_ELEMENTS, which "
             "follows from the dimensions that the\n * caller sets. The run fills the first of these elements, without gaps, in the shape that the written "
             "dimensions give. For dimensions\n * that no run accepts (" + signature.name + "_workspace_size() is SIZE_MAX) it is INT64_MAX. */\n" +
             "#define " + signature.macro + "_COMPUTED_DIMS " +
             std::to_string(signature.computedSymbols().size()) + "\n" + macros + "\n";
  macros += signature.givenSymbols().empty() ? "" : "/* The bounds of the dynamic dimensions. */\n";
  for (const SignatureSymbol &symbol : signature.symbols) {
    std::string macro = signature.macro + "_" + makeMacroName(symbol.field);
    if (symbol.most) {
      text += "  int64_t " + symbol.field + "; /* written by the run: 0 to " + readableText(symbol.most, signature) + " */\n";
      continue;
    }
    macros += "#define " + macro + "_MIN " + std::to_string(symbol.min) + "\n#define " + macro + "_MAX " + std::to_string(symbol.max) + "\n";
    if (symbol.multiple)
      macros += "#define " + macro + "_MULTIPLE " + std::to_string(symbol.multiple) + " /* as far as this dimension decides, all multiples of it fit */\n";
    std::string named = symbol.field == symbol.onnxName ? "" : ", '" + makeCommentText(symbol.onnxName) + "'";
    std::string special = listSpecialSizes(symbol, signature);
    text += "  int64_t " + symbol.field + "; /* " + std::to_string(symbol.min) + " to " + std::to_string(symbol.max) + named +
            (special.empty() ? "" : "; with versions for " + special) + (symbol.isRaised ? "; a run raises it" : "") + " */\n";
  }
  macros += printDemands(signature) + "/* The dynamic dimensions";
  macros += signature.versions.empty() ? ". */\n" : ". A run uses the version of the model that is compiled for its sizes, if there is one. */\n";
  return macros + "typedef struct " + signature.name + "_dims {\n" + text + "} " + signature.name + "_dims;\n\n";
}

static std::string printSizes(const Signature &signature) {
  std::string text;
  if (signature.workspaceBytes)
    text += "/* Bytes of the workspace. */\n#define " + signature.macro + "_WORKSPACE_SIZE " + std::to_string(*signature.workspaceBytes) + "\n";
  if (signature.stackBytes)
    text += "/* The most stack that a run takes, and that a task on another thread takes, not counting the C library's memcpy and the\n"
            " * context's functions. */\n#define " + signature.macro + "_STACK_SIZE " + std::to_string(*signature.stackBytes) + "\n";
  if (signature.isSharded())
    return text + "/* The ranks that run the model together. " + signature.name + "_info.rank_weights has the file of each rank's weights. */\n#define " +
           signature.macro + "_NUM_RANKS " + std::to_string(signature.rankWeights.size()) + "\n\n";
  text += std::string("/* Bytes of the weights") + (signature.externalWeights ? "; the name of their file, and what kiln_weights_map() compares" : "") +
          ". */\n#define " + signature.macro + "_WEIGHTS_SIZE " + std::to_string(signature.weightsBytes) + "\n";
  if (signature.externalWeights)
    text += "#define " + signature.macro + "_WEIGHTS_FILE " + makeStringLiteral(signature.weightsFile()) + "\n#define " + signature.macro +
            "_WEIGHTS_CHECKSUM UINT64_C(" + std::to_string(signature.weightsChecksum) + ")\n";
  return text + "\n";
}

/// The end of the comment of NAME_run for a model that calls libraries.
static std::string printLibraries(const Signature &signature) {
  std::string names, functions;
  for (const std::string &name : signature.libraries) {
    names += (names.empty() ? "" : ", ") + makeCommentText(name);
    functions += (functions.empty() ? "kiln_" : ", kiln_") + makeCommentText(name) + "_release()";
  }
  return "aborts.\n *\n * Some operations run in a library (" + names + "), which you must link. It allocates and locks, mainly in the first run of each\n"
         " * thread and of each set of dimensions, and keeps memory until the process ends or " + functions + " is called.\n"
         " * If it fails, the run ends with KILN_STATUS_LIBRARY_FAILURE or _OUT_OF_MEMORY. */\n";
}

/// The comment of NAME_target: how the target is chosen, and what each target needs.
static std::string printTargetFunction(const Signature &signature, bool several) {
  std::string text = "/* The target that runs use";
  if (several)
    text += ": the best of " + makeCommentText(signature.target) + "\n"
            " * that the CPU can run, chosen once per process. NULL if it can run none: every run then ends with KILN_STATUS_UNSUPPORTED_CPU.\n"
            " * The environment variable KILN_TARGET=NAME selects one of them instead";
  else if (signature.isGuarded)
    text += ". NULL if the CPU cannot run it, which is checked once per process: every run then ends with\n * KILN_STATUS_UNSUPPORTED_CPU";
  text += ".";
  for (auto &[target, features] : signature.needs) {
    std::string list = "\n * " + makeCommentText(target) + " needs a CPU with";
    size_t column = list.size();
    for (StringRef feature : llvm::split(features, ' ')) {
      column += feature.size() + 1;
      list += column > headerColumns ? "\n *   " : " ";
      column = column > headerColumns ? feature.size() + 5 : column;
      list += makeCommentText(feature);
    }
    text += features.empty() ? "" : list + ".";
  }
  return text + " */\n";
}

static std::string printFunctions(const Signature &signature) {
  bool several = StringRef(signature.target).contains(',');
  const std::string &name = signature.name, api = makeMacroName(signature.library) + "_API ";
  std::string dims = signature.hasDims() ? "const " + name + "_dims *dims" : "void";
  std::string sizes = " with these dimensions. SIZE_MAX if `dims` is NULL, if one of them is out of\n * bounds, or if they make a tensor "
                      "or the workspace larger than 2^62 bytes (KILN_STATUS_SIZE_OVERFLOW)";
  if (!signature.hasDims())
    sizes.clear();
  std::string text = "/* Bytes of workspace that a run needs" + sizes + ". */\n" + api + "size_t " + name + "_workspace_size(" + dims + ");\n\n";
  text += "/* Runs the model. The caller owns all buffers. They hold row-major elements without gaps. Outputs must not overlap anything\n"
          " * else, except that an output marked as such may be an input's buffer, which is then updated in place. The workspace must be\n"
          " * aligned to KILN_ALIGNMENT. `context` may be NULL, for one thread and no hooks.\n";
  if (signature.isSharded())
    text += " * All ranks must run it together, each with its part of the weights (`weights`, the contents of its file in rank_weights), with\n"
            " * equal inputs and with a context that has a communicator of " +
            std::to_string(signature.rankWeights.size()) +
            " ranks. A failure of one rank ends the run of all with a status other than KILN_STATUS_OK. Outputs are\n * only valid after KILN_STATUS_OK.\n";
  else if (signature.externalWeights)
    text += " * `weights` are the contents of the weights file: see kiln_weights_map() of the runtime, or read or map it yourself.\n";
  if (signature.decodesImages)
    text += " * It decodes pictures: set the context's `decode_image` (to kiln_images_decode of libkiln_images, for example), or the run ends with\n"
            " * KILN_STATUS_MISSING_IMAGE_DECODER. That function may allocate and lock, on the calling thread; the run itself does not.\n";
  std::string raised = printRaised(signature);
  if (signature.writesDims())
    text += std::string(" * `dims` is also an output: the run writes the dimensions that depend on the data") +
            (raised.empty() ? "" : ", and those that bound such sizes") + ".\n" + raised;
  text += std::string(" * Any number of threads may run the model at once, each with its own ") + (signature.writesDims() ? "dimensions, " : "") +
          "workspace and outputs. A run never ";
  text += signature.libraries.empty() ? "allocates,\n * locks, prints or aborts. */\n" : printLibraries(signature);
  text += printCall(api + "kiln_status " + name + "_run", signature.runParameters()) + ";\n\n";
  text += printTargetFunction(signature, several) + api + "const char *" + name + "_target(void);\n\n";
  return text + "/* The signature as data. */\n" + api.substr(0, api.size() - 1) + " extern const kiln_model_info " + name + "_info;\n";
}

/// Macros of the tensors that have one scale.
static std::string printQuantization(const Signature &signature) {
  std::string text;
  for (auto *tensors : {&signature.inputs, &signature.outputs})
    for (const SignatureTensor &tensor : *tensors)
      if (tensor.quantization && tensor.quantization->axis < 0) {
        std::string macro = signature.macro + "_" + makeMacroName(tensor.field);
        text += "#define " + macro + "_SCALE " + floatLiteral(tensor.quantization->scales.front()) + "\n#define " + macro + "_ZERO_POINT (" +
                std::to_string(tensor.quantization->zeroPoints.front()) + ")\n";
      }
  return text.empty() ? "" : "/* Quantised tensors: integer q stands for the number (q - zero point) * scale. */\n" + text + "\n";
}

/// Macros of the labels of classes: their number, and the initializer of an array.
static std::string printLabels(const Signature &signature) {
  std::string text;
  for (const SignatureTensor &tensor : signature.outputs) {
    if (!tensor.labels)
      continue;
    std::string macro = signature.macro + "_" + makeMacroName(tensor.field);
    text += "#define " + macro + "_NUM_LABELS " + std::to_string(tensor.labels->size()) + "\n#define " + macro + "_LABELS {";
    size_t column = headerColumns;
    for (size_t i = 0; i < tensor.labels->size(); ++i) {
      std::string value = tensor.labels->strings.empty() ? integerLiteral(tensor.labels->integers[i]) : makeStringLiteral(tensor.labels->strings[i]);
      bool breaks = column + value.size() + 2 > headerColumns;
      text += (i ? "," : "") + std::string(breaks ? " \\\n  " : " ") + value;
      column = (breaks ? 2 : column + 2) + value.size();
    }
    text += "}\n";
  }
  return text.empty() ? "" : "/* Labels of classes, in their order: `static const char *const labels[] = ..._LABELS;`, or int64_t. " +
                             signature.name + "_info.output_labels has them, too. */\n" + text + "\n";
}

/// What the user asked to have rounded, and how much that is.
static std::string printRounding(const Signature &signature) {
  if (signature.rounding.empty())
    return "";
  std::string text = "/* Rounded on request:";
  for (const std::string &line : signature.rounding) {
    size_t column = 0;
    for (StringRef word : llvm::split(line, ' ')) {
      bool breaks = column == 0 || column + word.size() >= headerColumns;
      text += breaks ? column == 0 ? "\n * - " : "\n *   " : " ";
      column = breaks ? 5 + word.size() : column + 1 + word.size();
      text += makeCommentText(word);
    }
    text += ".";
  }
  return text + " */\n\n";
}

/// What belongs to a library of several models as a whole.
static std::string printGraphs(StringRef library, ArrayRef<Signature> models) {
  Signature whole = models.front();
  whole.macro = makeMacroName(library);
  whole.workspaceBytes = whole.stackBytes = std::nullopt;
  return "/* The weights of all models are one array" + std::string(whole.externalWeights ? " in one file, which each run takes whole" : "") + ". */\n" +
         printSizes(whole) + "/* The signatures of all models as data. */\n#define " + whole.macro + "_NUM_GRAPHS " + std::to_string(models.size()) + "\n" +
         whole.macro + "_API extern const kiln_model_info *const " + library.str() + "_graphs[" + whole.macro + "_NUM_GRAPHS];\n\n";
}

std::string printHeader(ArrayRef<Signature> models) {
  const Signature &first = models.front();
  std::string macro = makeMacroName(first.library), guard = macro + "_KILN_MODEL_H", api = macro + "_API";
  std::string target = first.target.empty() ? "" : " for " + makeCommentText(first.target);
  bool isLibrary = first.name != first.library;
  std::string text = std::string("/* ") + (isLibrary ? "Library" : "Model") + " '" + makeCommentText(first.library) + "'" + target +
                     ", generated by Kiln. Edits will be lost. C11 and C++17. */\n" + "#ifndef " + guard + "\n#define " + guard + "\n\n";
  if (!isLibrary)
    text += printRounding(first);
  text += embeddedFile("kiln/abi.h").str() + "\n" + StringRef(embeddedFile("kiln/explain.h")).split("#include \"kiln/abi.h\"\n\n").first.str() +
          StringRef(embeddedFile("kiln/explain.h")).split("#include \"kiln/abi.h\"\n\n").second.str() + "\n";
  text += "#if defined(__GNUC__) || defined(__clang__)\n#define " + api + " __attribute__((visibility(\"" + (first.isInternal ? "hidden" : "default") +
          "\")))\n#else\n#define " + api + "\n#endif\n\n";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  if (isLibrary)
    text += printGraphs(first.library, models);
  NameScope names;
  for (const Signature &model : models) {
    if (isLibrary)
      text += "/* Model '" + makeCommentText(model.name) + "'. */\n" + printRounding(model);
    text += printSizes(model) + printDims(model) + printQuantization(model) + printLabels(model) + printPreprocess(model) +
            printStruct(model.inputs, "inputs", true, model) + printStruct(model.outputs, "outputs", false, model) + printFunctions(model) + "\n" +
            printShapeFunctions(model, names) + printExplain(model);
  }
  text += "\n#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n";
  for (const Signature &model : models)
    text += printWrapper(model);
  return text + "\n#endif /* " + guard + " */\n";
}

} // namespace kiln
