//===- Description.cpp - What is known of a compiled model -----------------===//
#include "compiler/Description.h"
#include "compiler/Recursion.h"
#include "compiler/files/Printable.h"
#include "dialects/nn/OperationAttributeNames.h"

using namespace llvm;

namespace kiln {

static std::vector<Description::Tensor> describeTensors(const Signature &signature, bool isOutput) {
  std::vector<Description::Tensor> result;
  for (auto [i, tensor] : enumerate(isOutput ? signature.outputs : signature.inputs))
    result.push_back({tensor.onnxName, shapeText(tensor, signature), tensor.range, signature.describeElement(i, isOutput), tensor.quantization, tensor.labels,
                      tensor.layout});
  // Sequences without tensors have entries, too.
  for (const nn::SequenceInfo &sequence : signature.sequences)
    if (sequence.isOutput == isOutput && sequence.count <= 0)
      result.push_back({sequence.name, sequence.count < 0 ? "optional without a value" : "sequence without elements"});
  return result;
}

Description describe(const Compilation &compilation, const Signature &signature) {
  Description result;
  result.name = signature.name;
  result.target = compilation.target;
  for (auto &[target, features] : signature.needs)
    if (!features.empty())
      result.needs[target] = features;
  if (auto accuracy = (*compilation.targets.front().module)->getAttrOfType<mlir::StringAttr>(nn::accuracyAttrName))
    result.accuracy = accuracy.str();
  result.rounding = signature.rounding;
  result.inputs = describeTensors(signature, false);
  result.outputs = describeTensors(signature, true);
  for (const SignatureSymbol &symbol : signature.symbols) {
    result.dimensions.push_back({symbol.onnxName, symbol.min, symbol.max, symbol.most ? readableText(symbol.most, signature) : ""});
    std::set<int64_t> special = signature.specialSizes(symbol);
    result.dimensions.back().special.assign(special.begin(), special.end());
  }
  result.demands = signature.demands;
  result.metadata = signature.metadata;
  result.workspaceBytes = signature.workspaceBytes.value_or(-1);
  result.weightsBytes = signature.weightsBytes;
  for (const RankWeights &weights : signature.rankWeights)
    result.rankBytes.push_back(weights.bytes);
  result.operators = compilation.operators;
  result.kernels = collectDecisions(compilation);
  // --why must not change the library, so refusals are left out.
  for (Decision &decision : result.kernels)
    decision.refusals.clear();
  return result;
}

Description describe(const Compilation &compilation, const Signature &signature, ArrayRef<Signature> models) {
  if (compilation.graphs.empty())
    return describe(compilation, signature);
  Description library;
  library.name = signature.name;
  library.target = compilation.target;
  library.weightsBytes = signature.weightsBytes;
  for (auto [graph, model] : zip_equal(compilation.graphs, models))
    library.graphs.push_back(describe(*graph, model));
  return library;
}

//===- JSON ----------------------------------------------------------------===//

/// The numbers as they are written in C; JSON has neither infinity nor NaN, null stands for both.
static json::Array numbers(ArrayRef<float> values) {
  json::Array list;
  for (float value : values)
    list.push_back(std::isfinite(value) ? json::Value(std::strtod(numberText(value).c_str(), nullptr)) : json::Value(nullptr));
  return list;
}

static json::Array toJson(ArrayRef<Description::Tensor> tensors) {
  json::Array list;
  for (const Description::Tensor &tensor : tensors) {
    json::Object row{{"name", jsonText(tensor.name)}, {"type", jsonText(tensor.type)}};
    if (tensor.range)
      // JSON has no infinity; null means no bound.
      row["range"] = json::Array{std::isfinite(tensor.range->first) ? json::Value(tensor.range->first) : json::Value(nullptr),
                                 std::isfinite(tensor.range->second) ? json::Value(tensor.range->second) : json::Value(nullptr)};
    if (!tensor.element.empty())
      row["element"] = jsonText(tensor.element);
    if (tensor.quantization) {
      json::Object quantization{{"scales", numbers(tensor.quantization->scales)}, {"zero_points", json::Array(tensor.quantization->zeroPoints)}};
      if (tensor.quantization->axis >= 0)
        quantization["axis"] = tensor.quantization->axis;
      row["quantization"] = std::move(quantization);
    }
    if (tensor.labels) {
      bool areStrings = !tensor.labels->strings.empty();
      json::Object labels{{"labels", areStrings ? json::Array(map_range(tensor.labels->strings, jsonText)) : json::Array(tensor.labels->integers)}};
      if (tensor.labels->axis >= 0)
        labels["axis"] = tensor.labels->axis;
      row["labels"] = std::move(labels);
    }
    if (!tensor.layout.empty())
      row["layout"] = tensor.layout;
    list.push_back(std::move(row));
  }
  return list;
}

static json::Object toJsonOfModel(const Description &description);

json::Object toJson(const Description &description) {
  json::Object object = toJsonOfModel(description);
  if (description.origin)
    object["origin"] = toJson(*description.origin);
  if (!description.guarantees.empty())
    object["guarantees"] = json::Array(map_range(description.guarantees, jsonText));
  return object;
}

static json::Object toJsonOfModel(const Description &description) {
  if (!description.graphs.empty()) {
    json::Array graphs;
    for (const Description &graph : description.graphs)
      graphs.push_back(toJson(graph));
    return json::Object{{"name", jsonText(description.name)}, {"target", jsonText(description.target)}, {"weights_bytes", description.weightsBytes},
                        {"file_bytes", description.fileBytes}, {"graphs", std::move(graphs)}};
  }
  json::Object operators;
  for (auto &[name, count] : description.operators)
    operators[jsonText(name)] = count;
  json::Object needs;
  for (auto &[target, features] : description.needs)
    needs[jsonText(target)] = jsonText(features);
  json::Array dimensions;
  for (const Description::Dimension &dimension : description.dimensions) {
    json::Object row{{"name", jsonText(dimension.name)}, {"min", dimension.min}, {"max", dimension.max}};
    if (!dimension.bound.empty())
      row["bound"] = jsonText(dimension.bound);
    if (!dimension.special.empty())
      row["special"] = json::Array(dimension.special);
    dimensions.push_back(std::move(row));
  }
  json::Array metadata;
  for (auto &[key, value] : description.metadata)
    metadata.push_back(json::Object{{"key", jsonText(key)}, {"value", jsonText(value)}});
  return json::Object{{"name", jsonText(description.name)},
                      {"target", jsonText(description.target)},
                      {"needs", std::move(needs)},
                      {"accuracy", description.accuracy},
                      {"rounding", json::Array(map_range(description.rounding, jsonText))},
                      {"inputs", toJson(description.inputs)},
                      {"outputs", toJson(description.outputs)},
                      {"dimensions", std::move(dimensions)},
                      {"demands", json::Array(map_range(description.demands, jsonText))},
                      {"metadata", std::move(metadata)},
                      {"weights_bytes", description.weightsBytes},
                      {"rank_weights_bytes", json::Array(description.rankBytes)},
                      {"workspace_bytes", description.workspaceBytes},
                      {"file_bytes", description.fileBytes},
                      {"operators", std::move(operators)},
                      {"kernels", decisionsToJson(description.kernels)}};
}

/// Calls a function for each object of an array; anything else counts as an empty array.
static void forEachRow(const json::Object &object, StringRef key, function_ref<void(const json::Object &)> visit) {
  if (const json::Array *list = object.getArray(key))
    for (const json::Value &row : *list)
      if (const json::Object *fields = row.getAsObject())
        visit(*fields);
}

static std::string getText(const json::Object &object, StringRef key) { return object.getString(key).value_or("").str(); }

static std::optional<nn::TensorQuantization> readQuantization(const json::Object &row) {
  const json::Object *fields = row.getObject("quantization");
  const json::Array *scales = fields ? fields->getArray("scales") : nullptr, *zeros = fields ? fields->getArray("zero_points") : nullptr;
  if (!scales || !zeros || scales->empty() || scales->size() != zeros->size())
    return std::nullopt;
  nn::TensorQuantization result{fields->getInteger("axis").value_or(-1), {}, {}};
  for (auto [scale, zero] : zip_equal(*scales, *zeros)) {
    result.scales.push_back(float(scale.getAsNumber().value_or(NAN)));
    result.zeroPoints.push_back(zero.getAsInteger().value_or(0));
  }
  return result;
}

static std::optional<nn::ClassLabels> readLabels(const json::Object &row) {
  const json::Object *fields = row.getObject("labels");
  const json::Array *values = fields ? fields->getArray("labels") : nullptr;
  if (!values || values->empty())
    return std::nullopt;
  nn::ClassLabels result{fields->getInteger("axis").value_or(-1), {}, {}};
  for (const json::Value &value : *values) {
    if (std::optional<int64_t> integer = value.getAsInteger())
      result.integers.push_back(*integer);
    else if (std::optional<StringRef> text = value.getAsString())
      result.strings.push_back(text->str());
  }
  // Labels are of one kind.
  return result.size() == values->size() && (result.integers.empty() || result.strings.empty()) ? std::optional(std::move(result)) : std::nullopt;
}

static std::vector<Description::Tensor> readTensors(const json::Object &object, StringRef key) {
  std::vector<Description::Tensor> tensors;
  forEachRow(object, key, [&](const json::Object &row) {
    tensors.push_back({getText(row, "name"), getText(row, "type")});
    tensors.back().element = getText(row, "element");
    tensors.back().quantization = readQuantization(row);
    tensors.back().labels = readLabels(row);
    tensors.back().layout = getText(row, "layout");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (const json::Array *range = row.getArray("range"); range && range->size() == 2)
      tensors.back().range = {(*range)[0].getAsNumber().value_or(-infinity), (*range)[1].getAsNumber().value_or(infinity)};
  });
  return tensors;
}

static Description readDescription(const json::Object &fields) {
  const json::Object *object = &fields;
  Description result;
  result.name = getText(*object, "name");
  result.target = getText(*object, "target");
  if (const json::Object *needs = object->getObject("needs"))
    for (auto &[target, features] : *needs)
      result.needs[target.str()] = features.getAsString().value_or("").str();
  result.accuracy = getText(*object, "accuracy");
  if (const json::Object *origin = object->getObject("origin"))
    result.origin = originFromJson(*origin);
  if (const json::Array *lines = object->getArray("guarantees"))
    for (const json::Value &line : *lines)
      result.guarantees.push_back(line.getAsString().value_or("").str());
  if (const json::Array *lines = object->getArray("rounding"))
    for (const json::Value &line : *lines)
      result.rounding.push_back(line.getAsString().value_or("").str());
  result.inputs = readTensors(*object, "inputs");
  result.outputs = readTensors(*object, "outputs");
  forEachRow(*object, "dimensions", [&](const json::Object &row) {
    result.dimensions.push_back({getText(row, "name"), row.getInteger("min").value_or(0), row.getInteger("max").value_or(0), getText(row, "bound")});
    if (const json::Array *special = row.getArray("special"))
      for (const json::Value &size : *special)
        result.dimensions.back().special.push_back(size.getAsInteger().value_or(0));
  });
  if (const json::Array *lines = object->getArray("demands"))
    for (const json::Value &line : *lines)
      result.demands.push_back(line.getAsString().value_or("").str());
  forEachRow(*object, "metadata", [&](const json::Object &row) { result.metadata.push_back({getText(row, "key"), getText(row, "value")}); });
  result.weightsBytes = object->getInteger("weights_bytes").value_or(0);
  if (const json::Array *ranks = object->getArray("rank_weights_bytes"))
    for (const json::Value &bytes : *ranks)
      result.rankBytes.push_back(bytes.getAsInteger().value_or(0));
  result.workspaceBytes = object->getInteger("workspace_bytes").value_or(-1);
  if (const json::Object *operators = object->getObject("operators"))
    for (auto &[name, count] : *operators)
      result.operators[name.str()] = count.getAsInteger().value_or(0);
  forEachRow(*object, "kernels", [&](const json::Object &row) {
    result.kernels.push_back({getText(row, "target"), getText(row, "nodes"), getText(row, "algorithm"), getText(row, "reason"), getText(row, "shapes")});
    if (const json::Object *accuracy = row.getObject("accuracy"))
      result.kernels.back().exponential = getText(*accuracy, "function");
  });
  return result;
}

std::optional<Description> descriptionFromJson(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  if (!object || !object->getString("name"))
    return std::nullopt;
  Description result = readDescription(*object);
  forEachRow(*object, "graphs", [&](const json::Object &row) { result.graphs.push_back(readDescription(row)); });
  return result;
}

} // namespace kiln
