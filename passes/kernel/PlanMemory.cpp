//===- PlanMemory.cpp - A place in the workspace for every buffer ----------===//
//
//   %a = memref.alloc() : memref<256xf32>          %a = memref.view %workspace[%c0]
//   launch @k0(%x, %a)                       =>    launch @k0(%x, %a)
//   %b = memref.alloc() : memref<256xf32>          %b = memref.view %workspace[%c1024]
//
// A buffer lives from its first launch to its last, and throughout a loop that it is used in and outside of; a result takes over the buffer of an
// input that dies where it is computed, if its kernel allows that (`kernel.overwrites`). Static sizes: the best of several greedy orders
// (PackBuffers.h). With symbolic sizes offsets are sums: buffers whose lives are apart share a slot of the larger size, computed when the entry runs, and
// func @workspace_size computes the same sum for the caller. It answers -1 for dimensions whose tensors (SizeChecks.h) or whose sum is too large.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/ConstantData.h"
#include "passes/Passes.h"
#include "passes/kernel/PackBuffers.h"
#include "passes/lowering/entry/SizeChecks.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"

/// Every buffer starts on a cache line, which is also the size of the widest vector.
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

static Value skipCasts(Value buffer) {
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

static std::vector<Buffer> collectBuffers(Block &block) {
  llvm::DenseMap<Operation *, int64_t> positions;
  // The branches take turns in time: neither reads what the other writes.
  block.walk<WalkOrder::PreOrder>([&](Operation *op) { positions[op] = positions.size(); });
  std::vector<Buffer> buffers;
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    int64_t bytes = type.hasStaticShape() ? llvm::alignTo(type.getNumElements() * nn::elementBytes(type.getElementType()), alignment) : -1;
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

/// Records which outputs may be an input's own buffer: the launch that allows it must be the last to use the input and the first to use the output.
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
    auto overwrites = launch->getAttrOfType<DenseI64ArrayAttr>(kernel::overwritesAttrName);
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

/// Slots for symbolic sizes: a buffer takes the first slot that is free during its lifetime, preferably one of the same size.
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

static bool isSizeCheck(Operation &op) {
  auto check = dyn_cast<kernel::CheckOp>(op);
  return check && check.getStatus() == sizeOverflowStatus;
}

/// The place after the checks that sizes fit; nothing before them may compute a size.
static Block::iterator skipSizeChecks(Block &block) {
  auto end = block.begin();
  for (auto it = block.begin(); it != block.end() && (isa<arith::ArithDialect>(it->getDialect()) || isSizeCheck(*it)); ++it)
    if (isSizeCheck(*it))
      end = std::next(it);
  return end;
}

/// Moves the computation of sizes, which are pure functions of the symbols, up to the checks of sizes. Returns the first operation after it.
static Operation *gatherSizes(Block &block) {
  Block::iterator begin = skipSizeChecks(block);
  // Loaded conditions stay where they are.
  llvm::SmallPtrSet<Operation *, 16> sizes;
  auto isSize = [&](Operation &op) {
    bool known = llvm::all_of(op.getOperands(), [&](Value operand) { return !operand.getDefiningOp() || sizes.contains(operand.getDefiningOp()); });
    return isa<arith::ArithDialect>(op.getDialect()) && known && sizes.insert(&op).second;
  };
  for (auto it = block.begin(); it != begin; ++it)
    isSize(*it);
  Operation *firstOther = &*std::find_if_not(begin, block.end(), isSize);
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(firstOther->getIterator(), block.end())))
    if (isSize(op))
      op.moveBefore(firstOther);
  return firstOther;
}

/// The most bytes that a slot takes, with rounding; nullopt if they do not fit.
static std::optional<double> getMostBytes(ArrayRef<Buffer *> slot) {
  double most = 0;
  for (const Buffer *buffer : slot) {
    memref::AllocOp alloc = buffer->allocs.front();
    auto bytes = alloc->getAttrOfType<IntegerAttr>(kernel::mostBytesAttrName);
    if (!bytes)
      return std::nullopt;
    most = std::max(most, static_cast<double>(bytes.getInt()));
  }
  return most + alignment;
}

/// The distinct pairs of count and width among a slot's buffers.
static llvm::SetVector<std::pair<Value, int64_t>> listSizes(ArrayRef<Buffer *> slot) {
  llvm::SetVector<std::pair<Value, int64_t>> sizes;
  for (const Buffer *buffer : slot)
    sizes.insert({buffer->count(), buffer->width()});
  return sizes;
}

/// Checks the sum of the slots, each of which is already known to fit.
static void checkTotal(ArrayRef<std::vector<Buffer *>> slots, int64_t staticBytes, OpBuilder &b, Location loc) {
  double most = static_cast<double>(staticBytes);
  for (const std::vector<Buffer *> &slot : slots)
    most += getMostBytes(slot).value_or(2 * static_cast<double>(mostBytes));
  if (most <= static_cast<double>(mostBytes))
    return;
  auto constant = [&](double value) -> Value { return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value)); };
  Value total = constant(static_cast<double>(staticBytes + static_cast<int64_t>(slots.size()) * alignment));
  for (const std::vector<Buffer *> &slot : slots) {
    Value size;
    for (auto [count, width] : listSizes(slot)) {
      Value bytes = arith::MulFOp::create(b, loc, toDouble(b, loc, count), constant(static_cast<double>(width)));
      size = size ? arith::MaximumFOp::create(b, loc, size, bytes).getResult() : bytes;
    }
    total = arith::AddFOp::create(b, loc, size, total);
  }
  createSizeCheck(b, loc, total, mostBytes, "the workspace fits");
}

/// Computes the sum of the slots before the first launch.
static Value placeSlots(ArrayRef<std::vector<Buffer *>> slots, int64_t staticBytes, Block &block, llvm::MapVector<Buffer *, Value> &offsets) {
  OpBuilder b(gatherSizes(block));
  Location loc = block.getParentOp()->getLoc();
  checkTotal(slots, staticBytes, b, loc);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  Value total = constant(staticBytes), mask = constant(alignment);
  for (const std::vector<Buffer *> &slot : slots) {
    for (Buffer *buffer : slot)
      offsets[buffer] = total;
    Value size;
    for (auto [count, width] : listSizes(slot)) {
      Value bytes = arith::MulIOp::create(b, loc, count, constant(width));
      size = size ? arith::MaxSIOp::create(b, loc, size, bytes).getResult() : bytes;
    }
    Value rounded = arith::MulIOp::create(b, loc, arith::DivSIOp::create(b, loc, arith::AddIOp::create(b, loc, size, constant(alignment - 1)), mask), mask);
    total = arith::AddIOp::create(b, loc, total, rounded);
  }
  return total;
}

/// Clones the computation of `total` into a condition on the checks of sizes. The result is -1 if one of them fails. The checks up to `last` do not depend
/// on each other.
static Value cloneTotal(Block::iterator at, Block::iterator end, Operation *last, Value total, IRMapping &map, OpBuilder &b) {
  Value fits;
  for (; at != end && (isa<arith::ArithDialect>(at->getDialect()) || isSizeCheck(*at)); ++at) {
    if (!isSizeCheck(*at)) {
      b.clone(*at, map);
      continue;
    }
    Value condition = map.lookup(cast<kernel::CheckOp>(*at).getCondition());
    fits = fits ? arith::AndIOp::create(b, at->getLoc(), fits, condition).getResult() : condition;
    if (!last || &*at == last)
      break;
  }
  if (!fits)
    return map.lookup(total);
  Location loc = at->getLoc();
  auto branch = scf::IfOp::create(b, loc, TypeRange(b.getIndexType()), fits, /*withElseRegion=*/true);
  OpBuilder inside = OpBuilder::atBlockEnd(branch.thenBlock()), otherwise = OpBuilder::atBlockEnd(branch.elseBlock());
  scf::YieldOp::create(inside, loc, cloneTotal(std::next(at), end, nullptr, total, map, inside));
  scf::YieldOp::create(otherwise, loc, ValueRange(arith::ConstantIndexOp::create(otherwise, loc, -1)));
  return branch.getResult(0);
}

/// func @workspace_size(symbols) -> index with the computation of `total`.
static void createSizeFunction(kernel::EntryOp entry, Operation *lastCheck, Value total, Value workspace) {
  Block &block = entry.getBody().front();
  unsigned firstSymbol = cast<BlockArgument>(workspace).getArgNumber() + 1;
  auto symbols = block.getArguments().drop_front(firstSymbol);
  OpBuilder b(entry);
  SmallVector<Type> types(symbols.size(), b.getIndexType());
  auto function = func::FuncOp::create(b, entry.getLoc(), "workspace_size", b.getFunctionType(types, b.getIndexType()));
  function.setPrivate();
  Block *body = function.addEntryBlock();
  IRMapping map;
  auto names = entry->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(nn::symbolsAttrName);
  for (auto [from, to] : llvm::zip_equal(symbols, body->getArguments())) {
    map.map(from, to);
    if (names && to.getArgNumber() < names.size())
      function.setArgAttr(to.getArgNumber(), kernel::nameAttrName, names[to.getArgNumber()]);
  }
  b.setInsertionPointToEnd(body);
  Value result = cloneTotal(block.begin(), block.end(), lastCheck, total, map, b);
  func::ReturnOp::create(b, entry.getLoc(), result);
}

/// `kernel.workspace_lower_bound`: the most bytes that are alive during one launch.
static void setWorkspace(ModuleOp module, int64_t bytes, int64_t lowerBound) {
  Builder b(module.getContext());
  module->setAttr(kernel::workspaceBytesAttrName, b.getI64IntegerAttr(bytes));
  module->setAttr(kernel::workspaceLowerBoundAttrName, b.getI64IntegerAttr(lowerBound));
}

/// Refuses a model whose buffers of static size cannot fit together in any order.
static LogicalResult checkStaticSizes(Block &block) {
  uint64_t total = 0;
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape())
      continue;
    uint64_t bytes = nn::elementBytes(type.getElementType());
    for (int64_t extent : type.getShape())
      bytes = llvm::SaturatingMultiply<uint64_t>(bytes, extent);
    total = llvm::SaturatingAdd<uint64_t>(total, bytes, alignment);
    if (total > static_cast<uint64_t>(mostBytes))
      return kernel::emitRefusal(alloc) << "the model's buffers take more than 2^62 bytes; got one of " << type;
  }
  return success();
}

/// The operations of the launch during which most bytes live, and how many do.
static std::pair<std::string, int64_t> describePeak(Block &block, ArrayRef<Buffer *> buffers) {
  std::pair<std::string, int64_t> peak = {"", -1};
  int64_t position = 0;
  SymbolTable symbols(block.getParentOp()->getParentOfType<ModuleOp>());
  block.walk<WalkOrder::PreOrder>([&](Operation *op) {
    int64_t now = position++, live = 0;
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (!launch)
      return;
    for (const Buffer *buffer : buffers)
      live += buffer->first <= now && now <= buffer->last ? buffer->bytes : 0;
    if (live <= peak.second)
      return;
    Operation *callee = symbols.lookup(launch.getKernel());
    Attribute nodes = launch->getAttr(kernel::nodesAttrName);
    if (!nodes && callee)
      nodes = callee->getAttr(kernel::nodesAttrName);
    std::string names;
    if (auto list = dyn_cast_or_null<ArrayAttr>(nodes))
      for (auto node : list.getAsRange<StringAttr>())
        names += (names.empty() ? "" : " ") + node.str();
    peak = {names.empty() ? launch.getKernel().str() : names, live};
  });
  return peak;
}

/// Refuses a workspace that is larger than the caller allows, or that may be.
static LogicalResult checkWorkspace(kernel::EntryOp entry, ArrayRef<Buffer *> fixed, bool hasSymbolic, int64_t bytes, int64_t most) {
  if (most < 0 || (!hasSymbolic && bytes <= most))
    return success();
  if (hasSymbolic)
    return kernel::emitRefusal(entry) << "--max-workspace=" << most
                                      << ": the workspace depends on sizes that only the run knows; --dim=NAME=SIZE makes them known";
  auto [nodes, live] = describePeak(entry.getBody().front(), fixed);
  return kernel::emitRefusal(entry) << "--max-workspace=" << most << ": a run needs " << bytes << " bytes; "
                                    << live << " of them are in use at once by " << nodes;
}

static LogicalResult planEntry(kernel::EntryOp entry, int64_t most) {
  Block &block = entry.getBody().front();
  if (failed(checkStaticSizes(block)))
    return failure();
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
  if (failed(checkWorkspace(entry, fixed, !symbolic.empty(), staticBytes, most)))
    return failure();
  OpBuilder b(entry.getContext());
  llvm::MapVector<Buffer *, Value> offsets;
  if (symbolic.empty())
    setWorkspace(entry->getParentOfType<ModuleOp>(), staticBytes, getLiveBytes(packed));
  Block::iterator behind = skipSizeChecks(block);
  Operation *lastCheck = behind == block.begin() ? nullptr : &*std::prev(behind);
  if (!symbolic.empty()) {
    createSizeFunction(entry, lastCheck, placeSlots(planSlots(symbolic), staticBytes, block, offsets), workspace);
  } else if (lastCheck) {
    OpBuilder at(&block, behind);
    createSizeFunction(entry, lastCheck, arith::ConstantIndexOp::create(at, entry.getLoc(), staticBytes), workspace);
  }
  for (auto [buffer, place] : llvm::zip_equal(fixed, packed))
    for (memref::AllocOp alloc : buffer->allocs) {
      b.setInsertionPoint(alloc);
      replaceByView(alloc, arith::ConstantIndexOp::create(b, alloc.getLoc(), place.offset), workspace);
    }
  for (auto [buffer, offset] : offsets)
    for (memref::AllocOp alloc : buffer->allocs)
      replaceByView(alloc, offset, workspace);
  return success();
}

namespace {
struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    PlanMemoryBase::getDependentDialects(registry);
    registry.insert<arith::ArithDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    for (auto entry : getOperation().getOps<kernel::EntryOp>()) {
      if (failed(planEntry(entry, most)))
        return signalPassFailure();
      markInPlace(entry);
    }
  }
};
} // namespace

} // namespace kiln
