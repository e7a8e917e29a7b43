//===- CostModel.cpp - What shape a kernel takes, and what a profile says --===//
//
// docs/CostModel.md says where the rules come from.
//
//===----------------------------------------------------------------------===//
#include "passes/target/choice/CostModel.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/OperationAttributeNames.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/groups/Views.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kiln {

using namespace nn;

using kernel::Tuned;

/// Whether the right side of a product is larger than a cache: its rows are as many as those of the left side are long.
static bool exceeds(kernel::StepAttr step, std::optional<int64_t> columns, std::optional<int64_t> depth, int64_t bytes) {
  return columns && depth && *columns * *depth * elementBytes(step.getRhs()) > bytes;
}

/// The vectors of a single row's tile. Weights that stay in no cache from one run to the next come faster in long pieces.
static int64_t chooseRowVectors(kernel::TargetAttr target, bool isStreamed) {
  return target.tuned(isStreamed ? Tuned::StreamedRowVectors : Tuned::RowVectors);
}

/// Up to so many rows are worth a tile of one vector: all of them, or half, meet a piece of the right side at once, and computing them takes as
/// long as it takes the next piece to come from memory. Wider tiles wait for memory at the first block of rows and leave it idle at the next ones.
static int64_t chooseTallRows(kernel::TargetAttr target, bool isLarge) { return target.tuned(Tuned::TallRows) * (isLarge ? 2 : 1); }

/// Vectors of the step, or narrower ones: narrow results waste less in them.
static unsigned chooseLanes(kernel::StepAttr step, std::optional<int64_t> columns) {
  unsigned lanes = static_cast<unsigned>(step.getLanes());
  return columns && *columns < static_cast<int64_t>(lanes) ? llvm::bit_ceil(static_cast<unsigned>(*columns)) : lanes;
}

/// Whether rows of the left side lie in one set of the first-level cache, which holds 8 to 12 lines: a tall tile would read each line of its left side
/// from the second level once for every element. Nine rows of twelve ways are already slow in one run of two.
static bool sharesSet(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> rowStride) {
  return rowStride && *rowStride > 0 && *rowStride * elementBytes(step.getLhs()) % target.tuned(Tuned::SetBytes) == 0;
}

TileShape chooseTile(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> rows, std::optional<int64_t> columns,
                     std::optional<int64_t> rowStride) {
  // Heights of tiles for few rows: what is left of the registers makes them wide.
  int64_t fewestRows = target.tuned(Tuned::FewestRows), fewRows = target.tuned(Tuned::FewRows);
  RegisterBudget budget(target, step);
  unsigned lanes = chooseLanes(step, columns);
  auto shape = [&](int64_t height, int64_t width) { return TileShape{static_cast<unsigned>(height), static_cast<unsigned>(width), lanes}; };
  bool inSet = sharesSet(target, step, rowStride);
  std::optional<int64_t> columnVectors = columns && *columns > 0 ? std::optional(llvm::divideCeilSigned(*columns, lanes)) : std::nullopt;
  int64_t setRows = target.tuned(Tuned::SetRows), many = budget.vectorsOfTall(columnVectors);
  TileShape tile = shape(budget.rowsOf(many), many);
  // Lower tiles than that one are worth it where they are wider.
  auto isWider = [&](int64_t height) { return budget.vectorsOf(height) > many; };
  if (rows && *rows == 1)
    tile = shape(1, chooseRowVectors(target, exceeds(step, columns, rowStride, target.getL3() / 4)));
  else if (rows && *rows <= fewestRows)
    tile = shape(fewestRows, budget.vectorsOf(fewestRows));
  else if (inSet && isWider(setRows))
    tile = shape(setRows, budget.vectorsOf(setRows));
  else if (rows && *rows <= fewRows && isWider(fewRows))
    tile = shape(fewRows, budget.vectorsOf(fewRows));
  else if (rows && *rows <= chooseTallRows(target, exceeds(step, columns, rowStride, target.getL2())))
    tile = shape(budget.narrowRows(), 1);
  if (!columns)
    return tile;
  unsigned wanted = static_cast<unsigned>(std::min<int64_t>(llvm::divideCeilSigned(*columns, lanes), tile.vectors));
  if (wanted == 1 && tile.vectors > 1 && tile.rows > 1 && !inSet)
    tile.rows = static_cast<unsigned>(budget.narrowRows());
  tile.vectors = wanted;
  return tile;
}

TileShape chooseTile(kernel::TargetAttr target, Type element, std::optional<int64_t> rows, std::optional<int64_t> columns,
                     std::optional<int64_t> rowStride) {
  return chooseTile(target, target.getPlainStep(computeType(element)), rows, columns, rowStride);
}

PlanNumbers planProduct(kernel::TargetAttr target, TileShape tile) {
  PlanNumbers numbers{toNumbers(tile), {}};
  numbers.chunk = chooseChunkBytes(target);
  numbers.streams = chooseStreams(target);
  numbers.piece = target.tuned(Tuned::PieceBytes);
  // What stays in the first-level cache needs no prefetching (2 to 4 % of the time).
  numbers.near = target.getL1() * 2 / 3;
  numbers.ahead = choosePrefetches(target);
  numbers.coming = {target.tuned(Tuned::ComingBlocks), target.tuned(Tuned::MostComingBlocks), target.tuned(Tuned::ComingSteps)};
  return numbers;
}

SmallVector<int64_t, 3> choosePrefetches(kernel::TargetAttr target) {
  // 64-bit Arm notices that panels are read from one end to the other, and by llvm-mca's model of Neoverse N1, which dispatches three instructions in a cycle,
  // a tile that asks for each line of both levels takes 4 to 9 % longer.
  if (target.tuned(Tuned::LeftLanes))
    return {};
  return {target.tuned(Tuned::NearAhead), target.tuned(Tuned::FarAhead)};
}

int64_t chooseChunkBytes(kernel::TargetAttr target) { return target.getL2() / 4; }

SmallVector<int64_t, 3> toNumbers(TileShape tile) { return {tile.rows, tile.vectors, tile.lanes}; }

TileShape toTile(ArrayRef<int64_t> numbers) {
  return {static_cast<unsigned>(numbers[0]), static_cast<unsigned>(numbers[1]), static_cast<unsigned>(numbers[2])};
}

TileShape getTile(GroupOp group) { return toTile(group.getPlan()->getTile().asArrayRef()); }

/// Whether a value of a group's body is a constant input, seen through views.
static bool isConstantInput(Value value) {
  while (auto view = value.getDefiningOp<IndexMap>())
    value = view->getOperand(0);
  return isa<BlockArgument>(value) && isConstant(value);
}

std::string describeWork(GroupOp group) {
  Operation *anchor = getAnchor(group);
  if (!anchor)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](Type type) {
    os << ' ' << getElementTypeOrSelf(type);
    if (isa<RankedTensorType>(type))
      llvm::interleaveComma(getDims(type), os << '[', [&](AffineExpr dim) { os << dim; }), os << ']';
  };
  os << anchor->getName().stripDialect();
  for (Value operand : anchor->getOperands()) {
    print(operand.getType());
    os << (isConstantInput(operand) ? "*" : "");
  }
  os << " ->";
  for (Type type : anchor->getResultTypes())
    print(type);
  // The decision about a composite, in words, is no part of its work.
  for (NamedAttribute attribute : anchor->getAttrDictionary())
    if (attribute.getName() != formAttrName && !isa<kernel::PlanAttr>(attribute.getValue()))
      os << ' ' << attribute.getName().strref() << '=' << attribute.getValue();
  for (Operation &op : group.getBody().front().without_terminator())
    if (&op != anchor && isa<ScalarBody>(op))
      os << ' ' << op.getName().stripDialect();
  return text;
}

void recordProfileUse(ModuleOp module, StringRef work, bool fits) {
  Builder b(module.getContext());
  NamedAttrList use(module->getAttrOfType<DictionaryAttr>(kernel::profileUseAttrName));
  auto known = dyn_cast_or_null<BoolAttr>(use.get(work));
  use.set(work, b.getBoolAttr(fits || (known && known.getValue())));
  module->setAttr(kernel::profileUseAttrName, use.getDictionary(b.getContext()));
}

SmallVector<kernel::PlanAttr> listChoices(GroupOp group, kernel::TargetAttr target) {
  SmallVector<kernel::PlanAttr> choices, shaped;
  Operation *anchor = getAnchor(group);
  if (!anchor)
    return choices;
  Type element = computeType(getElementTypeOrSelf(anchor->getResult(0)));
  for (const KernelRow *row : getKernelTable()) {
    KernelMatch match = row->match(group, target);
    if (!match)
      continue;
    PlanNumbers numbers;
    numbers.step = match.numbers.step;
    choices.push_back(row->makePlan(group.getContext(), numbers));
    if (!row->isTunable)
      continue;
    // What the kernel has without a choice is none.
    const PlanNumbers &own = match.numbers;
    for (auto [rows, vectors] : RegisterBudget(target, target.getPlainStep(element)).listTiles())
      if (rows != own.tile[0] || vectors != own.tile[1])
        shaped.push_back(row->makePlan(group.getContext(), {{rows, vectors, own.tile[2]}, {}}, /*measured=*/true));
    if (row->parts & PlanChunk)
      for (int64_t chunk : {target.getL2() / 4, target.getL2()})
        if (chunk != own.chunk)
          shaped.push_back(row->makePlan(group.getContext(), {{}, {}, chunk}));
  }
  // The last one is for what nothing better fits.
  if (choices.size() > 1)
    choices.pop_back();
  choices.append(shaped);
  return choices;
}

} // namespace kiln
