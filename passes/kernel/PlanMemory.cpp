//===- PlanMemory.cpp - A place in the workspace for every buffer ----------===//
//
//   %a = memref.alloc() : memref<256xf32>          %a = memref.view %workspace[%c0]
//   launch @k0(%x, %a)                       =>    launch @k0(%x, %a)
//   %b = memref.alloc() : memref<256xf32>          %b = memref.view %workspace[%c1024]
//
// A buffer lives from its first launch to its last, and throughout a loop that it is used in and outside of; a result takes over the buffer of an
// input that dies where it is computed, if its kernel allows that (`kernel.overwrites`). Static sizes: the best of several greedy orders
// (PackBuffers.h). Symbolic sizes are packed in the same way for symbols of `typicalSymbol`, which gives their order: a buffer lies where the highest ends of
// those below it that live together with it, whatever the sizes are. The entry computes these offsets when it runs, and func @workspace_size the end of all for
// the caller. It answers -1 for dimensions whose tensors (SizeChecks.h) or whose sum is too large.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "passes/Passes.h"
#include "passes/kernel/BufferLives.h"
#include "passes/kernel/LaunchOrder.h"
#include "passes/lowering/entry/SizeChecks.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"

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

//===- Symbolic sizes ------------------------------------------------------===//

/// What a symbol counts as where buffers are packed: only how sizes compare with each other matters.
static constexpr int64_t typicalSymbol = 480;

using Estimates = llvm::DenseMap<Value, Attribute>;

/// A number with every symbol, and whatever only run time knows, at its typical value; null if it is no integer.
static Attribute estimate(Value number, Estimates &known) {
  if (auto found = known.find(number); found != known.end())
    return found->second;
  Attribute result;
  Operation *op = number.getDefiningOp();
  if (op && isa<arith::ArithDialect>(op->getDialect())) {
    auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return estimate(operand, known); });
    SmallVector<OpFoldResult> folded;
    if (!llvm::is_contained(operands, nullptr) && succeeded(op->fold(operands, folded)) && folded.size() == 1) {
      auto same = dyn_cast<Value>(folded.front());
      result = same ? estimate(same, known) : cast<Attribute>(folded.front());
    }
  }
  if (!result && number.getType().isIndex())
    result = Builder(number.getContext()).getIndexAttr(typicalSymbol);
  return known[number] = result;
}

/// The typical number of bytes.
static int64_t estimateBytes(const Buffer &buffer, Estimates &known) {
  if (buffer.bytes >= 0)
    return buffer.bytes;
  auto count = dyn_cast_or_null<IntegerAttr>(estimate(buffer.count(), known));
  return std::clamp<int64_t>(count ? count.getInt() : typicalSymbol, 1, int64_t(1) << 38) * buffer.width();
}

/// For each buffer those that lie below it and live together with it, except for what lies below another of them. `order`: from the lowest on.
static std::vector<SmallVector<unsigned>> findBelow(ArrayRef<PackedBuffer> buffers, ArrayRef<unsigned> order) {
  std::vector<unsigned> rank(buffers.size());
  for (auto [i, buffer] : llvm::enumerate(order))
    rank[buffer] = i;
  SmallVector<unsigned> inTime(order), alive;
  llvm::sort(inTime, [&](unsigned x, unsigned y) { return std::pair(buffers[x].first, x) < std::pair(buffers[y].first, y); });
  std::vector<SmallVector<unsigned>> below(buffers.size());
  for (unsigned now : inTime) {
    llvm::erase_if(alive, [&](unsigned other) { return !buffers[now].livesWith(buffers[other]); });
    for (unsigned other : alive)
      below[rank[now] < rank[other] ? other : now].push_back(rank[now] < rank[other] ? now : other);
    alive.push_back(now);
  }
  for (SmallVector<unsigned> &rivals : below) {
    llvm::sort(rivals, [&](unsigned x, unsigned y) { return rank[x] > rank[y]; });
    SmallVector<unsigned> direct;
    for (unsigned rival : rivals)
      if (llvm::none_of(rivals, [&](unsigned other) { return rank[other] > rank[rival] && buffers[other].livesWith(buffers[rival]); }))
        direct.push_back(rival);
    rivals = direct;
  }
  return below;
}

/// Checks the sum of all buffers, each of which is already known to fit.
static void checkTotal(ArrayRef<Buffer> buffers, OpBuilder &b, Location loc) {
  double most = 0, known = 0;
  llvm::MapVector<std::pair<Value, int64_t>, int64_t> sizes;
  for (const Buffer &buffer : buffers) {
    memref::AllocOp alloc = buffer.allocs.front();
    auto bytes = alloc->getAttrOfType<IntegerAttr>(kernel::mostBytesAttrName);
    bool isKnown = buffer.bytes >= 0;
    double own = isKnown ? static_cast<double>(buffer.bytes) : bytes ? static_cast<double>(bytes.getInt()) : 2 * static_cast<double>(mostBytes);
    most += own + bufferAlignment;
    known += isKnown ? own : bufferAlignment;
    if (!isKnown)
      sizes[{buffer.count(), buffer.width()}] += buffer.width();
  }
  if (most <= static_cast<double>(mostBytes))
    return;
  auto constant = [&](double value) -> Value { return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value)); };
  Value total = constant(known);
  for (auto &[size, bytes] : sizes)
    total = arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, toDouble(b, loc, size.first), constant(static_cast<double>(bytes))), total);
  createSizeCheck(b, loc, total, mostBytes, "the workspace fits");
}

/// Computes the offsets before the first launch; the result is the end of all.
static Value placeSymbolic(MutableArrayRef<Buffer> buffers, Block &block, llvm::MapVector<Buffer *, Value> &offsets) {
  OpBuilder b(gatherSizes(block));
  Location loc = block.getParentOp()->getLoc();
  checkTotal(buffers, b, loc);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  Estimates known;
  std::vector<PackedBuffer> packed;
  for (const Buffer &buffer : buffers)
    packed.push_back({buffer.first, buffer.last, estimateBytes(buffer, known)});
  packBuffers(packed);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, buffers.size()));
  llvm::sort(order, [&](unsigned x, unsigned y) { return std::pair(packed[x].offset, x) < std::pair(packed[y].offset, y); });
  std::vector<SmallVector<unsigned>> below = findBelow(packed, order);
  Value start = constant(0), mask = constant(bufferAlignment);
  auto highest = [&](Value x, Value y) -> Value { return x ? arith::MaxSIOp::create(b, loc, x, y).getResult() : y; };
  llvm::DenseMap<std::pair<Value, int64_t>, Value> sizes;
  auto sizeOf = [&](const Buffer &buffer) -> Value {
    if (buffer.bytes >= 0)
      return constant(buffer.bytes);
    Value &size = sizes[{buffer.count(), buffer.width()}];
    if (!size) {
      Value bytes = arith::MulIOp::create(b, loc, buffer.count(), constant(buffer.width()));
      size = arith::MulIOp::create(b, loc, arith::DivSIOp::create(b, loc, arith::AddIOp::create(b, loc, bytes, constant(bufferAlignment - 1)), mask), mask);
    }
    return size;
  };
  std::vector<Value> ends(buffers.size());
  llvm::BitVector isTop(buffers.size(), true);
  for (unsigned i : order) {
    Value offset;
    for (unsigned rival : below[i]) {
      offset = highest(offset, ends[rival]);
      isTop.reset(rival);
    }
    offsets[&buffers[i]] = offset ? offset : start;
    ends[i] = arith::AddIOp::create(b, loc, offsets[&buffers[i]], sizeOf(buffers[i]));
  }
  Value total;
  for (unsigned i : isTop.set_bits())
    total = highest(total, ends[i]);
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
    total = llvm::SaturatingAdd<uint64_t>(total, bytes, bufferAlignment);
    if (total > static_cast<uint64_t>(mostBytes))
      return kernel::emitRefusal(alloc) << "the model's buffers take more than 2^62 bytes; got one of " << type;
  }
  return success();
}

/// The operations of the launch during which most bytes live, and how many do.
static std::pair<std::string, int64_t> describePeak(Block &block, ArrayRef<Buffer> buffers) {
  std::pair<std::string, int64_t> peak = {"", -1};
  int64_t position = 0;
  SymbolTable symbols(block.getParentOp()->getParentOfType<ModuleOp>());
  block.walk<WalkOrder::PreOrder>([&](Operation *op) {
    int64_t now = position++, live = 0;
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (!launch)
      return;
    for (const Buffer &buffer : buffers)
      live += buffer.first <= now && now <= buffer.last ? buffer.bytes : 0;
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
static LogicalResult checkWorkspace(kernel::EntryOp entry, ArrayRef<Buffer> buffers, bool hasSymbolic, int64_t bytes, int64_t most) {
  if (most < 0 || (!hasSymbolic && bytes <= most))
    return success();
  if (hasSymbolic)
    return kernel::emitRefusal(entry) << "--max-workspace=" << most
                                      << ": the workspace depends on sizes that only the run knows; --dim=NAME=SIZE makes them known";
  auto [nodes, live] = describePeak(entry.getBody().front(), buffers);
  return kernel::emitRefusal(entry) << "--max-workspace=" << most << ": a run needs " << bytes << " bytes; "
                                    << live << " of them are in use at once by " << nodes;
}

/// Where a workspace of static size is larger than allowed, puts the launches in a better order and computes values again until it is not.
static void fitWorkspace(kernel::EntryOp entry, int64_t most) {
  auto fits = [&] {
    std::vector<Buffer> buffers = collectBuffers(entry.getBody().front());
    std::vector<PackedBuffer> packed(buffers.begin(), buffers.end());
    return llvm::any_of(packed, [](const PackedBuffer &buffer) { return buffer.bytes < 0; }) || packBuffers(packed) <= most;
  };
  if (most < 0 || !mayReorderLaunches(entry->getParentOfType<ModuleOp>()) || fits())
    return;
  orderLaunches(entry);
  // Rather a run that takes twice as long than none.
  if (!fits())
    recomputeLaunches(entry, {most, 1, false});
}

static LogicalResult planEntry(kernel::EntryOp entry, int64_t most) {
  Block &block = entry.getBody().front();
  if (failed(checkStaticSizes(block)))
    return failure();
  fitWorkspace(entry, most);
  BlockArgument workspace;
  for (BlockArgument argument : block.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (type && argument.getArgNumber() >= entry.getInputs().size() + entry.getOutputs().size())
      workspace = argument;
  }
  std::vector<Buffer> buffers = collectBuffers(block);
  llvm::MapVector<Buffer *, Value> offsets;
  Block::iterator behind = skipSizeChecks(block);
  Operation *lastCheck = behind == block.begin() ? nullptr : &*std::prev(behind);
  if (llvm::any_of(buffers, [](const Buffer &buffer) { return buffer.bytes < 0; })) {
    if (failed(checkWorkspace(entry, buffers, /*hasSymbolic=*/true, 0, most)))
      return failure();
    createSizeFunction(entry, lastCheck, placeSymbolic(buffers, block, offsets), workspace);
  } else {
    std::vector<PackedBuffer> packed(buffers.begin(), buffers.end());
    int64_t bytes = packBuffers(packed);
    if (failed(checkWorkspace(entry, buffers, /*hasSymbolic=*/false, bytes, most)))
      return failure();
    setWorkspace(entry->getParentOfType<ModuleOp>(), bytes, getLiveBytes(packed));
    if (lastCheck) {
      OpBuilder at(&block, behind);
      createSizeFunction(entry, lastCheck, arith::ConstantIndexOp::create(at, entry.getLoc(), bytes), workspace);
    }
    for (auto [buffer, place] : llvm::zip_equal(buffers, packed))
      for (memref::AllocOp alloc : buffer.allocs) {
        OpBuilder at(alloc);
        replaceByView(alloc, arith::ConstantIndexOp::create(at, alloc.getLoc(), place.offset), workspace);
      }
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
