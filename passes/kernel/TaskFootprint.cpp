//===- TaskFootprint.cpp - The elements that tasks of a kernel reach --------===//
//
// A kernel is run with ranges in the place of indices:
//
//   scf.for %row = %begin to %end step 1            %row in [4, 8)
//     %at = arith.muli %row, %c64                   %at in [256, 449)
//     vector.load %in[%at] : vector<16xf32>         reads elements [256, 465) of %in
//
// A condition that a range decides leaves out the other branch.
//
//===----------------------------------------------------------------------===//
#include "passes/kernel/TaskFootprint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;

namespace kiln {

/// Far beyond any index, with room for sums.
static constexpr int64_t far = int64_t(1) << 60;

bool meet(const ElementRanges &one, const ElementRanges &other) {
  return llvm::any_of(one, [&](auto &a) { return llvm::any_of(other, [&](auto &b) { return a.first < b.second && b.first < a.second; }); });
}

int64_t countElements(const ElementRanges &ranges) {
  int64_t count = 0;
  for (auto &[first, end] : ranges)
    count = std::min(far, count + (end - first));
  return count;
}

//===- Ranges of values ------------------------------------------------------===//

namespace {
/// All values from `low` to `high`.
struct Values {
  int64_t low = -far, high = far;
  bool isOne() const { return low == high; }
  bool isOne(int64_t value) const { return isOne() && low == value; }
};
} // namespace

static int64_t clampProduct(int64_t a, int64_t b) {
  int64_t product;
  bool overflows = llvm::MulOverflow(a, b, product);
  return overflows ? ((a < 0) == (b < 0) ? far : -far) : std::clamp(product, -far, far);
}

static Values makeValues(int64_t low, int64_t high) { return {std::clamp(low, -far, far), std::clamp(high, -far, far)}; }

static Values multiply(Values a, Values b) {
  int64_t corners[] = {clampProduct(a.low, b.low), clampProduct(a.low, b.high), clampProduct(a.high, b.low), clampProduct(a.high, b.high)};
  auto [least, most] = std::minmax_element(std::begin(corners), std::end(corners));
  return {*least, *most};
}

/// By a divisor that is known and positive; `truncates` rounds towards zero.
static Values divide(Values a, Values b, bool truncates) {
  if (!b.isOne() || b.low <= 0)
    return {};
  auto quotient = [&](int64_t x) { return truncates ? x / b.low : llvm::divideFloorSigned(x, b.low); };
  return {a.low == -far ? -far : quotient(a.low), a.high == far ? far : quotient(a.high)};
}

static Values remainder(Values a, Values b) {
  if (!b.isOne() || b.low <= 0 || a.low < 0)
    return {};
  if (a.high < far && a.low / b.low == a.high / b.low)
    return {a.low % b.low, a.high % b.low};
  return {0, std::min(a.high, b.low - 1)};
}

static Values compare(arith::CmpIPredicate predicate, Values a, Values b) {
  auto answer = [](bool always, bool never) { return always ? Values{1, 1} : never ? Values{0, 0} : Values{0, 1}; };
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return answer(a.isOne() && b.isOne(a.low), a.high < b.low || b.high < a.low);
  case arith::CmpIPredicate::ne:
    return answer(a.high < b.low || b.high < a.low, a.isOne() && b.isOne(a.low));
  case arith::CmpIPredicate::slt:
    return answer(a.high < b.low, a.low >= b.high);
  case arith::CmpIPredicate::sle:
    return answer(a.high <= b.low, a.low > b.high);
  case arith::CmpIPredicate::sgt:
    return answer(a.low > b.high, a.high <= b.low);
  case arith::CmpIPredicate::sge:
    return answer(a.low >= b.high, a.high < b.low);
  default:
    return {0, 1};
  }
}

//===- A kernel's run --------------------------------------------------------===//

namespace {
class FootprintRun {
public:
  FootprintRun(func::FuncOp kernel, TaskFootprint &result) : kernel(kernel), result(result) {
    result.reads.resize(kernel.getNumArguments());
    result.writes.resize(kernel.getNumArguments());
  }
  void set(Value value, Values known) { values[value] = known; }
  void runBlock(Block &block);

private:
  Values get(Value value) const {
    auto known = values.find(value);
    return known == values.end() ? Values{} : known->second;
  }
  Values evaluate(Operation *op) const;
  void run(Operation *op);
  void runFor(scf::ForOp loop);
  void runIf(scf::IfOp branch);
  void touch(Value buffer, Values index, int64_t count, bool writes);
  void touchWhole(Operation *op);

  func::FuncOp kernel;
  TaskFootprint &result;
  DenseMap<Value, Values> values;
  /// Operations that loops may still be followed for, step by step.
  int64_t budget = 30000;
};
} // namespace

/// Ranges that continue each other are one, and very many are one as well.
static void addRange(ElementRanges &ranges, int64_t first, int64_t end) {
  constexpr size_t most = 4096;
  if (!ranges.empty() && ranges.back().first <= first && first <= ranges.back().second) {
    ranges.back().second = std::max(ranges.back().second, end);
    return;
  }
  if (ranges.size() == most) {
    for (auto &[low, high] : ranges)
      first = std::min(first, low), end = std::max(end, high);
    ranges.clear();
  }
  ranges.emplace_back(first, end);
}

void FootprintRun::touch(Value buffer, Values index, int64_t count, bool writes) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!argument || argument.getOwner() != &kernel.front())
    return;
  addRange((writes ? result.writes : result.reads)[argument.getArgNumber()], index.low, index.high + count);
}

/// An operation of which nothing is known reaches all of its operands, and what it makes of them is reached already.
void FootprintRun::touchWhole(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType()))
      for (bool writes : {false, true})
        touch(operand, Values{}, 0, writes);
}

Values FootprintRun::evaluate(Operation *op) const {
  auto at = [&](unsigned operand) { return get(op->getOperand(operand)); };
  return llvm::TypeSwitch<Operation *, Values>(op)
      .Case([](arith::ConstantOp constant) {
        auto number = dyn_cast<IntegerAttr>(constant.getValue());
        int64_t value = !number ? 0 : number.getType().isInteger(1) ? int64_t(number.getValue().getZExtValue()) : number.getInt();
        bool isIndex = number && value > -far && value < far;
        return isIndex ? Values{value, value} : Values{};
      })
      .Case([&](arith::AddIOp) { return makeValues(at(0).low + at(1).low, at(0).high + at(1).high); })
      .Case([&](arith::SubIOp) { return makeValues(at(0).low - at(1).high, at(0).high - at(1).low); })
      .Case([&](arith::MulIOp) { return multiply(at(0), at(1)); })
      .Case([&](arith::DivSIOp) { return divide(at(0), at(1), /*truncates=*/true); })
      .Case([&](arith::FloorDivSIOp) { return divide(at(0), at(1), /*truncates=*/false); })
      .Case([&](arith::RemSIOp) { return remainder(at(0), at(1)); })
      .Case([&](arith::MinSIOp) { return Values{std::min(at(0).low, at(1).low), std::min(at(0).high, at(1).high)}; })
      .Case([&](arith::MaxSIOp) { return Values{std::max(at(0).low, at(1).low), std::max(at(0).high, at(1).high)}; })
      .Case([&](arith::CmpIOp comparison) { return compare(comparison.getPredicate(), at(0), at(1)); })
      .Case([&](arith::AndIOp both) {
        return both.getType().isInteger(1) ? Values{std::min(at(0).low, at(1).low), std::min(at(0).high, at(1).high)} : Values{};
      })
      .Case([&](arith::OrIOp either) {
        return either.getType().isInteger(1) ? Values{std::max(at(0).low, at(1).low), std::max(at(0).high, at(1).high)} : Values{};
      })
      .Case([&](arith::XOrIOp other) { return other.getType().isInteger(1) && at(1).isOne(1) ? Values{1 - at(0).high, 1 - at(0).low} : Values{}; })
      .Case([&](arith::SelectOp) {
        if (at(0).isOne())
          return at(0).low ? at(1) : at(2);
        return Values{std::min(at(1).low, at(2).low), std::max(at(1).high, at(2).high)};
      })
      .Default([](Operation *) { return Values{}; });
}

/// The operations that one step of a loop has, those of loops in it counted once.
static int64_t countOperations(Region &region) {
  int64_t count = 0;
  region.walk([&](Operation *) { ++count; });
  return count;
}

void FootprintRun::runFor(scf::ForOp loop) {
  Values low = get(loop.getLowerBound()), high = get(loop.getUpperBound()), step = get(loop.getStep());
  if (high.high <= low.low)
    return;
  if (low.isOne() && high.isOne() && step.isOne() && step.low > 0) {
    int64_t steps = llvm::divideCeilSigned(high.low - low.low, step.low), work = countOperations(loop.getRegion());
    if (steps <= budget / work) {
      budget -= steps * work;
      for (int64_t at = low.low; at < high.low; at += step.low) {
        set(loop.getInductionVar(), {at, at});
        runBlock(*loop.getBody());
      }
      return;
    }
    // The last value of the index, which is not always the one before the end.
    high = {low.low + (steps - 1) * step.low + 1, low.low + (steps - 1) * step.low + 1};
  }
  set(loop.getInductionVar(), {low.low, high.high - 1});
  runBlock(*loop.getBody());
}

void FootprintRun::runIf(scf::IfOp branch) {
  Values condition = get(branch.getCondition());
  SmallVector<Block *> taken;
  if (!condition.isOne(0))
    taken.push_back(branch.thenBlock());
  if (!condition.isOne(1) && branch.elseBlock())
    taken.push_back(branch.elseBlock());
  SmallVector<Values> results(branch.getNumResults(), Values{far, -far});
  for (Block *block : taken) {
    runBlock(*block);
    for (auto [known, given] : llvm::zip(results, block->getTerminator()->getOperands()))
      known = {std::min(known.low, get(given).low), std::max(known.high, get(given).high)};
  }
  for (auto [value, known] : llvm::zip(branch.getResults(), results))
    set(value, known);
}

void FootprintRun::run(Operation *op) {
  auto elements = [](Type type) { return cast<VectorType>(type).getNumElements(); };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) {
        // Buffers that it carries are others inside of it.
        touchWhole(loop);
        runFor(loop);
      })
      .Case([&](scf::IfOp branch) { runIf(branch); })
      .Case([&](memref::LoadOp load) { touch(load.getMemRef(), load.getIndices().empty() ? Values{0, 0} : get(load.getIndices()[0]), 1, false); })
      .Case([&](memref::StoreOp store) { touch(store.getMemRef(), store.getIndices().empty() ? Values{0, 0} : get(store.getIndices()[0]), 1, true); })
      .Case([&](vector::LoadOp load) { touch(load.getBase(), get(load.getIndices()[0]), elements(load.getType()), false); })
      .Case([&](vector::StoreOp store) { touch(store.getBase(), get(store.getIndices()[0]), elements(store.getValueToStore().getType()), true); })
      .Case([&](kernel::StridedLoadOp load) {
        touch(load.getSource(), get(load.getIndex()), (elements(load.getType()) - 1) * load.getStride() + 1, false);
      })
      .Case<memref::PrefetchOp, memref::CastOp, kernel::SameBufferOp>([](auto) {})
      .Default([&](Operation *other) {
        touchWhole(other);
        for (Region &region : other->getRegions())
          for (Block &block : region)
            runBlock(block);
        if (other->getNumResults() == 1)
          set(other->getResult(0), evaluate(other));
      });
}

void FootprintRun::runBlock(Block &block) {
  for (Operation &op : block)
    run(&op);
}

TaskFootprint findFootprint(kernel::LaunchOp launch, func::FuncOp kernel, int64_t first, int64_t end) {
  TaskFootprint result;
  FootprintRun run(kernel, result);
  unsigned arguments = kernel.getNumArguments();
  run.set(kernel.getArgument(arguments - 2), {first, first});
  run.set(kernel.getArgument(arguments - 1), {end, end});
  for (auto [argument, operand] : llvm::zip(kernel.getArguments(), launch.getOperands_()))
    if (std::optional<int64_t> size = getConstantIntValue(operand))
      run.set(argument, {*size, *size});
  run.runBlock(kernel.front());
  return result;
}

} // namespace kiln
