//===- EntryRows.h - What a run launches, and the memory that it uses --------===//
#ifndef KILN_COMPILER_REPORT_ENTRYROWS_H
#define KILN_COMPILER_REPORT_ENTRYROWS_H

#include "compiler/emit/Signature.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <optional>

namespace kiln {

/// Sizes of dynamic dimensions, by name.
using DimSizes = std::map<std::string, int64_t>;

/// A buffer that kernels read or write.
struct BufferRow {
  /// input, output, arena or weight.
  std::string kind;
  std::string name, element;
  /// -1: not known. The offset is that in the arena.
  int64_t bytes = -1, offset = -1;
  /// The launches between which it is in use, loops around them included.
  int64_t first = -1, last = -1;
};

struct LaunchRow {
  mlir::Location location;
  std::string kernel;
  mlir::ArrayAttr nodes;
  /// Of one call; -1: not known.
  int64_t flops = -1, bytes = -1;
  bool isParallel = false;
  /// Whether a condition decides if it runs, and how often loops of known length run it; -1: not known.
  bool isConditional = false;
  int64_t calls = 1;
  /// Numbers of buffers.
  std::vector<int64_t> reads = {}, writes = {};
};

/// The launches and buffers of the entry of a module after the kernel stage, with numbers for dynamic sizes in their place.
struct EntryRows {
  std::vector<LaunchRow> launches;
  std::vector<BufferRow> buffers;
  /// Every dynamic dimension with the size that counts; `given`: those that the caller named, the others are typical.
  DimSizes sizes;
};

EntryRows readEntry(const Signature &signature, const DimSizes &given);

} // namespace kiln

#endif // KILN_COMPILER_REPORT_ENTRYROWS_H
