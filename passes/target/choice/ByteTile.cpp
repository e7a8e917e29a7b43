//===- ByteTile.cpp - How products of narrow elements are computed --------===//
#include "passes/target/choice/ByteTile.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/BoundedWeights.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/RegisterBudget.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

/// A step has sums in vectors: it is not written for single lanes.
static constexpr unsigned fewestLanes = 4;

/// Whether it multiplies two rows by two columns, whose four sums are a vector.
static bool isPairStep(kernel::StepAttr step) { return step.getRows() == 2 && step.getLanes() == 2; }

/// The step that is written for any CPU, of unsigned by signed bytes or of signed by unsigned ones.
static kernel::StepAttr makePortableStep(kernel::TargetAttr target, bool isLeftSigned) {
  Builder b(target.getContext());
  Type left = b.getIntegerType(8, /*isSigned=*/false), right = b.getI8Type(), sum = b.getI32Type();
  if (isLeftSigned)
    std::swap(left, right);
  return kernel::StepAttr::get(target.getContext(), left, right, sum, {1, std::max(fewestLanes, nn::lanesOf(target, sum)), 4},
                               isLeftSigned ? "dot_s8u8_pairs" : "dot_u8s8_pairs");
}

/// Whether it adds all its products to one sum, which has a register to itself.
static bool isSingleStep(kernel::StepAttr step) { return step.getRows() == 1 && step.getLanes() == 1 && step.getDepth() > 1; }

static kernel::StepAttr findStepOfBytes(kernel::TargetAttr target, bool isLeftSigned) {
  kernel::StepAttr portable = makePortableStep(target, isLeftSigned), step = target.findStep(portable.getLhs(), portable.getRhs(), portable.getSum());
  return step ? step : portable;
}

kernel::StepAttr findByteStep(kernel::TargetAttr target) { return findStepOfBytes(target, false); }

kernel::StepAttr findSignedByteStep(kernel::TargetAttr target) { return findStepOfBytes(target, true); }

/// The tile of a f32 product whose right side is never waited for: that of many rows.
static TileShape tileOfMany(kernel::TargetAttr target, int64_t columns, int64_t rowStride) {
  constexpr int64_t manyRows = 1 << 20;
  return chooseTile(target, Float32Type::get(target.getContext()), manyRows, columns, rowStride);
}

int64_t chooseBlockRows(kernel::TargetAttr target, std::optional<int64_t> rows, int64_t vectors, int64_t most) {
  RegisterBudget budget(target, target.getPlainStep(Float32Type::get(target.getContext())));
  int64_t few = std::max<int64_t>(1, budget.rowsOf(vectors) / 2 - 1);
  if (!rows)
    return few;
  // A tile has all rows, so numbers are made once; the registers of two of its rows hold what they are made of.
  if (*rows > few && *rows <= std::min(most, budget.rowsOf(vectors) - 2))
    return *rows;
  return std::clamp<int64_t>(*rows, 1, few);
}

PlanNumbers planBlockProduct(kernel::TargetAttr target, std::optional<int64_t> rows, int64_t columns, int64_t rowStride, bool ofBytes,
                             int64_t bits) {
  // One row reads long pieces of its weights; others use each unpacked vector as often as there are registers for two sets of sums.
  kernel::StepAttr step = chooseBoundedStep(findSignedByteStep(target), bits);
  Type f32 = Float32Type::get(target.getContext());
  RegisterBudget budget(target, target.getPlainStep(f32));
  constexpr int64_t many = RegisterBudget::vectorsOfMany;
  int64_t vectors = many, height = budget.rowsOf(vectors) / 2;
  if (height < target.tuned(kernel::Tuned::BlockRows)) {
    vectors = 1;
    height = budget.narrowRows() / 2;
  }
  height = std::max<int64_t>(1, height - 1);
  if (rows == 1) {
    // Of bytes, wide panels are read faster than they are computed: sums, the parts of a block, words and what is made of them fill the registers.
    vectors = ofBytes ? std::max<int64_t>(1, getQuarterOfRegisters(target)) : many;
    height = 1;
  } else if (!ofBytes && rows > height && rows <= std::min<int64_t>(tileOfMany(target, columns, rowStride).rows, budget.rowsOf(many) - 2)) {
    // A tile has all rows, so numbers are made once; the registers of two of its rows hold what they are made of.
    vectors = many;
    height = *rows;
  } else if (!ofBytes && rows > height && rows <= getHalfOfRegisters(target) && chooseTile(target, f32, rows, columns, rowStride).vectors == 1) {
    vectors = 1;
    height = *rows;
  } else if (rows) {
    height = std::min(height, std::max<int64_t>(*rows, 1));
  }
  unsigned lanes = static_cast<unsigned>(step.getLanes());
  vectors = std::min(vectors, llvm::divideCeilSigned(columns, static_cast<int64_t>(lanes)));
  PlanNumbers numbers = planProduct(target, TileShape{static_cast<unsigned>(height), static_cast<unsigned>(vectors), lanes});
  numbers.streams = 0;
  if (ofBytes)
    numbers.step = step.getFunction().str();
  return numbers;
}

bool paysToUnpack(kernel::TargetAttr target, std::optional<int64_t> rows, const PlanNumbers &inRegisters) {
  return !rows || (*rows > inRegisters.tile[0] && *rows >= target.tuned(kernel::Tuned::PackedRows));
}

/// Of parts of a block that are multiples of `perWord` and divide it, the longest one of at most `most`; 0 when each is less than half of that.
static int64_t cutBlock(int64_t block, int64_t perWord, int64_t most) {
  int64_t words = block / perWord;
  for (int64_t count = most / perWord; 2 * count * perWord >= most && count > 0; --count)
    if (words % count == 0)
      return count * perWord;
  return 0;
}

PlanNumbers planUnpackedProduct(kernel::TargetAttr target, std::optional<int64_t> columns, int64_t block, std::optional<int64_t> blocks, int64_t perWord) {
  Type f32 = Float32Type::get(target.getContext());
  // Numbers are made in vectors, also for a single column.
  int64_t least = target.getPlainStep(f32).getLanes();
  TileShape tile = columns && blocks ? tileOfMany(target, std::max(*columns, least), *blocks * block)
                                     : chooseTile(target, f32, std::nullopt, std::nullopt, std::nullopt);
  // Its first block of rows makes numbers beside its sums.
  RegisterBudget budget(target, target.getPlainStep(f32));
  tile.rows = static_cast<unsigned>(std::max<int64_t>(1, std::min<int64_t>(tile.rows, budget.rowsOf(tile.vectors) - 1)));
  PlanNumbers numbers{toNumbers(tile), {}};
  // A panel takes two thirds of the first-level cache, beside a block of rows.
  int64_t inCache = target.getL1() * 2 / 3 / (tile.columns() * static_cast<int64_t>(sizeof(float)));
  int64_t most = std::max<int64_t>(1, std::min(target.tuned(kernel::Tuned::PackedDepth), inCache));
  if (block > most) {
    numbers.depth = cutBlock(block, perWord, most);
  } else {
    int64_t perPart = most / block;
    numbers.depth = (blocks ? llvm::divideCeilSigned(*blocks, llvm::divideCeilSigned(*blocks, perPart)) : perPart) * block;
  }
  numbers.blocks = target.tuned(kernel::Tuned::PackedBlocks);
  return numbers;
}

bool isWeightElement(Type element) { return nn::computesInF32(element) || element.isSignlessInteger(8); }

bool multipliesInF64(Type lhs, Type rhs, Type result) { return lhs.isF64() && rhs.isF64() && result.isF64(); }

kernel::StepAttr findStep(kernel::TargetAttr target, Type lhs, Type rhs, Type result) {
  Type sum = nn::computeType(result);
  if (kernel::StepAttr bytes = findByteStep(target); bytes.takes(lhs, rhs, sum))
    return bytes;
  kernel::StepAttr step = target.findStep(lhs, rhs, sum);
  return step && step.getDepth() > 1 && !step.getFunction().empty() ? step : kernel::StepAttr();
}

bool isRowStep(kernel::StepAttr step) { return step.getRows() == 4 && step.getFunction().starts_with("rows_"); }

/// Whether enough columns share rows that are put side by side, and the stack has room for these.
static bool fitsRowStep(kernel::TargetAttr target, kernel::StepAttr step, const SumShape &sums) {
  constexpr int64_t fewestColumns = 8, mostOfCache = 3;
  // Bytes become words.
  int64_t bytes = step.getRows() * sums.length * 2;
  bool hasLanes = step.getLanes() <= nn::lanesOf(target, step.getSum());
  return hasLanes && sums.columns >= fewestColumns && bytes <= target.getL1() / mostOfCache;
}

kernel::StepAttr findStep(kernel::TargetAttr target, Type lhs, Type rhs, Type result, const SumShape &sums) {
  auto fits = [&](kernel::StepAttr step) {
    bool isForSeveral = isPairStep(step) || (isRowStep(step) && fitsRowStep(target, step, sums));
    return isSingleStep(step) || (isForSeveral && sums.rows.value_or(2) > 1);
  };
  for (kernel::StepAttr step : target.getSteps())
    if (fits(step) && step.takes(lhs, rhs, nn::computeType(result)) && sums.together > 0 && sums.together % step.getDepth() == 0)
      return step;
  return findStep(target, lhs, rhs, result);
}

kernel::StepAttr findStep(kernel::TargetAttr target, StringRef function, Type lhs, Type rhs, Type result) {
  SmallVector<kernel::StepAttr> steps(target.getSteps());
  steps.append({makePortableStep(target, false), makePortableStep(target, true)});
  for (kernel::StepAttr step : steps) {
    if (function.empty() || (step.getRows() != 1 && !isPairStep(step) && !isRowStep(step)) || !step.takes(lhs, rhs, nn::computeType(result)))
      continue;
    for (kernel::StepAttr form : {step, getBoundedForm(step)})
      if (form && form.getFunction() == function)
        return form;
  }
  return {};
}

kernel::StepAttr getStep(nn::GroupOp group) {
  Operation *anchor = getAnchor(group);
  auto type = [](Value value) { return getElementTypeOrSelf(value); };
  return findStep(kernel::getTarget(group), group.getPlan()->getStep(), type(anchor->getOperand(0)), type(anchor->getOperand(1)),
                  type(anchor->getResult(0)));
}

std::string findStepFault(kernel::TargetAttr target, kernel::PlanAttr plan, Type lhs, Type rhs, Type result, int64_t products) {
  kernel::StepAttr step = findStep(target, plan.getStep(), lhs, rhs, result);
  if (!step)
    return describeMissingStep(lhs, rhs, result) + " and whose function is '" + plan.getStep().str() + "'";
  int64_t sums = step.getRows() * step.getLanes(), lanes = plan.getTile() ? plan.getTile().asArrayRef()[2] : 0;
  if (isPairStep(step) && lanes != sums)
    return ("a vector of the tile has " + Twine(lanes) + " sums, one of " + step.getFunction() + " has " + Twine(sums)).str();
  if (products % step.getDepth() == 0)
    return "";
  return ("a sum has " + Twine(products) + " products, a step of " + step.getFunction() + " has " + Twine(step.getDepth())).str();
}

std::string findStepFaultOf(kernel::TargetAttr target, kernel::PlanAttr plan, Type lhs, Type rhs, Type result, int64_t depth) {
  if (std::string fault = findStepFault(target, plan, lhs, rhs, result, depth); !fault.empty())
    return fault;
  int64_t products = findStep(target, plan.getStep(), lhs, rhs, result).getDepth();
  return products == depth ? "" : "a step has " + std::to_string(products) + " products, expected " + std::to_string(depth);
}

std::string describeStep(kernel::StepAttr step) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << (isPairStep(step) ? "pairs of rows, " : "") << (isRowStep(step) ? "rows side by side, " : "") << step.getDepth() << " products of "
         << step.getLhs() << " and " << step.getRhs() << " for each sum, by " << step.getFunction();
  return text;
}

std::string describeMissingStep(Type lhs, Type rhs, Type result) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "the target has no step for " << getElementTypeOrSelf(lhs) << " and " << getElementTypeOrSelf(rhs) << " whose sums are "
         << nn::computeType(getElementTypeOrSelf(result));
  return text;
}

/// The tile of a step of two rows. Many panels share left sides that are put together once for each block of rows; a high tile reads its right side least
/// often. A few panels put them together for each pair of rows: a wide tile does that for more columns.
static TileShape choosePairTile(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> rows, std::optional<int64_t> columns) {
  constexpr int64_t manyRows = 6, fewRows = 4, manyPanels = 6;
  RegisterBudget budget(target, step);
  int64_t highVectors = step.getRows() * RegisterBudget::vectorsOfMany, high = budget.rowsOf(highVectors);
  int64_t highColumns = highVectors * step.getLanes();
  if (isa<IntegerType>(step.getLhs()) && (!rows || *rows >= high) && columns && *columns >= manyPanels * highColumns)
    return {static_cast<unsigned>(high), static_cast<unsigned>(highVectors / step.getRows()), static_cast<unsigned>(step.getRows() * step.getLanes())};
  int64_t lanes = step.getRows() * step.getLanes(), height = rows && *rows <= fewRows ? fewRows : manyRows;
  int64_t vectors = std::max<int64_t>(1, budget.vectorsBesideLeft(height) / step.getRows());
  if (columns)
    vectors = std::min(vectors, llvm::divideCeilSigned(*columns, lanes));
  return {static_cast<unsigned>(height), static_cast<unsigned>(vectors), static_cast<unsigned>(lanes)};
}

/// The tile of a step of one sum: four sums, since general registers have them beside addresses and, without vectors, both sides. Two rows share words that are
/// taken apart; where sides are vectors, nothing is shared that would be worth sums in memory.
static TileShape chooseSingleTile(kernel::TargetAttr target, std::optional<int64_t> rows, std::optional<int64_t> columns) {
  constexpr unsigned sums = 4;
  unsigned lanes = std::min(sums, nn::lanesOf(target, IntegerType::get(target.getContext(), 32)));
  unsigned height = rows == 1 || lanes > 1 ? 1 : 2, vectors = sums / height / lanes;
  if (columns)
    vectors = static_cast<unsigned>(std::min<int64_t>(vectors, llvm::divideCeilSigned(*columns, static_cast<int64_t>(lanes))));
  return {height, vectors, lanes};
}

/// The tile of a step of rows side by side. Instructions of vectors have their sums in even registers, of which there are six for three rows and two columns.
static TileShape chooseRowTile(kernel::StepAttr step, std::optional<int64_t> rows) {
  int64_t height = step.getLanes() > 1 ? step.getRows() - 1 : step.getRows();
  return {static_cast<unsigned>(std::min(height, rows.value_or(height))), 1, static_cast<unsigned>(step.getLanes())};
}

PlanNumbers planStepProduct(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> rows, std::optional<int64_t> columns,
                            std::optional<int64_t> rowStride) {
  TileShape tile = isPairStep(step)     ? choosePairTile(target, step, rows, columns)
                   : isRowStep(step)    ? chooseRowTile(step, rows)
                   : isSingleStep(step) ? chooseSingleTile(target, rows, columns)
                                        : chooseTile(target, step, rows, columns, rowStride);
  if (!isSingleStep(step) && !isRowStep(step))
    tile.lanes = std::max(tile.lanes, fewestLanes);
  PlanNumbers numbers = planProduct(target, tile);
  numbers.streams = target.tuned(kernel::Tuned::StepStreams);
  numbers.step = step.getFunction().str();
  return numbers;
}

PlanNumbers planStepConvolution(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> pixels, int64_t channels, int64_t length) {
  PlanNumbers numbers = planStepProduct(target, step, pixels, channels, std::nullopt);
  // Compilers unroll so few steps and mix them with what becomes of the sums. Beside the places of the pixels, that takes a sixth of the registers more.
  constexpr int64_t fewSteps = 4, shareOfRows = 6;
  if (int64_t &rows = numbers.tile[0]; loadsOperands(target) && length <= fewSteps * step.getDepth() && rows > 1)
    rows -= llvm::divideCeilSigned(rows, shareOfRows);
  return numbers;
}

} // namespace kiln
