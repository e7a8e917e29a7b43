//===- Board.cpp - The emulated boards of microcontrollers ------------------===//
#include "compiler/run/Board.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

/// The first that fits. No board has a Cortex-M0+; a Cortex-M3 runs its code.
static const Board boards[] = {
    {"thumbv6m", "", "mps2-an385", 0x21000000, 16 << 20},
    {"thumbv7m", "", "mps2-an385", 0x21000000, 16 << 20},
    {"thumbv7em", "cortex-m7", "mps2-an500", 0x60000000, 16 << 20},
    {"thumbv7em", "", "mps2-an386", 0x21000000, 16 << 20},
    {"thumbv8.1m.main", "", "mps3-an547", 0x70000000, 256 << 20},
};

const Board *findBoard(const Destination &machine) {
  const auto *found = find_if(boards, [&](const Board &board) {
    return board.architecture == machine.triple.getArchName() && (board.cpu.empty() || board.cpu == machine.cpu);
  });
  return machine.hasNoSystem() && found != std::end(boards) ? found : nullptr;
}

static constexpr StringLiteral script = R"(ENTRY(kiln_reset)
SECTIONS {{
  .vectors 0 : {{ KEEP(*(.vectors)) }
  . = {0:x};
  .text : {{ *(.text .text.*) }
  .rodata : {{ *(.rodata .rodata.*) }
  .data : {{ *(.data .data.* .got .got.*) }
  .bss : {{ *(.bss .bss.* COMMON) }
  kiln_heap = ALIGN(64);
  kiln_heap_end = {1:x};
  kiln_stack = {2:x};
  /DISCARD/ : {{ *(.ARM.exidx* .ARM.extab*) }
}
)";

std::string printLinkerScript(const Board &board) {
  constexpr uint64_t stackBytes = 1 << 20;
  uint64_t end = board.memory + board.bytes;
  return formatv(script.data(), board.memory, end - stackBytes, end).str();
}

} // namespace kiln
