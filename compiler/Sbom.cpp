//===- Sbom.cpp - A bill of materials of what a compile makes ---------------------===//
#include "compiler/Sbom.h"
#include "compiler/files/Hash.h"
#include "compiler/files/Printable.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

static json::Array hashes(const std::string &sha256) { return json::Array{json::Object{{"alg", "SHA-256"}, {"content", sha256}}}; }

static json::Object property(StringRef name, StringRef value) { return json::Object{{"name", ("kiln:" + name).str()}, {"value", jsonText(value)}}; }

/// A file that the library was made from.
static json::Object describeInput(const HashedFile &file, StringRef type, StringRef kind) {
  json::Object component{{"type", type}, {"bom-ref", jsonText(kind.str() + ":" + file.name)}, {"name", jsonText(file.name)}};
  if (!file.sha256.empty())
    component["hashes"] = hashes(file.sha256);
  return component;
}

/// What the document says is its serial number, in the form of a UUID.
static std::string makeSerialNumber(const json::Object &document) {
  std::string hash = hashText(formatv("{0}", json::Value(json::Object(document))).str());
  StringRef digits = hash;
  std::string first = ("urn:uuid:" + digits.substr(0, 8) + "-" + digits.substr(8, 4)).str();
  return (first + "-8" + digits.substr(13, 3) + "-8" + digits.substr(17, 3) + "-" + digits.substr(20, 12)).str();
}

OutputFile makeSbom(const Compilation &compilation, ArrayRef<std::string> guarantees, ArrayRef<OutputFile> files) {
  Origin origin = compilation.findOrigin();
  json::Array components, inputs, properties;
  auto add = [&](json::Object component) {
    inputs.push_back(component.getString("bom-ref")->str());
    components.push_back(std::move(component));
  };
  for (const HashedFile &model : origin.models)
    add(describeInput(model, "machine-learning-model", "model"));
  for (const HashedFile &file : origin.files)
    add(describeInput(file, "data", "input"));
  // Its headers are compiled into every kernel.
  add(json::Object{{"type", "library"}, {"bom-ref", "kiln-headers"}, {"name", "kiln-headers"}, {"version", origin.version}});
  for (const std::string &library : compilation.libraries)
    add(json::Object{{"type", "library"}, {"bom-ref", "library:" + library}, {"name", library}, {"scope", "required"}});
  for (const OutputFile &file : files)
    components.push_back(json::Object{
        {"type", "file"}, {"bom-ref", jsonText("file:" + file.path)}, {"name", jsonText(file.path)}, {"hashes", hashes(hashOutput(file))}});
  properties.push_back(property("compiler-build", origin.build));
  properties.push_back(property("target", compilation.target));
  for (const std::string &option : origin.options)
    properties.push_back(property("option", option));
  for (const std::string &guarantee : guarantees)
    properties.push_back(property("guarantee", guarantee));
  json::Object library{{"type", "library"}, {"bom-ref", "library"}, {"name", jsonText(compilation.name)}, {"properties", std::move(properties)}};
  json::Object tool{{"type", "application"}, {"name", "kiln"}, {"version", origin.version}};
  json::Object document{
      {"bomFormat", "CycloneDX"},
      {"specVersion", "1.5"},
      {"version", 1},
      {"metadata", json::Object{{"tools", json::Object{{"components", json::Array{std::move(tool)}}}}, {"component", std::move(library)}}},
      {"components", std::move(components)},
      {"dependencies", json::Array{json::Object{{"ref", "library"}, {"dependsOn", std::move(inputs)}}}}};
  document["serialNumber"] = makeSerialNumber(document);
  return {compilation.name + ".cdx.json", formatv("{0:2}\n", json::Value(std::move(document))).str(), nullptr};
}

} // namespace kiln
