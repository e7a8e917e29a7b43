//===- WebFiles.cpp - A model's files for JavaScript -------------------------===//
#include "compiler/emit/web/WebFiles.h"
#include "compiler/emit/WasmWriter.h"

namespace kiln {

std::string makeWebContainer(llvm::ArrayRef<WebForm> forms, uint64_t weightsBytes) {
  std::string bytes = wasmMagic().str();
  for (const WebForm &form : forms)
    bytes += makeWasmCustomSection(form.name, form.module.size()) + form.module;
  return weightsBytes ? bytes + makeWasmCustomSection("weights", weightsBytes) : bytes;
}

} // namespace kiln
