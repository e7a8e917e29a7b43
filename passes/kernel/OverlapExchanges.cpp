//===- OverlapExchanges.cpp - Exchanges of ranks beside kernels -------------===//
//
//   launch @gather(%part, %whole)          launch @gather_start(%part, %whole)
//   launch @use(%whole, %a)         =>     launch @other(%x, %b)
//   launch @other(%x, %b)                  launch @gather_wait(%part, %whole)
//                                          launch @use(%whole, %a)
//
// Launches are put in a new order, one after the other: the next exchange as soon as its operands are there, else a launch that the next exchange waits for,
// else any other one that needs no exchange that is underway, and else the oldest exchange is completed. Exchanges keep their order, which is that of all
// ranks. What an exchange reads and writes is an operand of both halves, so that it lives until the second one.
//
// A run of launches keeps its order where the new one lets much more memory live at the same time.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Kernel.h"
#include "dialects/nn/ConstantData.h"
#include "passes/kernel/BufferLives.h"
#include "passes/kernel/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_OVERLAPEXCHANGES
#include "passes/kernel/Passes.h.inc"

static constexpr StringLiteral prefix = "kiln::rank_";

/// KILN_STARTED_MAX of the ABI.
static constexpr size_t mostStarted = 4;

namespace {

enum class Phase { Whole, Start, Wait };
using Schedule = SmallVector<std::pair<unsigned, Phase>>;

/// Launches one behind the other, as numbers.
class LaunchRun {
public:
  LaunchRun(SymbolTable &symbols, const llvm::StringSet<> &exchanging) : symbols(symbols), exchanging(exchanging) {}

  bool add(kernel::LaunchOp launch);
  /// What prepares a launch moves in front of the run.
  void prepare(Operation *op) { prepares.push_back(op); }
  bool empty() const { return launches.empty(); }
  /// Puts the launches in the new order. Whether an exchange was split.
  bool overlap();

private:
  void note(unsigned self, Value buffer, bool writes);
  Schedule search() const;
  int64_t peakOf(const Schedule &schedule) const;
  void rewrite(const Schedule &schedule);
  func::FuncOp half(func::FuncOp whole, Phase phase);

  SymbolTable &symbols;
  /// The names of the kernels that exchange.
  const llvm::StringSet<> &exchanging;
  SmallVector<kernel::LaunchOp> launches;
  SmallVector<Operation *> prepares;
  SmallVector<unsigned> exchanges;
  /// For each launch, those that must be complete before it, and its buffers.
  std::vector<SmallVector<unsigned>> before;
  std::vector<SmallVector<Value>> buffers;
  struct Uses {
    std::optional<unsigned> writer;
    SmallVector<unsigned> readers;
  };
  DenseMap<Value, Uses> uses;
};

} // namespace

static llvm::StringSet<> listExchanging(ModuleOp module) {
  llvm::StringSet<> names;
  for (auto kernel : module.getOps<func::FuncOp>())
    kernel.walk([&](kernel::RuntimeCallOp call) {
      if (call.getCallee().starts_with(prefix))
        names.insert(kernel.getName());
    });
  return names;
}

//===- Reading ---------------------------------------------------------------===//

void LaunchRun::note(unsigned self, Value buffer, bool writes) {
  Uses &known = uses[buffer];
  if (known.writer && *known.writer != self)
    before[self].push_back(*known.writer);
  if (!writes) {
    known.readers.push_back(self);
    return;
  }
  for (unsigned reader : known.readers)
    if (reader != self)
      before[self].push_back(reader);
  known.readers.clear();
  known.writer = self;
}

/// False for a launch that must stay where it is.
bool LaunchRun::add(kernel::LaunchOp launch) {
  auto callee = symbols.lookup<func::FuncOp>(launch.getKernel());
  bool exchangesValues = exchanging.contains(launch.getKernel());
  // A failed exchange ends the run, whatever else has run by then.
  if (!callee || (launch.getEndsOnFault() && !exchangesValues))
    return false;
  unsigned self = launches.size();
  launches.push_back(launch);
  before.emplace_back();
  buffers.emplace_back();
  for (auto [i, operand] : llvm::enumerate(launch.getOperands_())) {
    if (!isa<MemRefType>(operand.getType()))
      continue;
    bool isStatus = static_cast<bool>(callee.getArgAttr(i, kernel::statusAttrName));
    if (isStatus && exchangesValues)
      continue;
    Value buffer = skipCasts(operand);
    note(self, buffer, isStatus || callee.getArgAttr(i, kernel::writtenAttrName));
    if (!llvm::is_contained(buffers[self], buffer))
      buffers[self].push_back(buffer);
  }
  if (exchangesValues)
    exchanges.push_back(self);
  return true;
}

//===- The new order ---------------------------------------------------------===//

Schedule LaunchRun::search() const {
  Schedule order;
  std::vector<bool> done(launches.size()), begun(launches.size());
  std::deque<unsigned> underway;
  auto isReady = [&](unsigned launch) { return llvm::all_of(before[launch], [&](unsigned other) { return done[other]; }); };
  size_t next = 0;
  std::vector<bool> needed(launches.size());
  auto markNeeded = [&] {
    std::fill(needed.begin(), needed.end(), false);
    SmallVector<unsigned> work;
    if (next < exchanges.size())
      work.push_back(exchanges[next]);
    while (!work.empty())
      for (unsigned other : before[work.pop_back_val()])
        if (!needed[other]) {
          needed[other] = true;
          work.push_back(other);
        }
  };
  auto isExchangeAt = [&](unsigned launch) { return llvm::is_contained(exchanges, launch); };
  auto findOther = [&](bool mustBeNeeded) -> std::optional<unsigned> {
    for (unsigned launch = 0; launch < launches.size(); ++launch)
      if (!begun[launch] && (needed[launch] || !mustBeNeeded) && isReady(launch) && !isExchangeAt(launch))
        return launch;
    return std::nullopt;
  };
  markNeeded();
  for (size_t left = launches.size(); left > 0 || !underway.empty();) {
    if (next < exchanges.size() && underway.size() < mostStarted && isReady(exchanges[next])) {
      unsigned exchange = exchanges[next++];
      order.emplace_back(exchange, Phase::Start);
      begun[exchange] = true;
      underway.push_back(exchange);
      --left;
      markNeeded();
      continue;
    }
    std::optional<unsigned> other = findOther(true);
    // Without an exchange underway there is nothing to hide: the order stays that of the model.
    if (!other || underway.empty())
      other = findOther(false);
    if (other) {
      order.emplace_back(*other, Phase::Whole);
      begun[*other] = done[*other] = true;
      --left;
      continue;
    }
    done[underway.front()] = true;
    order.emplace_back(underway.front(), Phase::Wait);
    underway.pop_front();
  }
  // Halves with nothing in between are a whole again.
  Schedule merged;
  for (auto [launch, phase] : order)
    if (phase == Phase::Wait && merged.back() == std::make_pair(launch, Phase::Start))
      merged.back().second = Phase::Whole;
    else
      merged.emplace_back(launch, phase);
  return merged;
}

/// The most bytes of buffers that only this run uses.
int64_t LaunchRun::peakOf(const Schedule &schedule) const {
  llvm::MapVector<Value, std::pair<size_t, size_t>> lives;
  for (auto [position, entry] : llvm::enumerate(schedule))
    for (Value buffer : buffers[entry.first])
      lives.try_emplace(buffer, position, position).first->second.second = position;
  std::vector<int64_t> changes(schedule.size() + 1);
  for (auto &[buffer, life] : lives) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    if (!alloc || !alloc.getType().hasStaticShape())
      continue;
    int64_t bytes = alloc.getType().getNumElements() * nn::elementBytes(alloc.getType().getElementType());
    changes[life.first] += bytes;
    changes[life.second + 1] -= bytes;
  }
  int64_t live = 0, peak = 0;
  for (int64_t change : changes)
    peak = std::max(peak, live += change);
  return peak;
}

//===- Rewriting -------------------------------------------------------------===//

/// The kernel that starts or completes the exchange of another one.
func::FuncOp LaunchRun::half(func::FuncOp whole, Phase phase) {
  bool starts = phase == Phase::Start;
  std::string name = (whole.getName() + (starts ? "_start" : "_wait")).str();
  if (auto known = symbols.lookup<func::FuncOp>(name))
    return known;
  auto made = cast<func::FuncOp>(whole->clone());
  made.setName(name);
  Builder b(whole.getContext());
  made.walk([&](kernel::RuntimeCallOp call) {
    if (!call.getCallee().starts_with(prefix))
      return;
    std::string operation = call.getCallee().drop_front(prefix.size()).str();
    call.setCallee(prefix.str() + (starts ? "start_" + operation : operation == "merged" ? "wait_merged" : "wait"));
  });
  if (auto reason = made->getAttrOfType<StringAttr>(kernel::reasonAttrName))
    made->setAttr(kernel::reasonAttrName, b.getStringAttr(reason.getValue() + (starts ? "; starts it" : "; completes it")));
  symbols.insert(made, std::next(whole->getIterator()));
  return made;
}

void LaunchRun::rewrite(const Schedule &schedule) {
  for (Operation *op : prepares)
    op->moveBefore(launches.front());
  Operation *end = launches.back()->getNextNode();
  Block *block = launches.front()->getBlock();
  OpBuilder b(launches.front().getContext());
  auto place = [&](Operation *op) { end ? op->moveBefore(end) : op->moveBefore(block, block->end()); };
  llvm::DenseSet<unsigned> started;
  for (auto [number, phase] : schedule) {
    kernel::LaunchOp launch = launches[number];
    if (phase == Phase::Whole) {
      place(launch);
      continue;
    }
    func::FuncOp made = half(symbols.lookup<func::FuncOp>(launch.getKernel()), phase);
    auto copy = cast<kernel::LaunchOp>(launch->clone());
    b.setInsertionPointToEnd(block);
    b.insert(copy);
    copy.setKernelAttr(FlatSymbolRefAttr::get(made.getSymNameAttr()));
    // Its bytes are counted once.
    if (phase == Phase::Start) {
      copy.removeFlopsAttr();
      copy.removeBytesAttr();
      started.insert(number);
    }
    place(copy);
  }
  for (unsigned number : exchanges)
    if (started.contains(number))
      launches[number]->erase();
  // Where a status cell is allocated, it is cleared, and that place was another buffer's before.
  for (Operation *op : prepares)
    if (op->hasAttr(kernel::statusAttrName) && !op->use_empty()) {
      auto users = llvm::map_to_vector(op->getUsers(), [&](Operation *user) { return block->findAncestorOpInBlock(*user); });
      op->moveBefore(*llvm::min_element(users, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); }));
    }
}

bool LaunchRun::overlap() {
  if (exchanges.empty())
    return false;
  Schedule given, best = search();
  for (unsigned launch = 0; launch < launches.size(); ++launch)
    given.emplace_back(launch, Phase::Whole);
  bool isSplit = llvm::any_of(best, [](auto &entry) { return entry.second == Phase::Start; });
  if (!isSplit || peakOf(best) > peakOf(given) / 8 * 9)
    return false;
  rewrite(best);
  return true;
}

//===- The pass --------------------------------------------------------------===//

/// What computes the operands of launches, and may be computed earlier.
static bool prepares(Operation &op) {
  return op.getNumRegions() == 0 && !op.hasTrait<OpTrait::IsTerminator>() && (isa<memref::AllocOp>(op) || isMemoryEffectFree(&op));
}

static bool overlapExchanges(Block &block, SymbolTable &symbols, const llvm::StringSet<> &exchanging) {
  std::vector<LaunchRun> runs(1, LaunchRun(symbols, exchanging));
  for (Operation &op : block) {
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (launch ? runs.back().add(launch) : prepares(op)) {
      if (!launch && !runs.back().empty())
        runs.back().prepare(&op);
    } else {
      runs.emplace_back(symbols, exchanging);
    }
  }
  bool changed = false;
  for (LaunchRun &run : runs)
    changed |= run.overlap();
  return changed;
}

namespace {
struct OverlapExchanges : impl::OverlapExchangesBase<OverlapExchanges> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringSet<> exchanging = listExchanging(module);
    // Whether an output can be an input's own buffer depends on the order that the user has seen.
    if (exchanging.empty() || module->hasAttr(nn::askedInPlaceAttrName))
      return;
    SymbolTable symbols(module);
    SmallVector<Block *> blocks;
    for (auto entry : module.getOps<kernel::EntryOp>())
      entry->walk([&](Block *block) { blocks.push_back(block); });
    bool changed = false;
    for (Block *block : blocks)
      changed |= overlapExchanges(*block, symbols, exchanging);
    if (!changed)
      return;
    llvm::StringSet<> launched;
    module.walk([&](kernel::LaunchOp launch) { launched.insert(launch.getKernel()); });
    for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (exchanging.contains(kernel.getName()) && !launched.contains(kernel.getName()))
        kernel.erase();
  }
};
} // namespace

} // namespace kiln
