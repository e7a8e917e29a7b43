//===- OrderLaunches.cpp - Launches in the order that needs least memory ----===//
//
//   launch @large(%x, %a)                launch @large(%x, %a)
//   launch @large(%y, %b)         =>     launch @small(%a, %c)
//   launch @small(%a, %c)                launch @large(%y, %b)
//   launch @small(%b, %d)                launch @small(%b, %d)
//
// A launch stays behind those whose results it reads or overwrites, and in front of those that overwrite what it reads. A beam search finds an order: of the
// sets of launches that may have run after so many steps, those with the lowest peak are kept. The order changes only if the peak becomes lower.
// Then cheap values are computed again instead of kept (RecomputeLaunches.cpp).
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/Passes.h"
#include "passes/kernel/LaunchOrder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_ORDERLAUNCHES
#include "passes/Passes.h.inc"

namespace {
/// The launches of an entry as numbers.
struct LaunchGraph {
  SmallVector<kernel::LaunchOp> launches;
  /// For each launch, those that must run before it, and the buffers that it uses.
  std::vector<SmallVector<unsigned>> before, buffers;
  /// For each buffer, its bytes and how many launches use it. Those of the caller take no bytes.
  SmallVector<int64_t> bytes;
  SmallVector<unsigned> users;
};

/// A set of launches that have run in some order.
struct Progress {
  llvm::BitVector done;
  SmallVector<unsigned> order;
  /// For each buffer, the launches that are still to use it.
  SmallVector<unsigned> left;
  int64_t live = 0, peak = 0;
};
} // namespace

static Value findBuffer(Value operand) {
  while (auto cast = operand.getDefiningOp<memref::CastOp>())
    operand = cast.getSource();
  return operand;
}

static bool isWritten(func::FuncOp callee, unsigned argument) {
  return callee.getArgAttr(argument, kernel::writtenAttrName) || callee.getArgAttr(argument, kernel::statusAttrName);
}

/// Fails where the entry has more than launches behind the operations that prepare them, or buffers whose size only run time knows.
static LogicalResult readGraph(kernel::EntryOp entry, LaunchGraph &graph) {
  SymbolTable symbols(entry->getParentOfType<ModuleOp>());
  llvm::MapVector<Value, unsigned> numbers;
  // For each buffer, the last launch that wrote it, and those that have read it since.
  std::vector<std::pair<std::optional<unsigned>, SmallVector<unsigned>>> uses;
  bool begun = false;
  for (Operation &op : entry.getBody().front()) {
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (!launch) {
      bool prepares = isa<memref::AllocOp, memref::CastOp, kernel::GetWeightOp>(op) || op.hasTrait<OpTrait::ConstantLike>();
      if (op.getNumRegions() || (!prepares && begun))
        return failure();
      continue;
    }
    begun = true;
    auto callee = symbols.lookup<func::FuncOp>(launch.getKernel());
    if (!callee || launch.getEndsOnFault())
      return failure();
    unsigned self = graph.launches.size();
    graph.launches.push_back(launch);
    graph.before.emplace_back();
    graph.buffers.emplace_back();
    for (auto [i, operand] : llvm::enumerate(launch.getOperands_())) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (!type)
        continue;
      Value buffer = findBuffer(operand);
      auto [at, isNew] = numbers.try_emplace(buffer, numbers.size());
      unsigned number = at->second;
      if (isNew) {
        auto alloc = buffer.getDefiningOp<memref::AllocOp>();
        if (alloc && !alloc.getType().hasStaticShape())
          return failure();
        graph.bytes.push_back(alloc ? alloc.getType().getNumElements() * nn::elementBytes(alloc.getType().getElementType()) : 0);
        graph.users.push_back(0);
        uses.emplace_back();
      }
      auto &[writer, readers] = uses[number];
      if (writer && *writer != self)
        graph.before[self].push_back(*writer);
      if (isWritten(callee, i)) {
        llvm::append_range(graph.before[self], llvm::make_filter_range(readers, [&](unsigned reader) { return reader != self; }));
        readers.clear();
        writer = self;
      } else {
        readers.push_back(self);
      }
      if (!llvm::is_contained(graph.buffers[self], number)) {
        graph.buffers[self].push_back(number);
        ++graph.users[number];
      }
    }
  }
  return success(graph.launches.size() > 2);
}

static Progress begin(const LaunchGraph &graph) {
  Progress start;
  start.done.resize(graph.launches.size());
  start.left = graph.users;
  return start;
}

static Progress advance(const LaunchGraph &graph, Progress progress, unsigned launch) {
  for (unsigned buffer : graph.buffers[launch])
    if (progress.left[buffer] == graph.users[buffer])
      progress.live += graph.bytes[buffer];
  progress.peak = std::max(progress.peak, progress.live);
  for (unsigned buffer : graph.buffers[launch])
    if (--progress.left[buffer] == 0)
      progress.live -= graph.bytes[buffer];
  progress.done.set(launch);
  progress.order.push_back(launch);
  return progress;
}

/// The best order that is found; ties go to the order that the launches have.
static Progress search(const LaunchGraph &graph) {
  constexpr size_t mostKept = 32;
  std::vector<Progress> kept = {begin(graph)};
  for (size_t step = 0; step < graph.launches.size(); ++step) {
    std::vector<Progress> next;
    std::map<std::vector<unsigned>, size_t> known;
    for (const Progress &progress : kept)
      for (unsigned launch = 0; launch < graph.launches.size(); ++launch) {
        bool isReady = !progress.done[launch] && llvm::all_of(graph.before[launch], [&](unsigned other) { return progress.done[other]; });
        if (!isReady)
          continue;
        Progress after = advance(graph, progress, launch);
        std::vector<unsigned> key(after.done.set_bits_begin(), after.done.set_bits_end());
        auto [at, isNew] = known.try_emplace(std::move(key), next.size());
        if (isNew)
          next.push_back(std::move(after));
        else if (after.peak < next[at->second].peak)
          next[at->second] = std::move(after);
      }
    llvm::sort(next, [](const Progress &a, const Progress &b) { return std::tie(a.peak, a.live, a.order) < std::tie(b.peak, b.live, b.order); });
    next.resize(std::min(next.size(), mostKept));
    kept = std::move(next);
  }
  return kept.front();
}

bool mayReorderLaunches(ModuleOp module) {
  bool exchanges = false;
  module.walk([&](kernel::RuntimeCallOp call) { exchanges |= call.getCallee().starts_with("kiln::rank_"); });
  return !exchanges && !module->hasAttr(nn::askedInPlaceAttrName);
}

void orderLaunches(kernel::EntryOp entry) {
  // The search takes time that grows with the square of the number.
  constexpr size_t mostLaunches = 1000;
  LaunchGraph graph;
  if (failed(readGraph(entry, graph)) || graph.launches.size() > mostLaunches)
    return;
  Progress given = begin(graph);
  for (unsigned launch = 0; launch < graph.launches.size(); ++launch)
    given = advance(graph, std::move(given), launch);
  Progress best = search(graph);
  if (best.peak >= given.peak)
    return;
  // What prepares a launch is in front of all.
  Block &block = entry.getBody().front();
  for (unsigned launch : best.order)
    graph.launches[launch]->moveBefore(&block, block.end());
}

namespace {
struct OrderLaunches : impl::OrderLaunchesBase<OrderLaunches> {
  void runOnOperation() override {
    if (!mayReorderLaunches(getOperation()))
      return;
    for (auto entry : getOperation().getOps<kernel::EntryOp>()) {
      orderLaunches(entry);
      recomputeLaunches(entry, {});
    }
  }
};
} // namespace

} // namespace kiln
