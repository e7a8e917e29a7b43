//===- TargetFile.cpp - A target that a user describes ---------------------===//
//
//   { "name": "plain-avx2", "base": "x86-64-v3", "l2": 524288, "without": ["avx2", "nn.softmax"], "libraries": ["onednn:conv"] }
//
// is x86-64-v3 with a smaller cache, without AVX2 and a fused softmax, whose convolutions go to oneDNN. "composites" lists functions of the user's.
// A file `.mlir` holds the attribute itself.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Targets.h"
#include "compiler/files/InputFile.h"
#include "dialects/kernel/Libraries.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
namespace json = llvm::json;

namespace kiln {

bool isTargetFile(StringRef name) { return name.ends_with(".json") || name.ends_with(".mlir"); }

/// What every target must fulfil, wherever it comes from; what is wrong, or nothing.
static std::string findFault(kernel::TargetAttr target) {
  if (target.getName().empty() || !llvm::all_of(target.getName(), [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; }))
    return "'name' must be letters, digits, '-', '_' and '.'";
  if (target.getVectorBits() != 128 && target.getVectorBits() != 256 && target.getVectorBits() != 512)
    return "'vector_bits' must be 128, 256 or 512";
  if (target.getRegisters() < 8 || target.getRegisters() > 64)
    return "'registers' must be between 8 and 64";
  if (target.getL1() < 4096 || target.getL2() < target.getL1() || target.getL3() < target.getL2())
    return "caches must be 4096 bytes or more and not shrink: l1 <= l2 <= l3";
  if (!llvm::all_of(target.getFeatures(), llvm::IsaPred<StringAttr>))
    return "'features' must be a list of strings";
  std::string fault;
  for (Attribute entry : target.getLibraries() ? target.getLibraries().getValue() : ArrayRef<Attribute>())
    if (auto text = dyn_cast<StringAttr>(entry); text && fault.empty())
      kernel::parseLibrary(text, fault);
    else if (!text)
      return "'libraries' must be a list of strings";
  if (!fault.empty())
    return fault;
  llvm::StringSet<> names;
  for (kernel::CompositeAttr composite : target.getComposites()) {
    StringRef function = composite.getFunction();
    if (composite.getName().empty() || composite.getVersion() < 0 || !names.insert(composite.getName()).second)
      return "a composite must have a 'name', which is there once, and a 'version' that is not negative";
    if (function.empty() || llvm::isDigit(function.front()) || !llvm::all_of(function, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
      return "the composite '" + composite.getName().str() + "' must have a 'function' whose name C allows";
  }
  return "";
}

namespace {
/// The fields of a JSON file, checked one by one; the first fault stays.
class FieldReader {
public:
  explicit FieldReader(const json::Object &object) : object(object) {}

  std::string text(StringRef key, StringRef fallback) {
    const json::Value *value = take(key);
    if (value && !value->getAsString())
      fail("'" + key + "' must be a string");
    return value ? value->getAsString().value_or("").str() : fallback.str();
  }

  int64_t number(StringRef key, int64_t fallback) {
    const json::Value *value = take(key);
    if (value && value->getAsInteger().value_or(0) <= 0)
      fail("'" + key + "' must be a positive integer");
    return value ? value->getAsInteger().value_or(0) : fallback;
  }

  std::vector<std::string> list(StringRef key) {
    std::vector<std::string> texts;
    const json::Value *value = take(key);
    if (value && !value->getAsArray())
      fail("'" + key + "' must be a list of strings");
    else if (value)
      for (const json::Value &element : *value->getAsArray())
        element.getAsString() ? texts.push_back(element.getAsString()->str()) : fail("'" + key + "' must be a list of strings");
    return texts;
  }

  std::vector<json::Object> objects(StringRef key) {
    std::vector<json::Object> all;
    const json::Value *value = take(key);
    const json::Array *array = value ? value->getAsArray() : nullptr;
    if (value && (!array || !llvm::all_of(*array, [](const json::Value &element) { return element.getAsObject() != nullptr; })))
      fail("'" + key + "' must be a list of objects");
    else if (array)
      for (const json::Value &element : *array)
        all.push_back(*element.getAsObject());
    return all;
  }

  void fail(const Twine &text) {
    if (fault.empty())
      fault = text.str();
  }

  std::string takeFault() {
    for (const auto &entry : object)
      if (!llvm::is_contained(known, entry.first.str()))
        fail("unknown field '" + entry.first.str() + "', expected one of: " + llvm::join(known, ", "));
    return fault;
  }

private:
  const json::Value *take(StringRef key) {
    known.push_back(key.str());
    return object.get(key);
  }

  const json::Object &object;
  std::vector<std::string> known;
  std::string fault;
};
} // namespace

/// The base's features, and those of the file, but for what it is without. A composite that is left out stays in the list with a minus.
static std::vector<std::string> changeFeatures(kernel::TargetAttr base, FieldReader &fields) {
  std::vector<std::string> features;
  for (auto feature : base.getFeatures().getAsRange<StringAttr>())
    features.push_back(feature.str());
  for (const std::string &feature : fields.list("features"))
    if (!llvm::is_contained(features, feature))
      features.push_back(feature);
  for (const std::string &name : fields.list("without")) {
    auto at = llvm::find(features, name);
    if (StringRef(name).starts_with("nn."))
      features.push_back("-" + name);
    else if (at != features.end())
      features.erase(at);
    else
      fields.fail("'without' names '" + name + "', which '" + base.getName().str() + "' does not have");
  }
  return features;
}

/// The composites that the file has functions for.
static SmallVector<kernel::CompositeAttr> readComposites(MLIRContext *context, FieldReader &fields) {
  SmallVector<kernel::CompositeAttr> composites;
  for (const json::Object &object : fields.objects("composites")) {
    FieldReader entry(object);
    std::string name = entry.text("name", ""), function = entry.text("function", "");
    int64_t version = entry.number("version", 1);
    SmallVector<StringAttr> parameters;
    for (const std::string &parameter : entry.list("parameters"))
      parameters.push_back(StringAttr::get(context, parameter));
    if (std::string fault = entry.takeFault(); !fault.empty())
      fields.fail("in 'composites': " + fault);
    composites.push_back(kernel::CompositeAttr::get(context, name, version, function, parameters));
  }
  return composites;
}

static kernel::TargetAttr fromJson(MLIRContext *context, StringRef text, std::string &fault) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    fault = toString(value.takeError());
    return {};
  }
  const json::Object *object = value->getAsObject();
  if (!object) {
    fault = "expected an object { \"name\": ... }";
    return {};
  }
  FieldReader fields(*object);
  std::string name = fields.text("name", ""), baseName = fields.text("base", "generic");
  kernel::TargetAttr base = isTargetFile(baseName) ? kernel::TargetAttr() : makeTarget(context, baseName);
  if (!base) {
    fault = "'base' is '" + baseName + "', which is no target that Kiln knows by name";
    return {};
  }
  std::vector<std::string> features = changeFeatures(base, fields);
  std::vector<StringRef> names(features.begin(), features.end());
  // The vector unit follows from what is left of the features.
  kernel::TargetAttr follows = makeX86Target(context, name, "", names);
  bool changed = object->get("features") || object->get("without");
  const kernel::TargetAttr &unit = changed ? follows : base;
  auto target = kernel::TargetAttr::get(context, name, fields.text("triple", base.getTriple()),
                                        fields.text("cpu", changed ? "x86-64" : base.getCpu()), fields.number("vector_bits", unit.getVectorBits()),
                                        fields.number("registers", unit.getRegisters()), fields.number("l1", base.getL1()),
                                        fields.number("l2", base.getL2()), fields.number("l3", base.getL3()), Builder(context).getStrArrayAttr(names),
                                        base.getLibraries(), readComposites(context, fields));
  std::vector<std::string> entries;
  for (const std::string &text : fields.list("libraries")) {
    std::string unknown;
    llvm::append_range(entries, kernel::parseLibrary(text, unknown));
    if (!unknown.empty())
      fields.fail(unknown);
  }
  target = target.withLibraries(entries);
  fault = fields.takeFault();
  return target;
}

static kernel::TargetAttr fromText(MLIRContext *context, StringRef text, std::string &fault) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (fault.empty())
      fault = diagnostic.str();
    return success();
  });
  auto target = dyn_cast_or_null<kernel::TargetAttr>(parseAttribute(text.trim(), context));
  if (!target && fault.empty())
    fault = "expected #kernel.target<...>";
  return target;
}

kernel::TargetAttr readTargetFile(MLIRContext *context, StringRef path, std::string &error) {
  context->loadDialect<kernel::KernelDialect>();
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file = readInputFile(path, mostTextBytes);
  if (!file) {
    error = "target file '" + path.str() + "': " + toString(file.takeError());
    return {};
  }
  std::string fault;
  StringRef text = (*file)->getBuffer();
  kernel::TargetAttr target = path.ends_with(".json") ? fromJson(context, text, fault) : fromText(context, text, fault);
  if (fault.empty())
    fault = findFault(target);
  if (!fault.empty())
    error = "target file '" + path.str() + "': " + fault;
  return fault.empty() ? target : kernel::TargetAttr();
}

} // namespace kiln
