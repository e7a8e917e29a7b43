//===- BufferLives.cpp - When the buffers of an entry are alive ------------===//
#include "passes/kernel/BufferLives.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/ConstantData.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

int64_t Buffer::width() const { return nn::elementBytes(memref::AllocOp(allocs.front()).getType().getElementType()); }

/// The positions of the launches that use a buffer, directly or through casts.
static void findUses(Value buffer, const llvm::DenseMap<Operation *, int64_t> &positions, Buffer &life) {
  for (Operation *user : buffer.getUsers()) {
    if (auto cast = dyn_cast<memref::CastOp>(user)) {
      findUses(cast.getResult(), positions, life);
      continue;
    }
    int64_t position = positions.lookup(user);
    life.first = std::min(life.first, position);
    life.last = std::max(life.last, position);
  }
}

Value skipCasts(Value buffer) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  return buffer;
}

/// Gives a launch's result the buffer of an input whose last use is the launch, if the kernel allows that.
static void mergeOverwritten(Block &block, const llvm::DenseMap<Operation *, int64_t> &positions, std::vector<Buffer> &buffers) {
  llvm::DenseMap<Operation *, Buffer *> owners;
  for (Buffer &buffer : buffers)
    owners[buffer.allocs.front()] = &buffer;
  auto ownerOf = [&](Value operand) {
    auto alloc = skipCasts(operand).getDefiningOp<memref::AllocOp>();
    return alloc ? owners.lookup(alloc) : nullptr;
  };
  block.walk([&](kernel::LaunchOp launch) {
    auto pairs = launch->getAttrOfType<DenseI64ArrayAttr>(kernel::overwritesAttrName);
    for (int64_t i = 0; pairs && i < pairs.size(); i += 2) {
      Buffer *input = ownerOf(launch.getOperands_()[pairs[i]]), *result = ownerOf(launch.getOperands_()[pairs[i + 1]]);
      int64_t now = positions.lookup(launch);
      if (!input || !result || input == result || input->last != now || result->first != now || !input->hasSizeOf(*result))
        continue;
      for (memref::AllocOp alloc : result->allocs)
        owners[alloc] = input;
      input->allocs.append(result->allocs);
      input->last = result->last;
      result->allocs.clear();
      break;
    }
  });
  llvm::erase_if(buffers, [](const Buffer &buffer) { return buffer.allocs.empty(); });
}

/// A buffer that a loop shares with the operations around it must live throughout the loop.
static void extendLives(Block &block, const llvm::DenseMap<Operation *, int64_t> &positions, std::vector<Buffer> &buffers) {
  block.walk([&](LoopLikeOpInterface loop) {
    int64_t first = positions.lookup(loop), last = first;
    loop->walk([&](Operation *op) { last = std::max(last, positions.lookup(op)); });
    for (Buffer &buffer : buffers) {
      bool isInside = buffer.first >= first && buffer.last <= last, isApart = buffer.last < first || buffer.first > last;
      if (isInside || isApart)
        continue;
      buffer.first = std::min(buffer.first, first);
      buffer.last = std::max(buffer.last, last);
    }
  });
}

std::vector<Buffer> collectBuffers(Block &block) {
  llvm::DenseMap<Operation *, int64_t> positions;
  // The branches take turns in time: neither reads what the other writes.
  block.walk<WalkOrder::PreOrder>([&](Operation *op) { positions[op] = positions.size(); });
  std::vector<Buffer> buffers;
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    int64_t bytes = type.hasStaticShape() ? llvm::alignTo(type.getNumElements() * nn::elementBytes(type.getElementType()), bufferAlignment) : -1;
    buffers.push_back({{INT64_MAX, -1, bytes}, {alloc}});
    findUses(alloc, positions, buffers.back());
    // The status cell is cleared where it is made, which may be far in front of its first launch, and read when the run ends.
    if (alloc->hasAttr(kernel::statusAttrName)) {
      buffers.back().first = positions.lookup(alloc);
      buffers.back().last = INT64_MAX;
    }
  }
  extendLives(block, positions, buffers);
  mergeOverwritten(block, positions, buffers);
  return buffers;
}

} // namespace kiln
