//===- DataObject.cpp - Binary data as an object file -----------------------===//
#include "compiler/emit/DataObject.h"
#include "compiler/emit/ElfWriter.h"
#include "compiler/emit/WasmWriter.h"

#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace kiln {

static bool isWasm(StringRef triple) { return Triple(triple).isOSBinFormatWasm(); }

bool canMakeDataObject(StringRef triple) { return isWasm(triple) || canMakeElf(triple); }

DataObject makeDataObject(StringRef triple, StringRef symbol, uint64_t size) {
  return isWasm(triple) ? makeWasmData(symbol, size) : makeElfData(triple, symbol, size);
}

} // namespace kiln
