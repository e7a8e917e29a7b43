//===- FuzzDefinitions.cpp - Any bytes as a file of definitions ------------===//
#include "compiler/definitions/FunctionWriter.h"
#include "compiler/definitions/Library.h"
#include "compiler/import/onnx.pb.h"
#include "test/fuzz/Target.h"

using namespace kiln;
using namespace kiln::definitions;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<Fault> faults;
  std::unique_ptr<Library> library = Library::parse("fuzz.kiln", std::string(reinterpret_cast<const char *>(data), size), faults);
  for (const Fault &fault : faults) {
    expect(!fault.message.empty() && fault.place.line > 0 && fault.place.column > 0, "a fault has no place or no message");
    expect(library->getSource().describe(fault.place, fault.message).size() < 4096, "a message is too long");
  }
  if (!faults.empty())
    return 0;
  // What was accepted can be written.
  onnx::ModelProto model;
  Fault fault;
  if (!writeFunctions(*library, model, fault))
    expect(!fault.message.empty(), "what cannot be written has no reason");
  else
    expect(model.functions_size() == static_cast<int>(library->getDefinitions().size()), "a definition has no function");
  return 0;
}
