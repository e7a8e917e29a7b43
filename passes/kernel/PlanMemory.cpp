//===- PlanMemory.cpp - A place in the workspace for every buffer ----------===//
//
//   %a = memref.alloc() : memref<256xf32>          %a = memref.view %workspace[%c0]
//   launch @k0(%x, %a)                       =>    launch @k0(%x, %a)
//   %b = memref.alloc() : memref<256xf32>          %b = memref.view %workspace[%c1024]
//
// A buffer lives from its first launch to its last, and throughout a loop that it is used in and outside of; a result takes over the buffer of an
// input that dies where it is computed, if its kernel allows that (`kernel.overwrites`). Static sizes: the best of several greedy orders
// (PackBuffers.h). With symbolic sizes offsets are sums: buffers whose lives are apart share a slot of the larger size, computed when the entry runs, and
// func @workspace_size computes the same sum for the caller.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/kernel/PackBuffers.h"
#include "passes/lowering/Places.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"

/// Every buffer starts on a cache line, which is also the widest vector.
static constexpr int64_t alignment = 64;

namespace {
/// One or several allocations in one place; `bytes` are rounded up to the alignment, -1 when symbolic.
struct Buffer : PackedBuffer {
  SmallVector<memref::AllocOp, 1> allocs;

  Value count() const {
    memref::AllocOp alloc = allocs.front();
    return alloc.getDynamicSizes().empty() ? Value() : alloc.getDynamicSizes().front();
  }
  int64_t width() const;
  bool hasSizeOf(const Buffer &other) const { return bytes == other.bytes && (bytes >= 0 || (count() == other.count() && width() == other.width())); }
};
} // namespace

static int64_t elementBytes(MemRefType type) { return (type.getElementTypeBitWidth() + 7) / 8; }

int64_t Buffer::width() const { return elementBytes(memref::AllocOp(allocs.front()).getType()); }

/// Positions of the launches that use a buffer, casts seen through.
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

static Value skipCasts(Value buffer) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  return buffer;
}

/// A launch's result takes over the buffer of an input that dies there, where its kernel allows that.
static void mergeOverwritten(Block &block, const llvm::DenseMap<Operation *, int64_t> &positions, std::vector<Buffer> &buffers) {
  llvm::DenseMap<Operation *, Buffer *> owners;
  for (Buffer &buffer : buffers)
    owners[buffer.allocs.front()] = &buffer;
  auto ownerOf = [&](Value operand) {
    auto alloc = skipCasts(operand).getDefiningOp<memref::AllocOp>();
    return alloc ? owners.lookup(alloc) : nullptr;
  };
  block.walk([&](kernel::LaunchOp launch) {
    auto pairs = launch->getAttrOfType<DenseI64ArrayAttr>(overwritesAttrName);
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

/// What a loop uses besides its own steps must be there in each of them.
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

static std::vector<Buffer> collectBuffers(Block &block) {
  llvm::DenseMap<Operation *, int64_t> positions;
  // Branches one behind the other: what one writes the other does not read.
  block.walk<WalkOrder::PreOrder>([&](Operation *op) { positions[op] = positions.size(); });
  std::vector<Buffer> buffers;
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    int64_t bytes = type.hasStaticShape() ? llvm::alignTo(type.getNumElements() * elementBytes(type), alignment) : -1;
    buffers.push_back({{INT64_MAX, -1, bytes}, {alloc}});
    findUses(alloc, positions, buffers.back());
    // The status cell is read when the run ends.
    if (alloc->hasAttr(kernel::statusAttrName))
      buffers.back().last = INT64_MAX;
  }
  extendLives(block, positions, buffers);
  mergeOverwritten(block, positions, buffers);
  return buffers;
}

/// Notes which outputs may be an input's own buffer: the launch that allows it is the last to use the input and the first to use the output.
static void markInPlace(kernel::EntryOp entry) {
  Block &block = entry.getBody().front();
  unsigned inputs = entry.getInputs().size(), outputs = inputs + entry.getOutputs().size();
  std::vector<std::pair<Operation *, Operation *>> uses(outputs);
  block.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<memref::CastOp>(op))
      return;
    for (Value operand : op->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(skipCasts(operand)); argument && argument.getArgNumber() < outputs) {
        auto &[first, last] = uses[argument.getArgNumber()];
        last = block.findAncestorOpInBlock(*op);
        first = first ? first : last;
      }
  });
  SmallVector<int64_t> pairs;
  for (auto launch : block.getOps<kernel::LaunchOp>()) {
    auto overwrites = launch->getAttrOfType<DenseI64ArrayAttr>(overwritesAttrName);
    for (int64_t i = 0; overwrites && i < overwrites.size(); i += 2) {
      auto input = dyn_cast<BlockArgument>(skipCasts(launch.getOperands_()[overwrites[i]]));
      auto output = dyn_cast<BlockArgument>(skipCasts(launch.getOperands_()[overwrites[i + 1]]));
      if (input && output && input.getArgNumber() < inputs && output.getArgNumber() >= inputs && uses[input.getArgNumber()].second == launch &&
          uses[output.getArgNumber()].first == launch)
        pairs.append({input.getArgNumber(), output.getArgNumber() - inputs});
    }
  }
  if (!pairs.empty())
    entry->setAttr(kernel::inPlaceAttrName, DenseI64ArrayAttr::get(entry.getContext(), pairs));
}

/// Slots for symbolic sizes: a buffer takes the first slot that is free during its life, preferring one that holds the same size.
static std::vector<std::vector<Buffer *>> planSlots(ArrayRef<Buffer *> buffers) {
  std::vector<std::vector<Buffer *>> slots;
  for (Buffer *buffer : buffers) {
    std::vector<Buffer *> *best = nullptr;
    for (auto &slot : slots) {
      if (llvm::any_of(slot, [&](Buffer *other) { return buffer->livesWith(*other); }))
        continue;
      bool same = slot.front()->count() == buffer->count();
      if (same || !best)
        best = &slot;
      if (same)
        break;
    }
    if (!best)
      best = &slots.emplace_back();
    best->push_back(buffer);
  }
  return slots;
}

static void replaceByView(memref::AllocOp alloc, Value offset, Value workspace) {
  OpBuilder b(alloc);
  if (offset.getDefiningOp())
    b.setInsertionPointAfter(alloc);
  auto view = memref::ViewOp::create(b, alloc.getLoc(), alloc.getType(), workspace, offset, alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(view.getResult());
  alloc.erase();
}

/// Sums the slots before the first launch. Sizes are pure functions of the symbols, so their computations move up.
static Value placeSlots(ArrayRef<std::vector<Buffer *>> slots, int64_t staticBytes, Block &block, llvm::MapVector<Buffer *, Value> &offsets) {
  // Conditions that are loaded stay where they are.
  llvm::SmallPtrSet<Operation *, 16> sizes;
  auto isSize = [&](Operation &op) {
    bool known = llvm::all_of(op.getOperands(), [&](Value operand) { return !operand.getDefiningOp() || sizes.contains(operand.getDefiningOp()); });
    return isa<arith::ArithDialect>(op.getDialect()) && known && sizes.insert(&op).second;
  };
  Operation *firstOther = &*llvm::find_if_not(block, isSize);
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(firstOther->getIterator(), block.end())))
    if (isSize(op))
      op.moveBefore(firstOther);
  OpBuilder b(firstOther);
  Location loc = block.getParentOp()->getLoc();
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  Value total = constant(staticBytes), mask = constant(alignment);
  for (const std::vector<Buffer *> &slot : slots) {
    Value size;
    llvm::DenseSet<std::pair<Value, int64_t>> known;
    for (Buffer *buffer : slot) {
      offsets[buffer] = total;
      Value count = buffer->count();
      int64_t width = buffer->width();
      if (!known.insert({count, width}).second)
        continue;
      Value bytes = arith::MulIOp::create(b, loc, count, constant(width));
      size = size ? arith::MaxSIOp::create(b, loc, size, bytes).getResult() : bytes;
    }
    Value rounded = arith::MulIOp::create(b, loc, arith::DivSIOp::create(b, loc, arith::AddIOp::create(b, loc, size, constant(alignment - 1)), mask), mask);
    total = arith::AddIOp::create(b, loc, total, rounded);
  }
  return total;
}

/// func @workspace_size(symbols) -> index with the computation of `total`.
static void createSizeFunction(kernel::EntryOp entry, Value total, Value workspace) {
  Block &block = entry.getBody().front();
  unsigned firstSymbol = cast<BlockArgument>(workspace).getArgNumber() + 1;
  auto symbols = block.getArguments().drop_front(firstSymbol);
  OpBuilder b(entry);
  SmallVector<Type> types(symbols.size(), b.getIndexType());
  auto function = func::FuncOp::create(b, entry.getLoc(), "workspace_size", b.getFunctionType(types, b.getIndexType()));
  function.setPrivate();
  Block *body = function.addEntryBlock();
  IRMapping map;
  auto names = entry->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>("nn.symbols");
  for (auto [from, to] : llvm::zip_equal(symbols, body->getArguments())) {
    map.map(from, to);
    if (names && to.getArgNumber() < names.size())
      function.setArgAttr(to.getArgNumber(), kernel::nameAttrName, names[to.getArgNumber()]);
  }
  b.setInsertionPointToEnd(body);
  for (Operation &op : block) {
    if (!isa<arith::ArithDialect>(op.getDialect()))
      break;
    b.clone(op, map);
  }
  func::ReturnOp::create(b, entry.getLoc(), map.lookup(total));
}

/// `kernel.workspace_lower_bound`: the most bytes that are alive during one launch.
static void setWorkspace(ModuleOp module, int64_t bytes, int64_t lowerBound) {
  Builder b(module.getContext());
  module->setAttr("kernel.workspace_bytes", b.getI64IntegerAttr(bytes));
  module->setAttr("kernel.workspace_lower_bound", b.getI64IntegerAttr(lowerBound));
}

static void planEntry(kernel::EntryOp entry) {
  Block &block = entry.getBody().front();
  BlockArgument workspace;
  for (BlockArgument argument : block.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (type && argument.getArgNumber() >= entry.getInputs().size() + entry.getOutputs().size())
      workspace = argument;
  }
  std::vector<Buffer> buffers = collectBuffers(block);
  std::vector<Buffer *> fixed, symbolic;
  for (Buffer &buffer : buffers)
    (buffer.bytes >= 0 ? fixed : symbolic).push_back(&buffer);
  std::vector<PackedBuffer> packed;
  for (Buffer *buffer : fixed)
    packed.push_back(*buffer);
  int64_t staticBytes = packBuffers(packed);
  OpBuilder b(entry.getContext());
  llvm::MapVector<Buffer *, Value> offsets;
  Value total;
  if (!symbolic.empty())
    total = placeSlots(planSlots(symbolic), staticBytes, block, offsets);
  if (total)
    createSizeFunction(entry, total, workspace);
  else
    setWorkspace(entry->getParentOfType<ModuleOp>(), staticBytes, getLiveBytes(packed));
  for (auto [buffer, place] : llvm::zip_equal(fixed, packed))
    for (memref::AllocOp alloc : buffer->allocs) {
      b.setInsertionPoint(alloc);
      replaceByView(alloc, arith::ConstantIndexOp::create(b, alloc.getLoc(), place.offset), workspace);
    }
  for (auto [buffer, offset] : offsets)
    for (memref::AllocOp alloc : buffer->allocs)
      replaceByView(alloc, offset, workspace);
}

namespace {
struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    for (auto entry : getOperation().getOps<kernel::EntryOp>()) {
      planEntry(entry);
      markInPlace(entry);
    }
  }
};
} // namespace

} // namespace kiln
