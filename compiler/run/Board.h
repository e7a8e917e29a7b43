//===- Board.h - The emulated boards of microcontrollers --------------------===//
#ifndef KILN_COMPILER_RUN_BOARD_H
#define KILN_COMPILER_RUN_BOARD_H

#include "llvm/TargetParser/Triple.h"
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

/// The machine that a model is compiled for.
struct Destination {
  llvm::Triple triple;
  std::string cpu;
  unsigned vectorBits = 0;
  /// The options of GCC's drivers for it.
  std::vector<std::string> flags;

  /// Whether programs for it have no system beneath them.
  bool hasNoSystem() const { return triple.isOSBinFormatELF() && triple.getOS() == llvm::Triple::UnknownOS; }
};

/// A board that QEMU has, with as much memory as possible beside the first words, which hold the vectors.
struct Board {
  llvm::StringLiteral architecture, cpu, name;
  uint64_t memory, bytes;
};

/// The board that runs code for the machine; null if there is none.
const Board *findBoard(const Destination &machine);

/// A script for lld that places a program in the board's memory, with the symbols of builtin/runner/semihosting.h.
std::string printLinkerScript(const Board &board);

} // namespace kiln

#endif // KILN_COMPILER_RUN_BOARD_H
