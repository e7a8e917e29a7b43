//===- DataObject.cpp - Binary data as an object file -----------------------===//
#include "compiler/emit/DataObject.h"
#include "compiler/emit/CoffWriter.h"
#include "compiler/emit/ElfWriter.h"
#include "compiler/emit/MachOWriter.h"
#include "compiler/emit/WasmWriter.h"

#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace kiln {

static bool isWasm(StringRef triple) { return Triple(triple).isOSBinFormatWasm(); }

bool canMakeDataObject(StringRef triple) { return isWasm(triple) || canMakeElf(triple) || canMakeCoff(triple) || canMakeMachO(triple); }

DataObject makeDataObject(StringRef triple, StringRef symbol, uint64_t size) {
  if (isWasm(triple))
    return makeWasmData(symbol, size);
  if (canMakeCoff(triple))
    return makeCoffData(triple, symbol, size);
  return canMakeMachO(triple) ? makeMachOData(triple, symbol, size) : makeElfData(triple, symbol, size);
}

std::string makeRecordObject(StringRef triple, StringRef section, StringRef text) {
  if (isWasm(triple))
    return makeWasmRecord(section, text);
  if (canMakeCoff(triple))
    return makeCoffRecord(triple, section, text);
  return canMakeMachO(triple) ? makeMachORecord(triple, section, text) : makeElfRecord(triple, section, text);
}

} // namespace kiln
