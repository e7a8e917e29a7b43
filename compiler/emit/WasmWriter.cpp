//===- WasmWriter.cpp - Binary data as an object of WebAssembly -------------===//
//
// An object is a module with sections for the linker: here an imported memory, one segment of data, and the section "linking" with the segment's name and its
// alignment and with the symbol.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/WasmWriter.h"

#include "llvm/BinaryFormat/Wasm.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static std::string leb(uint64_t value) {
  std::string bytes;
  raw_string_ostream stream(bytes);
  encodeULEB128(value, stream);
  return bytes;
}

/// A string or a list of bytes: its length, then its contents.
static std::string sized(StringRef bytes) { return leb(bytes.size()) + bytes.str(); }

StringRef wasmMagic() { return StringRef("\0asm\1\0\0\0", 8); }

std::string makeWasmSection(unsigned id, uint64_t size) { return std::string(1, static_cast<char>(id)) + leb(size); }

std::string makeWasmCustomSection(StringRef name, uint64_t size) {
  std::string head = sized(name);
  return makeWasmSection(wasm::WASM_SEC_CUSTOM, head.size() + size) + head;
}

/// A section with all of its content.
static std::string section(unsigned id, StringRef content) { return makeWasmSection(id, content.size()) + content.str(); }

/// Linkers expect the memory that segments lie in.
static std::string importMemory() {
  std::string memory = sized("env") + sized("__linear_memory") + std::string(1, static_cast<char>(wasm::WASM_EXTERNAL_MEMORY));
  return section(wasm::WASM_SEC_IMPORT, leb(1) + memory + leb(wasm::WASM_LIMITS_FLAG_NONE) + leb(0));
}

DataObject makeWasmData(StringRef symbol, uint64_t size) {
  constexpr unsigned alignmentBits = 6;
  // One segment of memory 0, at the constant address 0, which the linker changes.
  std::string address = {static_cast<char>(wasm::WASM_OPCODE_I32_CONST), 0, static_cast<char>(wasm::WASM_OPCODE_END)};
  std::string segment = leb(1) + leb(0) + address + leb(size);
  std::string head = wasmMagic().str() + importMemory() + makeWasmSection(wasm::WASM_SEC_DATA, segment.size() + size) + segment;

  std::string info = leb(1) + sized((".rodata." + symbol).str()) + leb(alignmentBits) + leb(0);
  std::string table = leb(1) + std::string(1, static_cast<char>(wasm::WASM_SYMBOL_TYPE_DATA)) + leb(wasm::WASM_SYMBOL_VISIBILITY_HIDDEN) + sized(symbol) +
                      leb(0) + leb(0) + leb(size);
  std::string linking = leb(wasm::WasmMetadataVersion) + section(wasm::WASM_SEGMENT_INFO, info) + section(wasm::WASM_SYMBOL_TABLE, table);
  std::string tail = makeWasmCustomSection("linking", linking.size()) + linking;
  return {head, tail, head.size() + size + tail.size()};
}

std::string makeWasmRecord(StringRef name, StringRef text) {
  std::string linking = leb(wasm::WasmMetadataVersion);
  return wasmMagic().str() + makeWasmCustomSection("linking", linking.size()) + linking + makeWasmCustomSection(name, text.size()) + text.str();
}

} // namespace kiln
