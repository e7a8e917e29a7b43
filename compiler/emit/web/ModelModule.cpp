//===- ModelModule.cpp - A model as an ES module of JavaScript --------------===//
#include "compiler/emit/web/ModelModule.h"
#include "compiler/emit/BuildText.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/SizeRules.h"
#include "kiln/runtime.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace kiln {

std::string quoteText(StringRef text) {
  return llvm::formatv("{0}", llvm::json::Value(llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text)));
}

static std::string listTexts(ArrayRef<std::string> items) { return "[" + llvm::join(items, ", ") + "]"; }

/// A dimension as JavaScript, whose numbers have fractions and 53 bits: `d` holds the symbols' sizes in the signature's order.
static std::string printDim(AffineExpr expr, const Signature &signature) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() < 0 ? "(" + std::to_string(constant.getValue()) + ")" : std::to_string(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    const SignatureSymbol *found = signature.findSymbol(symbol.getPosition());
    return found ? "d[" + std::to_string(found - signature.symbols.data()) + "]" : "NaN";
  }
  if (AffineExpr part = nn::matchPositivePart(expr))
    return "Math.max(" + printDim(part, signature) + ", 0)";
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string left = printDim(binary.getLHS(), signature), right = printDim(binary.getRHS(), signature);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return "(" + left + " + " + right + ")";
  case AffineExprKind::Mul:
    return left + " * " + right;
  case AffineExprKind::Mod:
    return "(" + left + ") % (" + right + ")";
  default: // a divisor of zero gives what the run refuses
    return std::string(expr.getKind() == AffineExprKind::CeilDiv ? "Math.ceil" : "Math.floor") + "((" + left + ") / Math.max(" + right + ", 1))";
  }
}

/// `{ name: "x", type: "f32", texts: ["batch", "3"], dims: (d) => [d[0], 3], symbols: [0, -1] }`
static std::string printTensor(const SignatureTensor &tensor, const Signature &signature) {
  std::vector<std::string> texts, dims, symbols;
  bool isStatic = true;
  for (AffineExpr dim : tensor.dims) {
    auto symbol = dyn_cast<AffineSymbolExpr>(dim);
    const SignatureSymbol *found = symbol ? signature.findSymbol(symbol.getPosition()) : nullptr;
    isStatic &= nn::getConstantDim(dim).has_value();
    texts.push_back(quoteText(dimText(dim, signature, "")));
    dims.push_back(printDim(dim, signature));
    symbols.push_back(std::to_string(found ? static_cast<int>(found - signature.symbols.data()) : -1));
  }
  std::string text = "{ name: " + quoteText(tensor.onnxName) + ", type: " + quoteText(elementName(tensor.type.getElementType())) +
                     ", texts: " + listTexts(texts) + ", dims: " + (isStatic ? "" : "(d) => ") + listTexts(dims);
  if (!isStatic)
    text += ", symbols: " + listTexts(symbols);
  if (tensor.most)
    text += ", most: (d) => " + printDim(tensor.most, signature);
  return "    " + text + " },\n";
}

static std::string printTensors(StringRef field, ArrayRef<SignatureTensor> tensors, const Signature &signature) {
  std::string text = "  " + field.str() + ": [\n";
  for (const SignatureTensor &tensor : tensors)
    text += printTensor(tensor, signature);
  return text + "  ],\n";
}

static std::string printSymbols(const Signature &signature) {
  // Larger numbers than 2^53 have neighbours that are not whole numbers; no dimension is that large.
  constexpr int64_t largest = int64_t(1) << 53;
  std::string text = "  symbols: [";
  for (const SignatureSymbol &symbol : signature.symbols)
    text += "{ name: " + quoteText(symbol.onnxName) + ", min: " + std::to_string(std::max(symbol.min, -largest)) + ", max: " +
            (symbol.max > largest ? "Infinity" : std::to_string(symbol.max)) + " }, ";
  return text + "],\n  given: " + std::to_string(signature.givenSymbols().size()) + ",\n";
}

/// What a run demands of the sizes `d`, in the order of NAME_explain; the conditions call functions of model.mjs that have the names of kiln/explain.h.
static std::string printDemands(const Signature &signature) {
  auto nameOf = [&](const SignatureSymbol &symbol) { return "d[" + std::to_string(&symbol - signature.symbols.data()) + "]"; };
  std::string text = "  demands: [\n";
  for (const SizeDemand &demand : listSizeDemands(signature, nameOf)) {
    std::vector<std::string> symbols;
    for (unsigned place : demand.symbols)
      symbols.push_back(std::to_string(place));
    text += "    { holds: (d) => " + demand.condition + ", symbols: " + listTexts(symbols) + ", status: " + (demand.isBound ? "3" : "4") +
            ", words: " + quoteText(demand.words) + " },\n";
  }
  return text + "  ],\n";
}

static std::string printLists(const Signature &signature) {
  std::string text = "  lists: [";
  auto flag = [](StringRef name, bool value) { return ", " + name.str() + (value ? ": true" : ": false"); };
  for (const nn::SequenceInfo &list : signature.sequences)
    text += "{ name: " + quoteText(list.name) + ", first: " + std::to_string(list.first) + ", count: " + std::to_string(list.count) +
            flag("isOutput", list.isOutput) + flag("isSequence", list.isSequence) + flag("isBytes", list.isBytes) + " }, ";
  return text + "],\n";
}

static std::string printStatuses() {
  std::string text = "  statuses: [\n";
  for (int status = KILN_STATUS_OK; status <= KILN_STATUS_PEER_FAILED; ++status)
    text += "    " + (status ? quoteText(kiln_status_string(static_cast<kiln_status>(status))) : "\"\"") + ",\n";
  return text + "  ],\n";
}

static std::vector<std::string> quoteAll(ArrayRef<std::string> texts) {
  std::vector<std::string> quoted;
  for (const std::string &text : texts)
    quoted.push_back(quoteText(text));
  return quoted;
}

std::string printModelModule(const Signature &signature, ArrayRef<std::string> forms) {
  bool isFile = signature.externalWeights;
  std::string text = "// Model '" + makeCommentText(signature.name) + "', compiled by Kiln for WebAssembly. Edits will be lost.\n//\n"
                     "//   import { load } from \"./" + signature.name + ".mjs\";\n//   const model = await load();\n"
                     "//   const outputs = model.run(inputs);\n\n";
  text += "const signature = {\n  name: " + quoteText(signature.name) + ",\n  forms: " + listTexts(quoteAll(forms)) + ",\n  weights: { bytes: " +
          std::to_string(signature.weightsBytes) + ", file: " + (isFile ? "true" : "false") + " },\n" + printSymbols(signature) +
          printTensors("inputs", signature.inputs, signature) + printTensors("outputs", signature.outputs, signature) + printLists(signature) +
          printDemands(signature) + printStatuses() + "};\n\n// Bundlers find the files by these expressions.\n";
  auto url = [](StringRef name, const std::string &file) {
    return "const " + name.str() + " = () => new URL(" + quoteText("./" + file) + ", import.meta.url);\n";
  };
  text += url("wasmUrl", signature.name + ".wasm") + (isFile ? url("weightsUrl", signature.weightsFile()) : "const weightsUrl = undefined;\n");
  return text + embeddedFile("web/model.mjs").str() + embeddedFile("web/threads.mjs").str();
}

/// The typed array of an element type, as compiler/emit/web/model.mjs has it.
static std::string arrayType(Type type) {
  static constexpr std::pair<StringLiteral, StringLiteral> arrays[] = {
      {"f32", "Float32Array"}, {"f64", "Float64Array"}, {"f16", "Uint16Array"}, {"bf16", "Uint16Array"},  {"bool", "Uint8Array"},
      {"u8", "Uint8Array"},    {"i8", "Int8Array"},     {"u16", "Uint16Array"}, {"i16", "Int16Array"},    {"u32", "Uint32Array"},
      {"i32", "Int32Array"},   {"u64", "BigUint64Array"}, {"i64", "BigInt64Array"}, {"string", "string[]"}};
  std::string name = elementName(type);
  const auto *found = llvm::find_if(arrays, [&](const auto &entry) { return entry.first == name; });
  return found == std::end(arrays) ? "never" : found->second.str();
}

static std::string printFields(ArrayRef<SignatureTensor> tensors, bool isOutput, const Signature &signature) {
  std::string text;
  auto typeOf = [&](const SignatureTensor &tensor) {
    std::string array = arrayType(tensor.type.getElementType());
    bool isStatic = llvm::all_of(tensor.dims, [](AffineExpr dim) { return nn::getConstantDim(dim).has_value(); });
    std::string pair = "Tensor<" + array + ">";
    return isStatic ? isOutput ? array : array + " | " + pair : pair;
  };
  std::vector<bool> isInList(tensors.size());
  for (const nn::SequenceInfo &list : signature.sequences) {
    if (list.isOutput != isOutput)
      continue;
    std::vector<std::string> types;
    for (int64_t i = 0; i < list.count; ++i) {
      isInList[list.first + i] = list.isSequence || list.isBytes;
      types.push_back(typeOf(tensors[list.first + i]));
    }
    if (list.isSequence && list.count >= 0)
      text += "  " + quoteText(list.name) + ": [" + llvm::join(types, ", ") + "];\n";
  }
  for (auto [i, tensor] : llvm::enumerate(tensors))
    if (!isInList[i])
      text += "  /** " + makeCommentText(shapeText(tensor, signature)) + " */\n  " + quoteText(tensor.onnxName) + ": " + typeOf(tensor) + ";\n";
  return text;
}

static constexpr StringLiteral typesTemplate = R"(
export interface LoadOptions {
  /** Where the module is: a URL, the answer of fetch(), or its bytes. Default: the file beside this one. */
  wasm?: Source;
  /** The same for the weights, if they are a file of their own. */
  weights?: Source;
  /** The forms that may be chosen; the best that the engine knows is. */
  forms?: Form[];
  /** Threads of a run, this one among them: one where the host cannot share memory. Default: 1. */
  threads?: number;
  /** Gives a worker that calls serve(), in place of the module's own. */
  makeWorker?: () => object | Promise<object>;
  /** Decodes a picture for ImageDecoder; null for one that it does not know. With promises, call runAsync(). */
  decodeImage?: (bytes: Uint8Array, wanted: WantedPicture) => Picture | null | Promise<Picture | null>;
}
export interface WantedPicture {
  format: "rgb" | "bgr" | "grayscale";
  /** Bytes of a pixel in that format. */
  channels: number;
  maxHeight: number;
  maxWidth: number;
}
export interface Picture {
  /** Rows from top to bottom, in the wanted format or with red, green, blue and alpha, as ImageData has them. */
  data: Uint8Array | Uint8ClampedArray;
  width: number;
  height: number;
}
export type Source = string | URL | Response | ArrayBuffer | ArrayBufferView | Promise<Response | ArrayBuffer | ArrayBufferView>;

export interface RunOptions {
  /** Sizes of dimensions that no input has by themselves. */
  dims?: Record<string, number>;
  /** With false, results are arrays in the model's memory, which hold until the next run. Default: true. */
  copy?: boolean;
}

export declare class KilnError extends Error {
  /** A kiln_status, or 0 for wrong uses of this module. */
  readonly status: number;
}

/** A model with memory of its own, which runs one thing at a time. */
export declare class Model {
  private constructor();
  readonly form: Form;
  /** Bytes of memory that the model has. */
  readonly memoryBytes: number;
  /** Threads of a run. */
  readonly threads: number;
  run(inputs: Inputs, options?: RunOptions): Outputs;
  /** The same where `decodeImage` answers with promises. */
  runAsync(inputs: Inputs, options?: RunOptions): Promise<Outputs>;
  /** The array in the model's memory that an input of static shape is copied to; given to run() itself, it is not copied. */
  input(name: keyof Inputs): ArrayBufferView;
  /** Another model with the same weights and code. */
  clone(): Promise<Model>;
  /** Ends the workers; the model runs no more. */
  close(): void;
}

export declare const info: {
  readonly name: string;
  readonly inputs: { name: string; type: string; dims: string[] }[];
  readonly outputs: { name: string; type: string; dims: string[] }[];
};

export declare function load(options?: LoadOptions): Promise<Model>;

/** What is wrong with these sizes of the model's dimensions, by their names, and the ONNX node that demands it; "" if nothing is. run() throws it, too. */
export declare function explain(dims: Record<string, number>): string;

/** All that a worker of `makeWorker` does. */
export declare function serve(): void;
)";

std::string printModelTypes(const Signature &signature, ArrayRef<std::string> forms) {
  std::string text = "// Types of model '" + makeCommentText(signature.name) + "', compiled by Kiln for WebAssembly. Edits will be lost.\n\n"
                     "/** A tensor with dynamic dimensions: row-major elements without gaps. */\n"
                     "export interface Tensor<T> {\n  data: T;\n  dims: number[];\n}\n\n";
  text += "export type Form = " + llvm::join(quoteAll(forms), " | ") + ";\n\n";
  text += "export interface Inputs {\n" + printFields(signature.inputs, false, signature) + "}\n\nexport interface Outputs {\n" +
          printFields(signature.outputs, true, signature) + "}\n";
  return text + typesTemplate.str();
}

/// The types stand first among the conditions of an export, since the first that fits is taken.
static constexpr StringLiteral packageTemplate = R"({
  "name": @NAME@,
  "version": "1.0.0",
  "description": @DESCRIPTION@,
  "type": "module",
  "main": @MODULE@,
  "types": @TYPES@,
  "exports": {
    ".": { "types": @TYPES@, "default": @MODULE@ },
    @EXPORTS@
  },
  "files": [@FILES@],
  "sideEffects": false
}
)";

std::string printPackageFile(const Signature &signature, ArrayRef<std::string> files) {
  // npm allows no capitals, and no name that begins with an underscore.
  std::string name = StringRef(signature.name).lower();
  if (StringRef(name).starts_with("_"))
    name = "model" + name;
  std::vector<std::string> exports;
  for (const std::string &file : files)
    exports.push_back(quoteText("./" + file) + ": " + quoteText("./" + file));
  std::string description = "Model " + signature.name + ", compiled by Kiln for WebAssembly";
  return fillIn(packageTemplate, {{"@NAME@", quoteText(name)},
                                  {"@DESCRIPTION@", quoteText(description)},
                                  {"@MODULE@", quoteText("./" + signature.name + ".mjs")},
                                  {"@TYPES@", quoteText("./" + signature.name + ".d.ts")},
                                  {"@EXPORTS@", llvm::join(exports, ",\n    ")},
                                  {"@FILES@", llvm::join(quoteAll(files), ", ")}});
}

} // namespace kiln
