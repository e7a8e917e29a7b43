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
// A convolution that reads rows of other ranks is in two or three pieces, so that the tasks that read none run beside the exchange (BorderTasks.h):
//
//   launch @shift(%row, %theirs)           launch @shift_start(%row, %theirs)
//   launch @copy(%theirs, %image)    =>    launch @conv(%image, %y) tasks(12)
//   launch @conv(%image, %y) tasks(13)     launch @shift_wait(%row, %theirs)
//                                          launch @copy(%theirs, %image)
//                                          launch @conv_from(%image, %y, 12) tasks(1)
//
// Beside an exchange runs what lets little more memory live at the same time. A run of launches keeps its order where it would be more.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/kernel/BorderTasks.h"
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

static constexpr StringLiteral prefix = "kiln::rank_", shiftName = "kiln::rank_shift";

/// KILN_STARTED_MAX of the ABI.
static constexpr size_t mostStarted = 4;

namespace {

enum class Phase { Whole, Start, Wait };
using Schedule = SmallVector<std::pair<unsigned, Phase>>;

/// Launches one behind the other, or pieces of them, as numbers.
class LaunchRun {
public:
  LaunchRun(SymbolTable &symbols, const llvm::StringSet<> &exchanging) : symbols(symbols), exchanging(exchanging) {}

  bool add(kernel::LaunchOp launch);
  /// What prepares a launch moves in front of the run.
  void prepare(Operation *op) { prepares.push_back(op); }
  bool empty() const { return pieces.empty(); }
  /// Puts the launches in the new order. Whether an exchange was split.
  bool overlap();

private:
  struct Access {
    unsigned piece, operand;
    bool writes;
  };
  func::FuncOp kernelOf(unsigned piece) const { return symbols.lookup<func::FuncOp>(pieces[piece].getKernel()); }
  bool isExchange(unsigned piece) const { return exchanging.contains(pieces[piece].getKernel()); }
  void note(unsigned self, llvm::MapVector<Value, SmallVector<Access>> &accesses);
  void connect();
  bool conflict(const Access &one, const Access &other);
  const TaskFootprint &footprintOf(unsigned piece);
  bool cutAtBorders();
  BorderWork findBorderWork(unsigned number);
  bool joinUseless(const Schedule &schedule);
  Schedule inOrder() const;
  Schedule search(int64_t limit) const;
  std::vector<int64_t> listLive(const Schedule &schedule) const;
  int64_t peakOf(const Schedule &schedule) const;
  void rewrite(const Schedule &schedule);
  func::FuncOp half(func::FuncOp whole, Phase phase);

  SymbolTable &symbols;
  /// The names of the kernels that exchange.
  const llvm::StringSet<> &exchanging;
  SmallVector<LaunchPiece> pieces;
  SmallVector<Operation *> prepares;
  SmallVector<unsigned> exchanges;
  /// For each piece, those that must be complete before it, its buffers, and what it reaches, once that has been asked for.
  std::vector<SmallVector<unsigned>> before;
  std::vector<SmallVector<Value>> buffers;
  std::vector<std::optional<TaskFootprint>> footprints;
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

/// False for a launch that must stay where it is.
bool LaunchRun::add(kernel::LaunchOp launch) {
  // A failed exchange ends the run, whatever else has run by then.
  if (!symbols.lookup<func::FuncOp>(launch.getKernel()) || (launch.getEndsOnFault() && !exchanging.contains(launch.getKernel())))
    return false;
  pieces.push_back({launch});
  return true;
}

void LaunchRun::note(unsigned self, llvm::MapVector<Value, SmallVector<Access>> &accesses) {
  func::FuncOp callee = kernelOf(self);
  for (auto [i, operand] : llvm::enumerate(pieces[self].launch.getOperands_())) {
    if (!isa<MemRefType>(operand.getType()))
      continue;
    bool isStatus = static_cast<bool>(callee.getArgAttr(i, kernel::statusAttrName));
    if (isStatus && isExchange(self))
      continue;
    Value buffer = skipCasts(operand);
    accesses[buffer].push_back({self, static_cast<unsigned>(i), isStatus || callee.getArgAttr(i, kernel::writtenAttrName)});
    if (!llvm::is_contained(buffers[self], buffer))
      buffers[self].push_back(buffer);
  }
}

const TaskFootprint &LaunchRun::footprintOf(unsigned piece) {
  if (!footprints[piece])
    footprints[piece] = findFootprint(pieces[piece], kernelOf(piece));
  return *footprints[piece];
}

bool LaunchRun::conflict(const Access &one, const Access &other) {
  auto rangesOf = [&](const Access &access, bool writes) -> const ElementRanges & {
    const TaskFootprint &footprint = footprintOf(access.piece);
    return (writes ? footprint.writes : footprint.reads)[access.operand];
  };
  return (one.writes && meet(rangesOf(one, true), rangesOf(other, false))) || (other.writes && meet(rangesOf(one, false), rangesOf(other, true))) ||
         (one.writes && other.writes && meet(rangesOf(one, true), rangesOf(other, true)));
}

/// Finds what each piece must wait for. Of a buffer that several launches write parts of, the elements count.
void LaunchRun::connect() {
  before.assign(pieces.size(), {});
  buffers.assign(pieces.size(), {});
  footprints.assign(pieces.size(), std::nullopt);
  exchanges.clear();
  llvm::MapVector<Value, SmallVector<Access>> accesses;
  for (unsigned piece = 0; piece < pieces.size(); ++piece) {
    note(piece, accesses);
    if (isExchange(piece))
      exchanges.push_back(piece);
  }
  for (auto &[buffer, list] : accesses) {
    llvm::SmallPtrSet<Operation *, 4> writers;
    for (const Access &access : list)
      if (access.writes)
        writers.insert(pieces[access.piece].launch);
    for (auto [i, later] : llvm::enumerate(list))
      for (const Access &earlier : ArrayRef(list).take_front(i)) {
        // The tasks of a launch need none of the others.
        bool mayConflict = (earlier.writes || later.writes) && pieces[earlier.piece].launch != pieces[later.piece].launch;
        if (mayConflict && (writers.size() < 2 || conflict(earlier, later)))
          before[later.piece].push_back(earlier.piece);
      }
  }
}

//===- Pieces ----------------------------------------------------------------===//

/// What the launch waits for to come from other ranks, by an exchange itself or by what copies it to its place.
BorderWork LaunchRun::findBorderWork(unsigned number) {
  BorderWork work;
  llvm::DenseMap<Value, ElementRanges> given;
  llvm::SmallDenseSet<unsigned> counted;
  for (unsigned source : before[number]) {
    SmallVector<unsigned> waits;
    for (unsigned other : isExchange(source) ? ArrayRef(source) : ArrayRef(before[source]))
      if (isExchange(other))
        waits.push_back(other);
    for (unsigned exchange : waits)
      if (counted.insert(exchange).second) {
        work.exchangedBytes += bytesExchanged(pieces[exchange].launch, kernelOf(exchange));
        kernelOf(exchange).walk([&](kernel::RuntimeCallOp call) { work.areRows |= call.getCallee() == shiftName; });
      }
    if (!waits.empty())
      for (auto [i, operand] : llvm::enumerate(pieces[source].launch.getOperands_()))
        if (isa<MemRefType>(operand.getType()))
          given[skipCasts(operand)].append(footprintOf(source).writes[i]);
  }
  // A buffer that comes whole leaves no task anything else to read.
  for (Value operand : pieces[number].launch.getOperands_()) {
    ElementRanges ranges = given.lookup(skipCasts(operand));
    work.given.push_back(!ranges.empty() && countElements(ranges) < elementsOf(skipCasts(operand)) ? ranges : ElementRanges());
  }
  return work;
}

/// Cuts launches that can begin before an exchange is complete. Whether there are any.
bool LaunchRun::cutAtBorders() {
  SmallVector<LaunchPiece> cut;
  for (unsigned number = 0; number < pieces.size(); ++number)
    if (isExchange(number))
      cut.push_back(pieces[number]);
    else
      llvm::append_range(cut, cutLaunch(pieces[number].launch, kernelOf(number), findBorderWork(number)));
  bool isCut = cut.size() != pieces.size();
  pieces = std::move(cut);
  return isCut;
}

/// Joins the pieces of launches none of which runs while an exchange is underway. Whether there are any.
bool LaunchRun::joinUseless(const Schedule &schedule) {
  llvm::SmallPtrSet<Operation *, 8> useful;
  unsigned underway = 0;
  for (auto [number, phase] : schedule) {
    underway += phase == Phase::Start ? 1 : 0;
    underway -= phase == Phase::Wait ? 1 : 0;
    if (underway && pieces[number].isInner)
      useful.insert(pieces[number].launch);
  }
  SmallVector<LaunchPiece> joined;
  for (const LaunchPiece &piece : pieces)
    if (piece.isWhole() || useful.contains(piece.launch))
      joined.push_back(piece);
    else if (joined.empty() || joined.back().launch != piece.launch)
      joined.push_back({piece.launch});
  bool isJoined = joined.size() != pieces.size();
  pieces = std::move(joined);
  return isJoined;
}

//===- The new order ---------------------------------------------------------===//

static int64_t bytesOfAlloc(Value buffer) { return buffer.getDefiningOp<memref::AllocOp>() ? bytesOf(buffer) : 0; }

/// For each piece in the given order, the bytes of buffers that are alive then.
std::vector<int64_t> LaunchRun::listLive(const Schedule &schedule) const {
  llvm::MapVector<Value, std::pair<size_t, size_t>> lives;
  for (auto [position, entry] : llvm::enumerate(schedule))
    for (Value buffer : buffers[entry.first])
      lives.try_emplace(buffer, position, position).first->second.second = position;
  std::vector<int64_t> changes(schedule.size() + 1), bytes;
  for (auto &[buffer, life] : lives) {
    changes[life.first] += bytesOfAlloc(buffer);
    changes[life.second + 1] -= bytesOfAlloc(buffer);
  }
  int64_t live = 0;
  for (int64_t change : changes)
    bytes.push_back(live += change);
  return bytes;
}

int64_t LaunchRun::peakOf(const Schedule &schedule) const {
  std::vector<int64_t> live = listLive(schedule);
  return *std::max_element(live.begin(), live.end());
}

namespace {
/// Puts launches one behind the other, of which `before` says what each must wait for.
class OrderSearch {
public:
  /// `seconds` is what each is estimated to take, and `room` the memory that it leaves free in the given order.
  OrderSearch(const std::vector<SmallVector<unsigned>> &before, const std::vector<SmallVector<Value>> &buffers, ArrayRef<unsigned> exchanges,
              ArrayRef<double> seconds, std::vector<int64_t> room)
      : before(before), buffers(buffers), exchanges(exchanges), seconds(seconds), room(std::move(room)),
        done(before.size()), begun(before.size()), needed(before.size()) {
    for (auto [launch, used] : llvm::enumerate(buffers))
      for (Value buffer : used)
        firstUses.try_emplace(buffer, launch);
  }
  Schedule run();

private:
  bool isReady(unsigned launch) const {
    return llvm::all_of(before[launch], [&](unsigned other) { return done[other]; });
  }
  void markNeeded();
  int64_t countNewBytes(unsigned launch, unsigned turn) const;
  bool fits(unsigned launch) const;
  std::optional<unsigned> findOther(bool mustBeNeeded) const;
  void start();
  void launch(unsigned other);
  void wait();

  const std::vector<SmallVector<unsigned>> &before;
  const std::vector<SmallVector<Value>> &buffers;
  ArrayRef<unsigned> exchanges;
  ArrayRef<double> seconds;
  std::vector<int64_t> room;
  /// What of the exchanges that are underway has no work beside it yet.
  double uncovered = 0;
  /// `needed`: by the next exchange.
  std::vector<bool> done, begun, needed;
  DenseMap<Value, unsigned> firstUses;
  llvm::DenseSet<Value> written;
  /// The first launch that has not begun.
  unsigned first = 0;
  std::deque<unsigned> underway;
  size_t next = 0;
  Schedule order;
};
} // namespace

void OrderSearch::markNeeded() {
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
}

/// The bytes that a launch adds, if it runs now, to what is alive at the turn of an earlier one in the given order.
int64_t OrderSearch::countNewBytes(unsigned launch, unsigned turn) const {
  int64_t bytes = 0;
  for (Value buffer : buffers[launch])
    bytes += written.contains(buffer) || firstUses.lookup(buffer) <= turn ? 0 : bytesOfAlloc(buffer);
  return bytes;
}

/// Whether what a launch writes has room from now on until its turn in the given order.
bool OrderSearch::fits(unsigned launch) const {
  return llvm::all_of(llvm::seq(first, launch), [&](unsigned turn) { return room[turn] >= countNewBytes(launch, turn); });
}

/// Not far ahead: what a launch leaves in the cache is to be there still when others read it. It also bounds the time that this takes.
std::optional<unsigned> OrderSearch::findOther(bool mustBeNeeded) const {
  constexpr unsigned ahead = 16;
  for (unsigned launch = first; launch < before.size() && (launch < first + ahead || underway.empty()); ++launch)
    if (!begun[launch] && (needed[launch] || !mustBeNeeded) && isReady(launch) && !llvm::is_contained(exchanges, launch) && (underway.empty() || fits(launch)))
      return launch;
  return std::nullopt;
}

void OrderSearch::start() {
  unsigned exchange = exchanges[next++];
  order.emplace_back(exchange, Phase::Start);
  begun[exchange] = true;
  written.insert_range(buffers[exchange]);
  underway.push_back(exchange);
  // Estimates are rough. Work that runs too early loses what it has left in the cache.
  constexpr double margin = 2;
  uncovered = std::max(uncovered, 0.0) + margin * seconds[exchange];
  markNeeded();
}

void OrderSearch::launch(unsigned other) {
  order.emplace_back(other, Phase::Whole);
  for (unsigned turn = first; turn < other; ++turn)
    room[turn] -= countNewBytes(other, turn);
  written.insert_range(buffers[other]);
  uncovered -= seconds[other];
  begun[other] = done[other] = true;
  while (first < begun.size() && begun[first])
    ++first;
}

void OrderSearch::wait() {
  unsigned exchange = underway.front();
  underway.pop_front();
  uncovered = underway.empty() ? 0 : uncovered;
  order.emplace_back(exchange, Phase::Wait);
  done[exchange] = true;
}

Schedule OrderSearch::run() {
  markNeeded();
  while (llvm::is_contained(done, false)) {
    if (next < exchanges.size() && underway.size() < mostStarted && isReady(exchanges[next])) {
      start();
      continue;
    }
    std::optional<unsigned> other = findOther(true);
    // Without an exchange underway there is nothing to hide: the order stays that of the model.
    if (underway.empty() || (!other && uncovered > 0))
      other = findOther(false);
    other ? launch(*other) : wait();
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

Schedule LaunchRun::inOrder() const {
  Schedule schedule;
  for (unsigned piece = 0; piece < pieces.size(); ++piece)
    schedule.emplace_back(piece, Phase::Whole);
  return schedule;
}

Schedule LaunchRun::search(int64_t limit) const {
  std::vector<int64_t> room = listLive(inOrder());
  for (int64_t &bytes : room)
    bytes = limit - bytes;
  std::vector<double> seconds;
  for (unsigned piece = 0; piece < pieces.size(); ++piece)
    seconds.push_back(isExchange(piece) ? estimateExchange(bytesExchanged(pieces[piece].launch, kernelOf(piece)), pieces[piece].launch)
                                        : estimateWork(pieces[piece]));
  return OrderSearch(before, buffers, exchanges, seconds, std::move(room)).run();
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
    op->moveBefore(pieces.front().launch);
  Operation *end = pieces.back().launch->getNextNode();
  Block *block = pieces.front().launch->getBlock();
  OpBuilder b(block->getParentOp()->getContext());
  auto place = [&](Operation *op) { end ? op->moveBefore(end) : op->moveBefore(block, block->end()); };
  llvm::SmallPtrSet<Operation *, 8> replaced;
  for (auto [number, phase] : schedule) {
    kernel::LaunchOp launch = pieces[number].launch;
    if (phase == Phase::Whole && pieces[number].isWhole()) {
      place(launch);
      continue;
    }
    replaced.insert(launch);
    if (phase == Phase::Whole) {
      for (Operation *op : makePiece(pieces[number], symbols)) {
        block->push_back(op);
        place(op);
      }
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
    }
    place(copy);
  }
  for (const LaunchPiece &piece : pieces)
    if (piece.isInner)
      addReason(symbols.lookup<func::FuncOp>(piece.getKernel()), piece.reason);
  for (Operation *launch : replaced)
    launch->erase();
  // Where a status cell is allocated, it is cleared, and that place was another buffer's before.
  for (Operation *op : prepares)
    if (op->hasAttr(kernel::statusAttrName) && !op->use_empty()) {
      auto users = llvm::map_to_vector(op->getUsers(), [&](Operation *user) { return block->findAncestorOpInBlock(*user); });
      op->moveBefore(*llvm::min_element(users, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); }));
    }
}

bool LaunchRun::overlap() {
  connect();
  if (exchanges.empty())
    return false;
  int64_t limit = peakOf(inOrder()) / 8 * 9;
  SmallVector<LaunchPiece> whole = pieces;
  auto pays = [&](const Schedule &order) {
    return llvm::any_of(order, [](auto &entry) { return entry.second == Phase::Start; }) && peakOf(order) <= limit;
  };
  Schedule best;
  auto searchAgain = [&] {
    connect();
    best = search(limit);
  };
  bool isCut = cutAtBorders();
  searchAgain();
  if (isCut && joinUseless(best))
    searchAgain();
  if (isCut && !pays(best)) {
    pieces = std::move(whole);
    searchAgain();
  }
  if (!pays(best))
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
