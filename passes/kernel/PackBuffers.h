//===- PackBuffers.h - Buffers of known size in one arena ------------------===//
#ifndef KILN_PASSES_KERNEL_PACKBUFFERS_H
#define KILN_PASSES_KERNEL_PACKBUFFERS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace kiln {

/// A buffer that is needed at the times [first, last].
struct PackedBuffer {
  int64_t first, last, bytes;
  int64_t offset = 0;
  bool livesWith(const PackedBuffer &other) const { return first <= other.last && other.first <= last; }
};

/// Gives each buffer an offset such that buffers that live together do not overlap; returns the bytes of the arena. The best of several
/// greedy orders, improved; deterministic.
int64_t packBuffers(llvm::MutableArrayRef<PackedBuffer> buffers);

/// The most bytes alive at one time: no arena is smaller.
int64_t getLiveBytes(llvm::ArrayRef<PackedBuffer> buffers);

} // namespace kiln

#endif // KILN_PASSES_KERNEL_PACKBUFFERS_H
