//===- BufferLives.h - When the buffers of an entry are alive --------------===//
#ifndef KILN_PASSES_KERNEL_BUFFERLIVES_H
#define KILN_PASSES_KERNEL_BUFFERLIVES_H

#include "passes/kernel/PackBuffers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <vector>

namespace kiln {

/// Every buffer starts on a cache line, which is also the size of the widest vector.
inline constexpr int64_t bufferAlignment = 64;

/// One or several allocations in one place; `bytes` are rounded up to the alignment, -1 when symbolic.
struct Buffer : PackedBuffer {
  llvm::SmallVector<mlir::memref::AllocOp, 1> allocs;

  mlir::Value count() const {
    mlir::memref::AllocOp alloc = allocs.front();
    return alloc.getDynamicSizes().empty() ? mlir::Value() : alloc.getDynamicSizes().front();
  }
  int64_t width() const;
  bool hasSizeOf(const Buffer &other) const { return bytes == other.bytes && (bytes >= 0 || (count() == other.count() && width() == other.width())); }
};

/// The buffer that an operand of a launch is, whatever its size is called.
mlir::Value skipCasts(mlir::Value buffer);

/// The buffers that an entry allocates, with the positions of their first and last use. Those that launches may write over what they read are one.
std::vector<Buffer> collectBuffers(mlir::Block &block);

} // namespace kiln

#endif // KILN_PASSES_KERNEL_BUFFERLIVES_H
