//===- TargetFile.cpp - A target that a user describes ---------------------===//
//
//   { "name": "plain-avx2", "base": "x86-64-v3", "l2": 524288, "without": ["avx2", "nn.softmax"], "libraries": ["onednn:conv"] }
//
// is x86-64-v3 with a smaller cache, without AVX2 and a fused softmax, whose convolutions go to oneDNN. "composites" lists functions of the user's,
// "steps" instructions that multiply and add, "tuning" numbers that were measured.
// A file `.mlir` holds the attribute itself.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/TargetFile.h"
#include "compiler/target/Targets.h"
#include "compiler/target/aarch64/Levels.h"
#include "compiler/target/x86_64/Levels.h"
#include "compiler/Recursion.h"
#include "compiler/files/InputFile.h"
#include "dialects/kernel/Libraries.h"
#include "dialects/kernel/TargetFaults.h"
#include "dialects/kernel/Tuning.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
namespace json = llvm::json;

namespace kiln {

bool isTargetFile(StringRef name) { return name.ends_with(".json") || name.ends_with(".mlir"); }

/// What a target of a file must fulfil beyond what every target does.
static std::string findFault(kernel::TargetAttr target) {
  if (target.getL1() < 4096 || target.getL2() < target.getL1() || target.getL3() < target.getL2())
    return "caches must be 4096 bytes or more and not shrink: l1 <= l2 <= l3";
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

  int64_t integer(StringRef key, int64_t fallback) {
    const json::Value *value = take(key);
    if (value && !value->getAsInteger())
      fail("'" + key + "' must be an integer");
    return value ? value->getAsInteger().value_or(0) : fallback;
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

  SmallVector<int64_t> numbers(StringRef key) {
    SmallVector<int64_t> all;
    const json::Value *value = take(key);
    const json::Array *array = value ? value->getAsArray() : nullptr;
    if (value && (!array || !llvm::all_of(*array, [](const json::Value &element) { return element.getAsInteger().has_value(); })))
      fail("'" + key + "' must be a list of integers");
    else if (array)
      for (const json::Value &element : *array)
        all.push_back(*element.getAsInteger());
    return all;
  }

  const json::Object *inner(StringRef key) {
    const json::Value *value = take(key);
    if (value && !value->getAsObject())
      fail("'" + key + "' must be an object");
    return value ? value->getAsObject() : nullptr;
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

  /// Keeps the first fault; an empty text is none.
  void fail(const Twine &text) {
    if (fault.empty())
      fault = text.str();
  }
  bool hasFault() const { return !fault.empty(); }

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
    std::string fault = entry.takeFault(), wrong = kernel::findCompositeFault(name, version, function);
    if (!fault.empty())
      fields.fail("in 'composites': " + fault);
    if (fault.empty() && !wrong.empty())
      fields.fail(wrong);
    if (wrong.empty())
      composites.push_back(kernel::CompositeAttr::get(context, name, version, function, parameters));
  }
  return composites;
}

/// f32, bf16, i32, u8 and the like; null with a fault for all others.
static Type readType(MLIRContext *context, FieldReader &fields, StringRef key) {
  std::string text = fields.text(key, "");
  for (Type type : {Type(Float16Type::get(context)), Type(BFloat16Type::get(context)), Type(Float32Type::get(context)), Type(Float64Type::get(context))})
    if (text == llvm::to_string(type))
      return type;
  StringRef digits = text;
  unsigned width = 0;
  bool isUnsigned = digits.consume_front("u"), isInteger = (isUnsigned || digits.consume_front("i")) && !digits.getAsInteger(10, width);
  if (isInteger && width >= 8 && width <= 64)
    return IntegerType::get(context, width, isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  fields.fail("'" + key + "' must be f16, bf16, f32, f64 or an integer of 8 to 64 bits such as i32 or u8; got '" + text + "'");
  return {};
}

/// The steps that the file lists; those of the base that fit its vectors come behind.
static SmallVector<kernel::StepAttr> readSteps(MLIRContext *context, FieldReader &fields, ArrayRef<kernel::StepAttr> base, int64_t vectorBits) {
  SmallVector<kernel::StepAttr> steps;
  for (const json::Object &object : fields.objects("steps")) {
    FieldReader entry(object);
    Type lhs = readType(context, entry, "lhs"), rhs = readType(context, entry, "rhs"), sum = readType(context, entry, "sum");
    SmallVector<int64_t> shape = entry.numbers("shape");
    std::string function = entry.text("function", ""), fault = entry.takeFault();
    if (fault.empty())
      fault = kernel::findStepFault(lhs, rhs, sum, shape, function);
    if (fault.empty())
      steps.push_back(kernel::StepAttr::get(context, lhs, rhs, sum, shape, function));
    else
      fields.fail("in 'steps': " + fault);
  }
  fields.fail(kernel::findStepsFault(steps, vectorBits));
  for (kernel::StepAttr step : base) {
    steps.push_back(step);
    if (!kernel::findStepsFault(steps, vectorBits).empty())
      steps.pop_back();
  }
  return steps;
}

/// The base's numbers with those of the file in their places.
static kernel::TuningAttr readTuning(FieldReader &fields, kernel::TargetAttr base) {
  const json::Object *object = fields.inner("tuning");
  if (!object)
    return base.getTuning();
  FieldReader entry(*object);
  SmallVector<int64_t> values;
  for (auto [i, number] : llvm::enumerate(kernel::getTunedNumbers()))
    values.push_back(entry.integer(number.name, base.tuned(static_cast<kernel::Tuned>(i))));
  std::string fault = entry.takeFault();
  if (fault.empty())
    fault = kernel::findTuningFault(values);
  if (!fault.empty())
    fields.fail("in 'tuning': " + fault);
  return fault.empty() ? kernel::TuningAttr::get(base.getContext(), ArrayRef<int64_t>(values)) : kernel::TuningAttr();
}

/// The libraries that the file lists, as entries of a target.
static ArrayAttr readLibraries(MLIRContext *context, FieldReader &fields) {
  std::vector<std::string> entries;
  for (const std::string &text : fields.list("libraries")) {
    std::string unknown;
    llvm::append_range(entries, kernel::parseLibrary(text, unknown));
    if (!unknown.empty())
      fields.fail(unknown);
  }
  std::vector<StringRef> names(entries.begin(), entries.end());
  return Builder(context).getStrArrayAttr(names);
}

/// What has the vector unit and the steps of these features; that of `base` where they do not say it.
static kernel::TargetAttr makeUnit(kernel::TargetAttr base, StringRef triple, StringRef name, ArrayRef<StringRef> features) {
  llvm::Triple parsed(triple);
  if (parsed.isX86())
    return makeX86Target(base.getContext(), name, "", features);
  return parsed.isAArch64() ? makeAArch64Target(base.getContext(), name, features, base.getVectorBits()) : base;
}

/// The target that changes `base` as the fields say; null when there is a fault, which the fields keep.
static kernel::TargetAttr changeTarget(kernel::TargetAttr base, const std::string &name, FieldReader &fields, bool changesFeatures) {
  MLIRContext *context = base.getContext();
  std::vector<std::string> features = changeFeatures(base, fields);
  std::vector<StringRef> names(features.begin(), features.end());
  std::string triple = fields.text("triple", base.getTriple());
  std::string cpu = fields.text("cpu", changesFeatures && llvm::Triple(triple).isX86() ? "x86-64" : base.getCpu());
  ArrayAttr list = Builder(context).getStrArrayAttr(names);
  fields.fail(kernel::findNameFault({name, triple, cpu, list, ArrayAttr()}));
  // The vector unit follows from what is left of the features.
  bool follows = changesFeatures && !fields.hasFault();
  kernel::TargetAttr unit = follows ? makeUnit(base, triple, name, names) : base;
  int64_t bits = fields.number("vector_bits", unit.getVectorBits()), registers = fields.number("registers", unit.getRegisters());
  int64_t l1 = fields.number("l1", base.getL1()), l2 = fields.number("l2", base.getL2()), l3 = fields.number("l3", base.getL3());
  fields.fail(kernel::findSizeFault(bits, registers));
  SmallVector<kernel::StepAttr> steps = readSteps(context, fields, unit.getSteps(), bits);
  kernel::TuningAttr tuning = readTuning(fields, unit);
  SmallVector<kernel::CompositeAttr> composites = readComposites(context, fields);
  fields.fail(kernel::findRepeatedComposite(composites));
  ArrayAttr libraries = readLibraries(context, fields);
  if (fields.hasFault())
    return {};
  return kernel::TargetAttr::get(context, name, triple, cpu, bits, registers, l1, l2, l3, list, libraries.empty() ? ArrayAttr() : libraries, steps,
                                 tuning, composites);
}

static kernel::TargetAttr fromJson(MLIRContext *context, StringRef text, std::string &fault) {
  llvm::Expected<json::Value> value = parseJson(text);
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
    fault = "'base' is '" + baseName + "', which is not a target that Kiln knows by name";
    return {};
  }
  kernel::TargetAttr target = changeTarget(base, name, fields, object->get("features") || object->get("without"));
  fault = fields.takeFault();
  return target;
}

static kernel::TargetAttr fromText(MLIRContext *context, StringRef text, std::string &fault) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (fault.empty())
      fault = diagnostic.str();
    return success();
  });
  fault = findExcess(text);
  auto target = fault.empty() ? dyn_cast_or_null<kernel::TargetAttr>(parseAttribute(text.trim(), context)) : kernel::TargetAttr();
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
