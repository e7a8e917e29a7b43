//===- FunctionLibraries.cpp - Functions from outside of the model ----------===//
//
// A function that the model calls and does not have becomes one of its own, before the model is checked: everything afterwards treats it as such. The data that
// its tensors have in other files come with it, because those lie beside the library and not beside the model.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/FunctionLibraries.h"
#include "compiler/definitions/FunctionWriter.h"
#include "compiler/import/BodyImporter.h"
#include "compiler/import/Import.h"
#include "compiler/import/ModelCheck.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"

using namespace llvm;

namespace kiln::import {

/// A file of functions. The version of a domain is the one that the file imports.
struct FunctionLibraries::FunctionFile {
  explicit FunctionFile(const std::string &path) : path(path), file(path) {}
  std::string path;
  ModelFile file;
  StringMap<int64_t> versions;
  StringMap<const onnx::FunctionProto *> functions;
};

FunctionLibraries::FunctionLibraries() = default;
FunctionLibraries::~FunctionLibraries() = default;

//===- Reading ---------------------------------------------------------------===//

LogicalResult FunctionLibraries::readFunctions(const std::string &path, Diagnostics &diagnostics) {
  auto library = std::make_unique<FunctionFile>(path);
  std::vector<std::string> errors;
  Diagnostics own(path, errors);
  LogicalResult loaded = library->file.load(own);
  if (succeeded(loaded))
    loaded = checkFunctions(library->file, own);
  if (failed(loaded)) {
    diagnostics.append(errors);
    return failure();
  }
  const onnx::ModelProto &model = library->file.model();
  library->versions = readOpsets(model.opset_import());
  if (model.functions_size() == 0)
    return diagnostics.error("--functions=" + printable(path) + ": the file has no functions");
  for (const onnx::FunctionProto &function : model.functions()) {
    StringRef domain = canonicalDomain(function.domain());
    std::string where = "--functions=" + printable(path) + ": function '" + printable(function.name()) + "' ";
    if (domain.empty())
      return diagnostics.error(where + "is in ONNX's own domain, whose operators are not defined anew");
    if (!library->versions.count(domain))
      return diagnostics.error(where + "has domain '" + printable(domain) + "', whose version is not known: the file does not import it");
    std::string key = functionKey(domain, function.name(), function.overload());
    for (const auto &other : files)
      if (other->functions.count(key))
        return diagnostics.error(where + "is in " + printable(other->path) + ", too");
    library->functions[key] = &function;
  }
  files.push_back(std::move(library));
  return success();
}

LogicalResult FunctionLibraries::read(const ImportOptions &options, Diagnostics &diagnostics) {
  for (const std::string &path : options.functions)
    if (failed(readFunctions(path, diagnostics)))
      return failure();
  for (const std::string &path : options.definitions) {
    std::vector<std::string> errors;
    std::unique_ptr<definitions::Library> library = definitions::Library::read(path, errors);
    if (!library) {
      diagnostics.append(errors);
      return failure();
    }
    libraries.push_back(std::move(library));
  }
  return success();
}

//===- Adding ----------------------------------------------------------------===//

LogicalResult FunctionLibraries::writeDefinition(onnx::FunctionProto &function, const definitions::Definition &definition, Diagnostics &diagnostics) {
  definitions::Fault fault;
  written[&function] = &definition;
  if (definitions::writeFunction(definition, function, fault))
    return success();
  diagnostics.append({definition.source->describe(fault.place, fault.message)});
  return failure();
}

/// Takes the external data of all tensors in a message into it.
static bool embedTensors(google::protobuf::Message &message, ModelFile &file, std::string &reason) {
  using Field = google::protobuf::FieldDescriptor;
  if (message.GetDescriptor() == onnx::TensorProto::descriptor())
    return embedExternal(static_cast<onnx::TensorProto &>(message), file, reason);
  const google::protobuf::Reflection &fields = *message.GetReflection();
  std::vector<const Field *> set;
  fields.ListFields(message, &set);
  llvm::erase_if(set, [](const Field *field) { return field->cpp_type() != Field::CPPTYPE_MESSAGE; });
  return all_of(set, [&](const Field *field) {
    if (!field->is_repeated())
      return embedTensors(*fields.MutableMessage(&message, field), file, reason);
    return all_of(seq(fields.FieldSize(message, field)), [&](int i) { return embedTensors(*fields.MutableRepeatedMessage(&message, field, i), file, reason); });
  });
}

FailureOr<const onnx::FunctionProto *> FunctionLibraries::addFor(onnx::ModelProto &model, const onnx::NodeProto &node, int64_t version,
                                                                  Diagnostics &diagnostics) {
  StringRef domain = canonicalDomain(node.domain());
  std::string key = functionKey(domain, node.op_type(), node.overload());
  if (domain.empty() || known.count(key))
    return nullptr;
  std::string where = describeNode(node, 0, "") + ": the model imports version " + std::to_string(version) + " of '" + printable(domain) + "', and ";
  for (const auto &file : files) {
    const onnx::FunctionProto *function = file->functions.lookup(key);
    if (!function)
      continue;
    if (int64_t own = file->versions.lookup(domain); own != version)
      return diagnostics.error(where + printable(file->path) + " has version " + Twine(own));
    known[key] = true;
    onnx::FunctionProto *added = model.add_functions();
    *added = *function;
    if (std::string reason; !embedTensors(*added, file->file, reason))
      return diagnostics.error("--functions=" + printable(file->path) + ": function '" + printable(function->name()) + "': " + reason);
    return added;
  }
  for (const auto &library : libraries) {
    const definitions::Definition *definition = node.overload().empty() ? library->find(domain, node.op_type(), version) : nullptr;
    if (!definition && library->hasName(domain, node.op_type()) && !library->findExtern(domain, node.op_type(), version))
      return diagnostics.error(where + printable(library->getSource().getPath()) + " defines '" + printable(node.op_type()) + "' for newer ones only");
    if (!definition)
      continue;
    known[key] = true;
    onnx::FunctionProto *function = model.add_functions();
    if (failed(writeDefinition(*function, *definition, diagnostics)))
      return failure();
    return function;
  }
  return nullptr;
}

LogicalResult FunctionLibraries::addFunctions(onnx::ModelProto &model, Diagnostics &diagnostics) {
  for (const onnx::FunctionProto &function : model.functions())
    known[functionKey(function.domain(), function.name(), function.overload())] = true;
  StringMap<int64_t> ofModel = readOpsets(model.opset_import());
  std::vector<const onnx::FunctionProto *> added;
  LogicalResult result = success();
  auto addForNodes = [&](const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, const StringMap<int64_t> &opsets) {
    forEachNode(nodes, [&](const onnx::NodeProto &node) {
      auto version = opsets.find(canonicalDomain(node.domain()));
      // A domain that is not imported is refused when the model is checked.
      if (failed(result) || version == opsets.end())
        return;
      FailureOr<const onnx::FunctionProto *> function = addFor(model, node, version->second, diagnostics);
      result = failure(failed(function));
      if (succeeded(function) && *function)
        added.push_back(*function);
    });
  };
  auto addForFunction = [&](const onnx::FunctionProto &function) {
    addForNodes(function.node(), function.opset_import_size() ? readOpsets(function.opset_import()) : ofModel);
  };
  for (int i = 0, count = model.functions_size(); i < count; ++i)
    addForFunction(model.functions(i));
  addForNodes(model.graph().node(), ofModel);
  while (succeeded(result) && !added.empty()) {
    const onnx::FunctionProto *function = added.back();
    added.pop_back();
    addForFunction(*function);
  }
  return result;
}

const definitions::Extern *FunctionLibraries::findExtern(StringRef domain, StringRef name, int64_t version) const {
  for (const auto &library : libraries)
    if (const definitions::Extern *found = library->findExtern(domain, name, version))
      return found;
  return nullptr;
}

std::vector<std::string> FunctionLibraries::externalPaths() const {
  std::vector<std::string> paths;
  for (const auto &file : files)
    append_range(paths, file->file.externalPaths());
  return paths;
}

std::string FunctionLibraries::describeElsewhere(StringRef domain, StringRef name) const {
  for (const auto &library : libraries)
    for (const definitions::Definition &definition : library->getDefinitions())
      if (definition.name == name)
        return "--ops defines '" + printable(name) + "' for version " + std::to_string(definition.version) + " of domain '" + printable(definition.domain) +
               "'; write domain \"" + printable(domain) + "\" and a version that is not newer than the model's above it";
  return "";
}

} // namespace kiln::import
