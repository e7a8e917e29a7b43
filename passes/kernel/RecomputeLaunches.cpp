//===- RecomputeLaunches.cpp - Values that are computed twice instead of kept ===//
//
//   launch @scale(%x, %a)                launch @scale(%x, %a)
//   launch @wide(%a, %b)                 launch @wide(%a, %b)
//   launch @narrow(%b, %c)         =>    launch @narrow(%b, %c)
//   launch @join(%a, %c, %y)             launch @scale(%x, %again)
//                                        launch @join(%again, %c, %y)
//
// %a takes no memory while @wide and @narrow run, if it is cheaper to compute than its bytes are worth. All launches that wrote to it before run again. One
// value after the other, that one is computed again which lowers the peak most; what it is computed from is kept for longer, or computed again itself. The
// workspace is planned after each, and what has not made it smaller is undone in the end.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "passes/kernel/BufferLives.h"
#include "passes/kernel/LaunchOrder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"
#include <optional>

using namespace mlir;

namespace kiln {

/// Values are looked at only in entries of so many launches, and so many are computed again at most.
static constexpr size_t mostLaunches = 1000, mostAgain = 32;
/// What a value is computed from may be computed again itself, so many times over.
static constexpr unsigned longestChain = 4;

namespace {
/// The launches of an entry in their order, and which of them use each buffer.
struct Timeline {
  struct Use {
    unsigned launch, operand;
    bool writes;
  };
  SmallVector<kernel::LaunchOp> launches;
  llvm::MapVector<Value, SmallVector<Use>> uses;

  explicit Timeline(Block &block);
  /// The launches before `end` that make a buffer what it is then, in their order; nullopt if they cannot do so again.
  std::optional<SmallVector<unsigned>> findWriters(Value buffer, unsigned end) const;

private:
  bool canRunAgain(unsigned launch, Value buffer) const;
};

/// The most bytes that are alive during a launch, the launches during which they are, and the first one of these.
struct Peak {
  int64_t bytes = 0;
  unsigned launches = 0, first = 0;
  bool operator<(const Peak &other) const { return std::tie(bytes, launches) < std::tie(other.bytes, other.launches); }
};

/// A value that is computed again: what was added to the entry for that, and the operands that were something else before.
struct Recomputation {
  SmallVector<Operation *> created;
  SmallVector<std::tuple<Operation *, unsigned, Value>> replaced;
  kernel::LaunchOp launch;
  double work = 0;

  void undo() {
    for (auto [op, operand, before] : llvm::reverse(replaced))
      op->setOperand(operand, before);
    for (Operation *op : llvm::reverse(created))
      op->erase();
  }
};

/// A buffer that nobody uses during a launch, but before and behind it.
struct Candidate {
  Value buffer;
  unsigned now;
  /// Whether what it is computed from is computed again, too, where it would have to be kept for that.
  bool chain;
};
} // namespace

static double countWork(kernel::LaunchOp launch) {
  return static_cast<double>(launch.getFlops().value_or(0)) + static_cast<double>(launch.getBytes().value_or(0));
}

Timeline::Timeline(Block &block) {
  SymbolTable symbols(block.getParentOp()->getParentOfType<ModuleOp>());
  for (auto launch : block.getOps<kernel::LaunchOp>()) {
    auto callee = symbols.lookup<func::FuncOp>(launch.getKernel());
    for (auto [i, operand] : llvm::enumerate(launch.getOperands_())) {
      if (!isa<MemRefType>(operand.getType()))
        continue;
      unsigned argument = static_cast<unsigned>(i);
      bool writes = !callee || callee.getArgAttr(argument, kernel::writtenAttrName) || callee.getArgAttr(argument, kernel::statusAttrName);
      uses[skipCasts(operand)].push_back({static_cast<unsigned>(launches.size()), argument, writes});
    }
    launches.push_back(launch);
  }
}

/// Whether a launch writes this buffer only, and reads what nobody writes later.
bool Timeline::canRunAgain(unsigned at, Value buffer) const {
  kernel::LaunchOp launch = launches[at];
  if (launch.getEndsOnFault() || !launch.getFlops() || !launch.getBytes())
    return false;
  return llvm::all_of(launch.getOperands_(), [&](Value operand) {
    auto known = uses.find(skipCasts(operand));
    return known == uses.end() || known->first == buffer || llvm::none_of(known->second, [&](const Use &use) { return use.writes && use.launch >= at; });
  });
}

std::optional<SmallVector<unsigned>> Timeline::findWriters(Value buffer, unsigned end) const {
  auto found = uses.find(buffer);
  if (!buffer.getDefiningOp<memref::AllocOp>() || buffer.getDefiningOp()->hasAttr(kernel::statusAttrName) || found == uses.end())
    return std::nullopt;
  SmallVector<unsigned> writers;
  for (const Use &use : found->second) {
    if (use.launch >= end || !use.writes || (!writers.empty() && writers.back() == use.launch))
      continue;
    if (!canRunAgain(use.launch, buffer))
      return std::nullopt;
    writers.push_back(use.launch);
  }
  return writers.empty() ? std::nullopt : std::optional(writers);
}

/// Launches and what prepares them, and buffers of static size only.
static bool isStraight(Block &block) {
  size_t launches = 0;
  for (Operation &op : block) {
    if (op.getNumRegions())
      return false;
    if (auto alloc = dyn_cast<memref::AllocOp>(op); alloc && !alloc.getType().hasStaticShape())
      return false;
    launches += isa<kernel::LaunchOp>(op);
  }
  return launches > 2 && launches <= mostLaunches;
}

static int64_t measureWorkspace(Block &block) {
  std::vector<Buffer> buffers = collectBuffers(block);
  std::vector<PackedBuffer> packed(buffers.begin(), buffers.end());
  return packBuffers(packed);
}

static Peak findPeak(Block &block) {
  std::vector<Buffer> buffers = collectBuffers(block);
  Peak peak;
  int64_t position = 0;
  unsigned launch = 0;
  block.walk<WalkOrder::PreOrder>([&](Operation *op) {
    int64_t now = position++, live = 0;
    if (!isa<kernel::LaunchOp>(op))
      return;
    for (const Buffer &buffer : buffers)
      live += buffer.first <= now && now <= buffer.last ? buffer.bytes : 0;
    if (live > peak.bytes)
      peak = {live, 0, launch};
    peak.launches += live == peak.bytes;
    ++launch;
  });
  return peak;
}

namespace {
/// Computes one buffer again, in front of its first user behind `now`, which is given what its buffer is then.
class Recomputing {
public:
  Recomputing(const Timeline &timeline, Candidate candidate) : timeline(timeline), candidate(candidate) {}
  std::optional<Recomputation> run();

private:
  Value compute(Value buffer, unsigned end, unsigned depth);
  void runAgain(kernel::LaunchOp launch, const IRMapping &buffers);
  /// The buffer by the type of an operand.
  Value castLike(Value buffer, Value operand) {
    if (buffer.getType() == operand.getType())
      return buffer;
    OpBuilder b(user);
    auto cast = memref::CastOp::create(b, user.getLoc(), operand.getType(), buffer);
    result.created.push_back(cast);
    return cast;
  }

  const Timeline &timeline;
  Candidate candidate;
  kernel::LaunchOp user;
  unsigned late = 0;
  Recomputation result;
};
} // namespace

/// What a buffer is before the launch `end`, in a buffer of its own; null if that cannot be computed again.
Value Recomputing::compute(Value buffer, unsigned end, unsigned depth) {
  auto writers = timeline.findWriters(buffer, end);
  if (!writers || depth > longestChain)
    return {};
  IRMapping again;
  for (unsigned writer : *writers)
    for (Value operand : kernel::LaunchOp(timeline.launches[writer]).getOperands_()) {
      Value source = skipCasts(operand);
      bool isOther = candidate.chain && source != buffer && source.getDefiningOp<memref::AllocOp>() && !again.contains(source);
      auto known = isOther ? timeline.uses.find(source) : timeline.uses.end();
      if (known == timeline.uses.end() || known->second.back().launch >= late)
        continue;
      if (Value computed = compute(source, late, depth + 1))
        again.map(source, computed);
    }
  OpBuilder beside(buffer.getDefiningOp()->getNextNode());
  Operation *alloc = beside.clone(*buffer.getDefiningOp());
  result.created.push_back(alloc);
  again.map(buffer, alloc->getResult(0));
  for (unsigned writer : *writers)
    runAgain(timeline.launches[writer], again);
  return alloc->getResult(0);
}

void Recomputing::runAgain(kernel::LaunchOp launch, const IRMapping &buffers) {
  SmallVector<std::pair<unsigned, Value>> changed;
  for (auto [i, operand] : llvm::enumerate(launch.getOperands_()))
    if (Value other = isa<MemRefType>(operand.getType()) ? buffers.lookupOrNull(skipCasts(operand)) : Value())
      changed.push_back({static_cast<unsigned>(i), castLike(other, operand)});
  auto again = cast<kernel::LaunchOp>(OpBuilder(user).clone(*launch));
  result.created.push_back(again);
  for (auto [i, value] : changed)
    again->setOperand(i, value);
  result.launch = again;
  result.work += countWork(again);
}

std::optional<Recomputation> Recomputing::run() {
  ArrayRef<Timeline::Use> uses = timeline.uses.find(candidate.buffer)->second;
  const auto *behind = llvm::find_if(uses, [&](const Timeline::Use &use) { return use.launch > candidate.now; });
  late = behind->launch;
  user = timeline.launches[late];
  Value again = compute(candidate.buffer, candidate.now, 1);
  if (!again) {
    result.undo();
    return std::nullopt;
  }
  for (const Timeline::Use &use : ArrayRef(behind, uses.end())) {
    kernel::LaunchOp reader = timeline.launches[use.launch];
    Value before = reader->getOperand(use.operand);
    reader->setOperand(use.operand, castLike(again, before));
    result.replaced.push_back({reader, use.operand, before});
  }
  return result;
}

/// Buffers that are alive during the launch `now` and not used by it, though they have been.
static SmallVector<Candidate> listCandidates(const Timeline &timeline, unsigned now) {
  SmallVector<Candidate> candidates;
  for (const auto &[buffer, uses] : timeline.uses) {
    bool isUsed = llvm::any_of(uses, [&](const Timeline::Use &use) { return use.launch == now; });
    // One that is read late only is for the order of the launches.
    bool isRead = llvm::any_of(uses, [&](const Timeline::Use &use) { return use.launch < now && !use.writes; });
    if (isUsed || !isRead || uses.back().launch < now || !timeline.findWriters(buffer, now))
      continue;
    candidates.push_back({buffer, now, false});
    candidates.push_back({buffer, now, true});
  }
  return candidates;
}

static std::string asPercent(double share) { return llvm::to_string(llvm::format("%.2g %%", 100 * share)); }

static void explain(kernel::LaunchOp launch, const std::string &text) { launch->setAttr(kernel::reasonAttrName, StringAttr::get(launch->getContext(), text)); }

namespace {
/// The search of recomputeLaunches().
class Search {
public:
  Search(Block &block, const RecomputeLimits &limits) : block(block), limits(limits), given(measureWorkspace(block)), best(given) {
    for (auto launch : block.getOps<kernel::LaunchOp>())
      allWork += countWork(launch);
  }
  void run();

private:
  bool isEnough() const { return limits.enoughBytes >= 0 && best <= limits.enoughBytes; }
  bool pays(double bytes, double work) const {
    return work <= limits.mostWork * allWork && (!limits.mustPay || bytes * allWork > work * static_cast<double>(given));
  }
  bool addOne();

  Block &block;
  const RecomputeLimits &limits;
  int64_t given, best;
  double allWork = 0, added = 0;
  SmallVector<Recomputation> done;
  /// How many of them made the workspace smaller.
  size_t kept = 0;
};
} // namespace

/// Computes the value again that lowers the peak most; false: there is none.
bool Search::addOne() {
  Timeline timeline(block);
  Peak peak = findPeak(block), lowest = peak;
  std::optional<Candidate> chosen;
  double work = 0;
  kernel::LaunchOp tooMuch;
  std::string why;
  for (Candidate candidate : listCandidates(timeline, peak.first)) {
    std::optional<Recomputation> tried = Recomputing(timeline, candidate).run();
    if (!tried)
      continue;
    Peak after = findPeak(block);
    tried->undo();
    if (!(after < peak))
      continue;
    // Launches with as many bytes may follow, so a peak that only becomes shorter is judged when it has become lower.
    if (added + tried->work > limits.mostWork * allWork || (after.bytes < peak.bytes && !pays(static_cast<double>(given - after.bytes), added + tried->work))) {
      tooMuch = timeline.launches[timeline.findWriters(candidate.buffer, peak.first)->back()];
      why = "kept: to compute it again saves " + std::to_string(peak.bytes - after.bytes) + " bytes at the peak and takes " + asPercent(tried->work / allWork) +
            " more work";
      continue;
    }
    if (after < lowest || (!(lowest < after) && tried->work < work)) {
      lowest = after;
      work = tried->work;
      chosen = candidate;
    }
  }
  if (!chosen) {
    if (tooMuch)
      explain(tooMuch, why);
    return false;
  }
  done.push_back(*Recomputing(timeline, *chosen).run());
  added += work;
  int64_t before = best, bytes = measureWorkspace(block);
  if (bytes < best && pays(static_cast<double>(given - bytes), added)) {
    best = bytes;
    kept = done.size();
  }
  explain(done.back().launch, "computed again: the workspace takes " + std::to_string(bytes) + " bytes instead of " + std::to_string(before) + ", a run " +
                                  asPercent(work / allWork) + " more work");
  return true;
}

void Search::run() {
  while (!isEnough() && done.size() < mostAgain && addOne()) {
  }
  while (done.size() > kept)
    done.pop_back_val().undo();
}

void recomputeLaunches(kernel::EntryOp entry, const RecomputeLimits &limits) {
  Block &block = entry.getBody().front();
  if (isStraight(block))
    Search(block, limits).run();
}

} // namespace kiln
