//===- InfoTables.cpp - The signature as constant data ---------------------===//
#include "compiler/emit/InfoTables.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/SizeRules.h"

#include "dialects/nn/ConstantData.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

static std::string array(StringRef type, const std::string &name, const std::vector<std::string> &values) {
  return "const " + type.str() + name + "[] = {" + llvm::join(values, ", ") + "};\n";
}

/// The row of a tensor, and the arrays that it points to.
static std::string printTensor(const SignatureTensor &tensor, const std::string &id, const Signature &signature, std::string &arrays) {
  std::vector<std::string> dims, texts, symbols;
  bool dynamic = false;
  int64_t bytes = nn::elementBytes(tensor.type.getElementType());
  for (AffineExpr dim : tensor.dims) {
    auto value = nn::getConstantDim(dim);
    auto symbol = dyn_cast<AffineSymbolExpr>(dim);
    dynamic |= !value;
    bytes = value && bytes >= 0 ? bytes * *value : -1;
    dims.push_back(std::to_string(value.value_or(-1)));
    texts.push_back(makeStringLiteral(dimText(dim, signature, "")));
    const SignatureSymbol *found = symbol ? signature.findSymbol(symbol.getPosition()) : nullptr;
    symbols.push_back(std::to_string(found ? static_cast<int>(found - signature.symbols.data()) : -1));
  }
  if (!dims.empty())
    arrays += array("int64_t ", id + "_extents", dims);
  if (dynamic)
    arrays += array("char *const ", id + "_texts", texts) + array("int32_t ", id + "_positions", symbols);
  std::string row = makeStringLiteral(tensor.onnxName) + ", " + makeStringLiteral(tensor.field) + ", " + (dims.empty() ? "nullptr" : id + "_extents") +
                    ", " + (dynamic ? id + "_texts, " + id + "_positions" : "nullptr, nullptr");
  return "    {" + row + ", " + std::to_string(bytes) + ", " + elementEnumerator(tensor.type.getElementType()) + ", " + std::to_string(dims.size()) + "},\n";
}

static std::string printTensors(const std::vector<SignatureTensor> &tensors, const std::string &name, const Signature &signature) {
  std::string arrays, rows;
  for (auto [i, tensor] : llvm::enumerate(tensors))
    rows += printTensor(tensor, name + std::to_string(i), signature, arrays);
  return rows.empty() ? "" : arrays + "const kiln_tensor_info " + name + "_table[] = {\n" + rows + "};\n";
}

static std::string printRankWeights(const Signature &signature) {
  std::string rows;
  for (const RankWeights &weights : signature.rankWeights)
    rows += "    {" + makeStringLiteral(weights.file) + ", " + std::to_string(weights.bytes) + ", " + std::to_string(weights.checksum) + "ull},\n";
  return rows.empty() ? "" : "const kiln_rank_weights rank_weights_table[] = {\n" + rows + "};\n";
}

/// Upper bounds of the sizes that the model computes: of each output in elements, and of each computed dimension.
static std::string printBounds(const Signature &signature) {
  if (!signature.isDataSized())
    return "";
  std::vector<std::string> outputs, symbols;
  for (const SignatureTensor &tensor : signature.outputs) {
    AffineExpr most = tensor.most ? tensor.most : nn::getNumElements(tensor.dims, tensor.type.getContext());
    outputs.push_back(makeStringLiteral(dimText(most, signature, "")));
  }
  for (const SignatureSymbol &symbol : signature.computedSymbols())
    symbols.push_back(makeStringLiteral(dimText(symbol.most, signature, "")));
  return array("char *const ", "output_bounds", outputs) + array("char *const ", "symbol_bounds", symbols);
}

static std::string printSequences(const Signature &signature) {
  std::string rows;
  auto flag = [](bool value) { return std::string(value ? ", 1" : ", 0"); };
  for (const nn::SequenceInfo &sequence : signature.sequences)
    rows += "    {" + makeStringLiteral(sequence.name) + ", " + std::to_string(sequence.first) + ", " + std::to_string(sequence.count) +
            flag(sequence.isOutput) + flag(sequence.isSequence) + flag(sequence.isOptional) + flag(sequence.isBytes) + ", {}},\n";
  return rows.empty() ? "" : "const kiln_sequence_info sequence_table[] = {\n" + rows + "};\n";
}

/// What the integers of inputs or outputs stand for; empty if nothing is known of any.
static std::string printQuantization(const std::vector<SignatureTensor> &tensors, const std::string &name) {
  std::string arrays, rows;
  bool isAny = false;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    if (!tensor.quantization) {
      rows += "    {nullptr, nullptr, 0, -1},\n";
      continue;
    }
    isAny = true;
    std::vector<std::string> scales, zeros;
    for (float scale : tensor.quantization->scales)
      scales.push_back(floatLiteral(scale));
    for (int64_t zero : tensor.quantization->zeroPoints)
      zeros.push_back(std::to_string(zero));
    std::string id = name + std::to_string(i);
    arrays += array("float ", id + "_scales", scales) + array("int32_t ", id + "_zero_points", zeros);
    rows += "    {" + id + "_scales, " + id + "_zero_points, " + std::to_string(scales.size()) + ", " + std::to_string(tensor.quantization->axis) + "},\n";
  }
  return isAny ? arrays + "const kiln_quantization_info " + name + "_quantization_table[] = {\n" + rows + "};\n" : "";
}

/// The labels of the outputs' classes; empty if none has any.
static std::string printLabels(const std::vector<SignatureTensor> &tensors) {
  std::string arrays, rows;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    if (!tensor.labels) {
      rows += "    {nullptr, nullptr, 0, -1},\n";
      continue;
    }
    std::vector<std::string> values;
    for (int64_t value : tensor.labels->integers)
      values.push_back(integerLiteral(value));
    for (const std::string &text : tensor.labels->strings)
      values.push_back("{" + makeStringLiteral(text) + ", " + std::to_string(text.size()) + "}");
    bool areStrings = !tensor.labels->strings.empty();
    std::string id = "output" + std::to_string(i) + "_labels";
    arrays += array(areStrings ? "kiln_string " : "int64_t ", id, values);
    rows += "    {" + (areStrings ? "nullptr, " + id : id + ", nullptr") + ", " + std::to_string(values.size()) + ", " +
            std::to_string(tensor.labels->axis) + "},\n";
  }
  return arrays.empty() ? "" : arrays + "const kiln_labels_info output_labels_table[] = {\n" + rows + "};\n";
}

/// The layouts of inputs or outputs; empty if all have the model's.
static std::string printLayouts(const std::vector<SignatureTensor> &tensors, const std::string &name) {
  std::vector<std::string> layouts;
  for (const SignatureTensor &tensor : tensors)
    layouts.push_back(tensor.layout.empty() ? "nullptr" : makeStringLiteral(tensor.layout));
  bool isAny = llvm::any_of(tensors, [](const SignatureTensor &tensor) { return !tensor.layout.empty(); });
  return isAny ? array("char *const ", name + "_layout_table", layouts) : "";
}

static std::string printMetadata(const Signature &signature) {
  std::string rows;
  for (const auto &[key, value] : signature.metadata)
    rows += "    {" + makeStringLiteral(key) + ", " + makeStringLiteral(value) + "},\n";
  return rows.empty() ? "" : "const kiln_metadata_entry metadata_table[] = {\n" + rows + "};\n";
}

/// Prints the demands of a run on the caller's dimensions and on the data. There are none if all dimensions are static and no data decide sizes.
static std::string printDemands(const Signature &signature, size_t &count) {
  std::string arrays, rows;
  for (const SizeDemand &demand : listSizeDemands(signature, [](const SignatureSymbol &symbol) { return symbol.field; })) {
    if (demand.number.empty())
      continue;
    std::vector<std::string> symbols;
    for (unsigned place : demand.symbols)
      symbols.push_back(std::to_string(place));
    std::string id = "demand" + std::to_string(count++);
    arrays += array("int32_t ", id, symbols);
    rows += "    {" + makeStringLiteral(demand.number) + ", " + makeStringLiteral(demand.words) + ", " + id + ", " + std::to_string(symbols.size()) + ", " +
            demandStatus(demand).str() + (demand.isLeast ? ", 1, {}},\n" : ", 0, {}},\n");
  }
  for (const std::string &words : signature.dataDemands) {
    rows += "    {\"0\", " + makeStringLiteral(words) + ", nullptr, 0, KILN_STATUS_DIMENSION_MISMATCH, 0, {}},\n";
    ++count;
  }
  return rows.empty() ? "" : arrays + "const kiln_demand_info demand_table[] = {\n" + rows + "};\n";
}

std::string printInfoTables(const Signature &signature, size_t launches) {
  std::string text = printTensors(signature.inputs, "input", signature) + printTensors(signature.outputs, "output", signature);
  if (signature.hasDims()) {
    text += "const kiln_symbol_info symbol_table[] = {\n";
    for (const SignatureSymbol &symbol : signature.symbols)
      text += "    {" + makeStringLiteral(symbol.onnxName) + ", " + std::to_string(symbol.min) + ", " + std::to_string(symbol.max) + "},\n";
    text += "};\n";
  }
  std::string inputQuantization = printQuantization(signature.inputs, "input"), outputQuantization = printQuantization(signature.outputs, "output");
  std::string inputLayouts = printLayouts(signature.inputs, "input"), outputLayouts = printLayouts(signature.outputs, "output");
  std::string outputLabels = printLabels(signature.outputs);
  size_t numDemands = 0;
  std::string demands = printDemands(signature, numDemands);
  text += printBounds(signature) + demands + printSequences(signature) + inputQuantization + outputQuantization + inputLayouts + outputLayouts + outputLabels +
          printMetadata(signature);
  auto table = [](bool empty, const char *name) { return std::string(empty ? "nullptr" : name); };
  uint64_t checksum = signature.externalWeights ? signature.weightsChecksum : 0;
  std::string file = signature.externalWeights && !signature.isSharded() ? makeStringLiteral(signature.weightsFile()) : "nullptr";
  text += printRankWeights(signature);
  std::vector<std::pair<std::string, std::string>> fields = {{"abi_version", "KILN_ABI_VERSION"},
                                                             {"struct_size", "uint32_t(sizeof(kiln_model_info))"},
                                                             {"name", makeStringLiteral(signature.name)},
                                                             {"target", makeStringLiteral(signature.target)},
                                                             {"inputs", table(signature.inputs.empty(), "input_table")},
                                                             {"outputs", table(signature.outputs.empty(), "output_table")},
                                                             {"symbols", table(!signature.hasDims(), "symbol_table")},
                                                             {"weights_file", file},
                                                             {"num_inputs", std::to_string(signature.inputs.size())},
                                                             {"num_outputs", std::to_string(signature.outputs.size())},
                                                             {"num_symbols", std::to_string(signature.symbols.size())},
                                                             {"num_kernels", std::to_string(launches)},
                                                             {"workspace_size", std::to_string(signature.workspaceBytes.value_or(-1))},
                                                             {"weights_size", std::to_string(signature.weightsBytes)},
                                                             {"weights_checksum", std::to_string(checksum) + "ull"},
                                                             {"output_bounds", table(!signature.isDataSized(), "output_bounds")},
                                                             {"symbol_bounds", table(!signature.isDataSized(), "symbol_bounds")},
                                                             {"num_computed", std::to_string(signature.computedSymbols().size())},
                                                             {"num_sequences", std::to_string(signature.sequences.size())},
                                                             {"sequences", table(signature.sequences.empty(), "sequence_table")},
                                                             {"input_quantization", table(inputQuantization.empty(), "input_quantization_table")},
                                                             {"output_quantization", table(outputQuantization.empty(), "output_quantization_table")},
                                                             {"input_layouts", table(inputLayouts.empty(), "input_layout_table")},
                                                             {"output_layouts", table(outputLayouts.empty(), "output_layout_table")},
                                                             {"output_labels", table(outputLabels.empty(), "output_labels_table")},
                                                             {"metadata", table(signature.metadata.empty(), "metadata_table")},
                                                             {"num_metadata", std::to_string(signature.metadata.size())},
                                                             {"demands", table(demands.empty(), "demand_table")},
                                                             {"num_demands", std::to_string(numDemands)},
                                                             {"rank_weights", table(!signature.isSharded(), "rank_weights_table")},
                                                             {"num_ranks", std::to_string(signature.rankWeights.size())}};
  text += "constexpr kiln_model_info description = {\n";
  for (auto &[field, value] : fields)
    text += "    /*" + field + "*/ " + value + ",\n";
  return text + "};\n";
}

} // namespace kiln
