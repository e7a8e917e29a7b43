//===- BorderTasks.cpp - Tasks that need nothing of other ranks -------------===//
//
// The tasks of a convolution are numbered along the rows of the result. So those that read rows of other ranks are the first or the last ones, and
//
//   launch @conv(%image, %y) tasks(14)    is    launch @conv(%image, %y) tasks(1)              the row above
//                                               launch @conv_from(%image, %y, 1) tasks(12)     no rows of others
//                                               launch @conv_from(%image, %y, 13) tasks(1)     the row below
//
// where @conv_from adds its last argument to the numbers of its tasks.
//
//===----------------------------------------------------------------------===//
#include "passes/kernel/BorderTasks.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/nn/ConstantData.h"
#include "passes/kernel/BufferLives.h"
#include "passes/ranks/Costs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace kiln {

TaskFootprint findFootprint(LaunchPiece piece, func::FuncOp kernel) {
  std::optional<int64_t> tasks = getConstantIntValue(piece.launch.getTasks());
  // With threads, the piece may have all tasks. Their number is at least 0, however many there are.
  bool hasAll = piece.isWhole() || piece.threaded == LaunchPiece::Threaded::All;
  return findFootprint(piece.launch, kernel, piece.first * !hasAll, hasAll ? tasks.value_or(std::numeric_limits<int64_t>::max() >> 4) : piece.end);
}

int64_t elementsOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return type.hasStaticShape() ? type.getNumElements() : 0;
}

int64_t bytesOf(Value buffer) { return elementsOf(buffer) * nn::elementBytes(cast<MemRefType>(buffer.getType()).getElementType()); }

int64_t bytesExchanged(kernel::LaunchOp exchange, func::FuncOp kernel) {
  int64_t bytes = 0;
  for (auto [i, operand] : llvm::enumerate(exchange.getOperands_()))
    if (kernel.getArgAttr(i, kernel::writtenAttrName))
      bytes += bytesOf(skipCasts(operand));
  return bytes;
}

//===- Which tasks -----------------------------------------------------------===//

/// Why the tasks of a launch cannot be cut, whatever they read; empty if they can.
static StringRef findObstacle(kernel::LaunchOp launch, func::FuncOp kernel) {
  for (unsigned i = 0; i < launch.getOperands_().size(); ++i)
    if (kernel.getArgAttr(i, kernel::statusAttrName))
      return "it may fail";
  if (launch->hasAttr(kernel::workAttrName) || !getConstantIntValue(launch.getTasks()))
    return "its size is known only at run time";
  if (*getConstantIntValue(launch.getTasks()) < 2)
    return "it is one task";
  return launch->hasAttr(kernel::overwritesAttrName) ? "its result may overwrite what it reads" : "";
}

namespace {
/// The tasks [first, end) that read nothing of other ranks.
struct InnerTasks {
  int64_t first, end;
};
} // namespace

/// The longest run of tasks around the middle one, or from the first one on, that reads nothing given.
static std::optional<InnerTasks> findInner(kernel::LaunchOp launch, func::FuncOp kernel, const BorderWork &work, int64_t tasks) {
  auto isInner = [&](int64_t first, int64_t end) {
    TaskFootprint footprint = findFootprint(launch, kernel, first, end);
    for (auto [i, given] : llvm::enumerate(work.given))
      if (meet(footprint.reads[i], given) || meet(footprint.writes[i], given))
        return false;
    return true;
  };
  int64_t middle = tasks / 2;
  // Of two tasks, the first one may be the inner one.
  if (!isInner(middle, middle + 1))
    middle = 0;
  if (middle == 0 && !isInner(0, 1))
    return std::nullopt;
  int64_t first = middle, end = middle + 1;
  for (int64_t step = llvm::PowerOf2Ceil(tasks); step > 0; step /= 2) {
    if (first - step >= 0 && isInner(first - step, middle + 1))
      first -= step;
    if (end + step <= tasks && isInner(middle, end + step))
      end += step;
  }
  return InnerTasks{first, end};
}

//===- Whether it pays -------------------------------------------------------===//

static RankMachine machineOf(kernel::LaunchOp launch) {
  return RankMachine::of(launch->getParentOfType<ModuleOp>()->getAttrOfType<kernel::TargetAttr>(kernel::targetAttrName));
}

double estimateExchange(int64_t bytes, kernel::LaunchOp launch) {
  RankMachine machine = machineOf(launch);
  return machine.latency + static_cast<double>(bytes) / machine.networkBytesPerSecond;
}

double estimateWork(const LaunchPiece &piece) {
  kernel::LaunchOp launch = piece.launch;
  RankMachine machine = machineOf(launch);
  double seconds = std::max(static_cast<double>(launch.getFlops().value_or(0)) / machine.flopsPerSecond,
                            static_cast<double>(launch.getBytes().value_or(0)) / machine.bytesPerSecond);
  std::optional<int64_t> tasks = getConstantIntValue(launch.getTasks());
  return piece.isWhole() || !tasks ? seconds : seconds * static_cast<double>(piece.end - piece.first) / static_cast<double>(*tasks);
}

void addReason(func::FuncOp kernel, const Twine &text) {
  auto reason = kernel->getAttrOfType<StringAttr>(kernel::reasonAttrName);
  kernel->setAttr(kernel::reasonAttrName, StringAttr::get(kernel.getContext(), (reason ? reason.getValue() + "; " : Twine()) + text));
}

/// Of many tasks, threads find enough in each piece.
static void shareAmongThreads(MutableArrayRef<LaunchPiece> cut, int64_t tasks) {
  constexpr int64_t many = 64;
  bool hasAll = false;
  for (LaunchPiece &piece : cut) {
    bool takesAll = !piece.isInner && !hasAll;
    hasAll |= takesAll;
    piece.threaded = tasks >= many || !piece.launch.getParallel() ? LaunchPiece::Threaded::Piece
                     : takesAll                                   ? LaunchPiece::Threaded::All
                                                                  : LaunchPiece::Threaded::None;
  }
}

SmallVector<LaunchPiece, 3> cutLaunch(kernel::LaunchOp launch, func::FuncOp kernel, const BorderWork &work) {
  SmallVector<LaunchPiece, 3> whole = {{launch}};
  bool readsBorder = llvm::any_of(work.given, [](const ElementRanges &ranges) { return !ranges.empty(); });
  if (!readsBorder)
    return whole;
  // What the launch of a piece takes beyond its tasks, on threads that wait for work.
  constexpr double secondsOfPiece = 2e-6;
  // Exchanges that are underway at the same time wait for the network once.
  double seconds = estimateWork({launch}), exchange = estimateExchange(work.exchangedBytes, launch);
  // Copies are not worth a word.
  if (seconds < secondsOfPiece)
    return whole;
  auto refuse = [&](const Twine &reason) {
    if (work.areRows)
      addReason(kernel, "waits for rows of other ranks: " + reason);
    return whole;
  };
  if (StringRef obstacle = findObstacle(launch, kernel); !obstacle.empty())
    return refuse(obstacle);
  int64_t tasks = *getConstantIntValue(launch.getTasks());
  std::optional<InnerTasks> inner = findInner(launch, kernel, work, tasks);
  if (!inner || (inner->first == 0 && inner->end == tasks))
    return refuse("every task reads some of it");
  int64_t pieces = 1 + (inner->first > 0 ? 1 : 0) + (inner->end < tasks ? 1 : 0);
  double hidden = std::min(exchange, estimateWork({launch, inner->first, inner->end}));
  double cost = secondsOfPiece * static_cast<double>(pieces - 1);
  auto inMicroseconds = [](double time) { return llvm::formatv("{0:f1} us", time * 1e6).str(); };
  if (hidden < cost)
    return refuse("of " + inMicroseconds(exchange) + ", its other tasks would cover " + inMicroseconds(hidden) + ", and " + Twine(pieces) + " launches take " +
                  inMicroseconds(cost) + " more");
  std::string reason = (Twine(inner->end - inner->first) + " of " + Twine(tasks) +
                        " tasks need nothing of other ranks and run beside the exchange, which is estimated to take " +
                        inMicroseconds(exchange))
                           .str();
  SmallVector<LaunchPiece, 3> cut;
  if (inner->first > 0)
    cut.push_back({launch, 0, inner->first});
  cut.push_back({launch, inner->first, inner->end, /*isInner=*/true, LaunchPiece::Threaded::None, reason});
  if (inner->end < tasks)
    cut.push_back({launch, inner->end, tasks});
  shareAmongThreads(cut, tasks);
  return cut;
}

//===- Launches --------------------------------------------------------------===//

/// The kernel with an argument more, by which its tasks are counted on.
static func::FuncOp makeShifted(func::FuncOp kernel, SymbolTable &symbols) {
  std::string name = (kernel.getName() + "_from").str();
  if (auto known = symbols.lookup<func::FuncOp>(name))
    return known;
  auto made = cast<func::FuncOp>(kernel->clone());
  made.setName(name);
  OpBuilder b(made.getContext());
  unsigned place = made.getNumArguments() - 2;
  DictionaryAttr attributes;
  if (DictionaryAttr range = made.getArgAttrDict(place))
    attributes = DictionaryAttr::get(b.getContext(), llvm::to_vector(llvm::make_filter_range(range, [](NamedAttribute entry) {
                                       return entry.getName() != kernel::nameAttrName;
                                     })));
  (void)made.insertArgument(place, b.getIndexType(), attributes, made.getLoc());
  b.setInsertionPointToStart(&made.front());
  Value first = made.getArgument(place);
  for (unsigned i : {place + 1, place + 2}) {
    BlockArgument given = made.getArgument(i);
    Value moved = arith::AddIOp::create(b, made.getLoc(), given, first);
    given.replaceAllUsesExcept(moved, moved.getDefiningOp());
  }
  addReason(made, "from one of its tasks on");
  symbols.insert(made, std::next(kernel->getIterator()));
  return made;
}

SmallVector<Operation *, 8> makePiece(const LaunchPiece &piece, SymbolTable &symbols) {
  kernel::LaunchOp launch = piece.launch;
  OpBuilder b(launch.getContext());
  int64_t count = piece.end - piece.first, all = *getConstantIntValue(launch.getTasks());
  auto made = cast<kernel::LaunchOp>(launch->clone());
  SmallVector<Operation *, 8> operations;
  auto note = [&](Operation *op) {
    operations.push_back(op);
    return op->getResult(0);
  };
  auto number = [&](int64_t value) { return note(arith::ConstantIndexOp::create(b, launch.getLoc(), value)); };
  Value isThreaded;
  if (piece.threaded != LaunchPiece::Threaded::Piece) {
    Value threads = note(kernel::ThreadsOp::create(b, launch.getLoc(), b.getIndexType()));
    isThreaded = note(arith::CmpIOp::create(b, launch.getLoc(), arith::CmpIPredicate::sgt, threads, number(1)));
  }
  auto choose = [&](int64_t withThreads, int64_t alone) {
    Value value = number(alone);
    return isThreaded ? note(arith::SelectOp::create(b, launch.getLoc(), isThreaded, number(withThreads), value)) : value;
  };
  made.getTasksMutable().assign(choose(piece.threaded == LaunchPiece::Threaded::All ? all : 0, count));
  if (piece.first > 0) {
    func::FuncOp shifted = makeShifted(symbols.lookup<func::FuncOp>(launch.getKernel()), symbols);
    made.setKernelAttr(FlatSymbolRefAttr::get(shifted.getSymNameAttr()));
    made.getOperands_Mutable().append(choose(0, piece.first));
  }
  if (std::optional<int64_t> flops = launch.getFlops())
    made.setFlops(*flops / all * count);
  if (std::optional<int64_t> bytes = launch.getBytes())
    made.setBytes(*bytes / all * count);
  operations.push_back(made);
  return operations;
}

} // namespace kiln
