//===- ShardingReport.cpp - How a model is cut for its ranks, for people ----===//
#include "compiler/ShardingReport.h"
#include "compiler/files/Printable.h"
#include "dialects/nn/ModelAttributeNames.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace kiln {

static DictionaryAttr getSharding(const Compilation &compilation) {
  return compilation.targets.empty() ? DictionaryAttr() : (*compilation.targets.front().module)->getAttrOfType<DictionaryAttr>(nn::shardingAttrName);
}

static int64_t numberOf(DictionaryAttr entry, StringRef name) { return entry.getAs<IntegerAttr>(name).getInt(); }

static std::string inMs(DictionaryAttr entry, StringRef name) {
  return llvm::formatv("{0:f3} ms", static_cast<double>(numberOf(entry, name)) * 1e-6).str();
}

static std::string countOf(int64_t count, StringRef what) { return (Twine(count) + " " + what + (count == 1 ? "" : "s")).str(); }

/// "none" is no dimension.
static std::string alongOf(DictionaryAttr entry, StringRef name) {
  StringRef text = entry.getAs<StringAttr>(name).getValue();
  return text == "none" ? "not cut" : "cut along " + text.str();
}

static std::string cutToLine(DictionaryAttr entry) {
  std::string line = entry.getAs<StringAttr>("nodes").str() + ": " + alongOf(entry, "cut");
  line += ", a rank sends " + countOf(numberOf(entry, "sent"), "byte");
  if (int64_t weights = numberOf(entry, "weights"))
    line += llvm::formatv("; of {0} bytes of weights, {1} on each rank", weights, numberOf(entry, "kept"));
  if (entry.contains("other"))
    line += "; " + inMs(entry, "ns") + ", " + alongOf(entry, "other") + " " + inMs(entry, "other_ns");
  return line;
}

/// The nodes that are listed, and whether there are more.
static std::string listNodes(DictionaryAttr entry, int64_t count) {
  std::string text;
  auto nodes = entry.getAs<ArrayAttr>("nodes");
  for (auto [i, node] : llvm::enumerate(nodes.getAsRange<StringAttr>()))
    text += (i ? ", " : " (") + node.str();
  return text + (count > static_cast<int64_t>(nodes.size()) ? ", ...)" : ")");
}

static std::string toLine(DictionaryAttr entry) {
  bool ofWeights = entry.getAs<BoolAttr>("of_weights").getValue();
  int64_t count = numberOf(entry, "operations"), weights = numberOf(entry, "weights");
  auto axis = entry.getAs<IntegerAttr>("axis");
  std::string line = axis ? llvm::formatv("along axis {0} ", axis.getInt()).str() : "";
  line += ofWeights ? countOf(count, "weight") + " not cut with the operation, " + countOf(weights, "byte") : countOf(count, "operation") + " not cut";
  if (!ofWeights && weights)
    line += ", with " + countOf(weights, "byte") + " of weights";
  line += ": " + entry.getAs<StringAttr>("reason").str();
  if (entry.contains("cut_ns"))
    line += ", " + inMs(entry, "cut_ns") + " with the exchange instead of " + inMs(entry, "ns");
  return line + listNodes(entry, count);
}

/// Which exchanges share a message, and why others next to each other do not.
static void printExchanges(DictionaryAttr exchanges) {
  for (auto entry : exchanges.getAs<ArrayAttr>("merged").getAsRange<DictionaryAttr>()) {
    std::string line = llvm::formatv("{0} exchanges merged into one message: nn.{1}, {2} from each rank", numberOf(entry, "exchanges"),
                                     entry.getAs<StringAttr>("kind").getValue(), countOf(numberOf(entry, "bytes"), "byte"));
    printLine(llvm::errs(), line + listNodes(entry, 0));
  }
  for (auto entry : exchanges.getAs<ArrayAttr>("apart").getAsRange<DictionaryAttr>()) {
    int64_t count = numberOf(entry, "exchanges");
    std::string line = countOf(count, "exchange") + " not merged with the one before: " + entry.getAs<StringAttr>("reason").str();
    printLine(llvm::errs(), line + listNodes(entry, count));
  }
  printLine(llvm::errs(), countOf(numberOf(exchanges, "exchanges"), "exchange") + " in " + countOf(numberOf(exchanges, "calls"), "call"));
}

void printSharding(const Compilation &compilation) {
  DictionaryAttr sharding = getSharding(compilation);
  if (!sharding)
    return;
  for (auto entry : sharding.getAs<ArrayAttr>("cuts").getAsRange<DictionaryAttr>()) {
    printLine(llvm::errs(), cutToLine(entry));
  }
  for (auto entry : sharding.getAs<ArrayAttr>("refused").getAsRange<DictionaryAttr>())
    printLine(llvm::errs(), toLine(entry));
  if (auto exchanges = sharding.getAs<DictionaryAttr>("exchanges"))
    printExchanges(exchanges);
  double weights = static_cast<double>(numberOf(sharding, "weights")), kept = static_cast<double>(numberOf(sharding, "kept"));
  double most = sharding.getAs<FloatAttr>("most_share").getValueAsDouble(), share = weights > 0 ? kept / weights : 0;
  std::string line = llvm::formatv("a rank has {0:f1} % of {1} bytes of weights, {2} {3:f1} %", share * 100, numberOf(sharding, "weights"),
                                   share > most ? "which cannot be cut to" : "within the bound of", most * 100);
  line += "; it sends " + countOf(numberOf(sharding, "sent"), "byte");
  if (sharding.contains("ns")) {
    line += "; estimated time " + inMs(sharding, "ns");
    if (numberOf(sharding, "ns") != numberOf(sharding, "unbound_ns"))
      line += ", without this bound " + inMs(sharding, "unbound_ns");
  }
  printLine(llvm::errs(), line);
}

static llvm::json::Value attributeToJson(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return jsonText(text.getValue());
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getInt();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    llvm::json::Array array;
    for (Attribute entry : list)
      array.push_back(attributeToJson(entry));
    return array;
  }
  llvm::json::Object object;
  for (NamedAttribute entry : cast<DictionaryAttr>(attribute))
    object[jsonText(entry.getName())] = attributeToJson(entry.getValue());
  return object;
}

std::optional<llvm::json::Object> shardingToJson(const Compilation &compilation) {
  DictionaryAttr sharding = getSharding(compilation);
  return sharding ? std::optional(std::move(*attributeToJson(sharding).getAsObject())) : std::nullopt;
}

} // namespace kiln
