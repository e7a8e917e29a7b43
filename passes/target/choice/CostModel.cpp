//===- CostModel.cpp - What shape a kernel takes, and what a profile says --===//
//
// docs/CostModel.md says where the rules come from.
//
//===----------------------------------------------------------------------===//
#include "passes/target/choice/CostModel.h"
#include "dialects/nn/Dims.h"
#include "passes/target/choice/KernelTable.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Rows this far apart, in elements, lie in one set of the first-level cache, which holds 8 to 12 lines: a tall tile would read each line
/// of its left side from the second level once for every element. Nine rows of twelve ways are already slow in one run of two.
static constexpr int64_t setStride = 1024;

/// Whether the right side of a product is larger than a cache: its rows are as many as those of the left side are long.
static bool exceeds(std::optional<int64_t> columns, std::optional<int64_t> depth, int64_t bytes) {
  return columns && depth && *columns * *depth * 4 > bytes;
}

/// The vectors of a single row's tile. Weights that stay in no cache from one run to the next come faster in long pieces.
static unsigned chooseRowVectors(kernel::TargetAttr target, std::optional<int64_t> columns, std::optional<int64_t> depth) {
  return exceeds(columns, depth, target.getL3() / 4) ? 6 : 3;
}

/// Up to so many rows are worth a tile of one vector: all of them, or half, meet a piece of the right side at once, and computing them takes as
/// long as it takes the next piece to come from memory. Wider tiles wait for memory at the first block of rows and leave it idle at the next ones.
static int64_t chooseRowsAtOnce(kernel::TargetAttr target, std::optional<int64_t> columns, std::optional<int64_t> depth) {
  return exceeds(columns, depth, target.getL2()) ? 56 : 28;
}

/// Vectors of the target, or narrower ones: narrow results waste less in them.
static unsigned chooseLanes(kernel::TargetAttr target, std::optional<int64_t> columns) {
  unsigned lanes = std::max(1u, target.lanes(32));
  return columns && *columns < static_cast<int64_t>(lanes) ? llvm::bit_ceil(static_cast<unsigned>(*columns)) : lanes;
}

TileShape chooseTile(kernel::TargetAttr target, std::optional<int64_t> rows, std::optional<int64_t> columns, std::optional<int64_t> rowStride) {
  unsigned lanes = chooseLanes(target, columns);
  bool manyRegisters = target.getRegisters() >= 32, shareSet = rowStride && *rowStride > 0 && *rowStride % setStride == 0;
  // The accumulators, one row of the right side and one broadcast element fill the registers.
  TileShape tile = manyRegisters ? TileShape{14, 2, lanes} : TileShape{6, 2, lanes};
  if (rows && *rows == 1)
    tile = {1, chooseRowVectors(target, columns, rowStride), lanes};
  else if (rows && *rows <= 4)
    tile = manyRegisters ? TileShape{4, 6, lanes} : TileShape{4, 3, lanes};
  else if (manyRegisters && (shareSet || (rows && *rows <= 8)))
    tile = {8, 3, lanes};
  else if (manyRegisters && rows && *rows <= chooseRowsAtOnce(target, columns, rowStride))
    tile = {28, 1, lanes};
  if (!columns)
    return tile;
  unsigned wanted = static_cast<unsigned>(std::min<int64_t>((*columns + lanes - 1) / lanes, tile.vectors));
  if (wanted == 1 && tile.vectors > 1 && tile.rows > 1 && !shareSet)
    tile.rows = manyRegisters ? 28 : 12;
  tile.vectors = wanted;
  return tile;
}

int64_t chooseChunkBytes(kernel::TargetAttr target) { return target.getL2() / 4; }

SmallVector<int64_t, 3> toNumbers(TileShape tile) { return {tile.rows, tile.vectors, tile.lanes}; }

TileShape toTile(ArrayRef<int64_t> numbers) {
  return {static_cast<unsigned>(numbers[0]), static_cast<unsigned>(numbers[1]), static_cast<unsigned>(numbers[2])};
}

TileShape getTile(GroupOp group) { return toTile(group.getPlan()->getTile().asArrayRef()); }

/// Whether a value of the group's body is a constant input, seen through views.
static bool isConstantInput(GroupOp group, Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<IndexMap>(op))
      return false;
    value = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && group.isConstantInput(argument.getArgNumber());
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
    os << (isConstantInput(group, operand) ? "*" : "");
  }
  os << " ->";
  for (Type type : anchor->getResultTypes())
    print(type);
  // The decision about a composite, in words, is no part of its work.
  for (NamedAttribute attribute : anchor->getAttrDictionary())
    if (attribute.getName() != formAttrName)
      os << ' ' << attribute.getName().strref() << '=' << attribute.getValue();
  for (Operation &op : group.getBody().front().without_terminator())
    if (&op != anchor && isa<ScalarBody>(op))
      os << ' ' << op.getName().stripDialect();
  return text;
}

std::string describeTarget(kernel::TargetAttr target) {
  return (target.getCpu() + " " + Twine(target.getVectorBits()) + " bits, " + Twine(target.getRegisters()) + " registers").str();
}

void recordProfileUse(ModuleOp module, StringRef work, bool fits) {
  Builder b(module.getContext());
  NamedAttrList use(module->getAttrOfType<DictionaryAttr>(kernel::profileUseAttrName));
  auto known = dyn_cast_or_null<BoolAttr>(use.get(work));
  use.set(work, b.getBoolAttr(fits || (known && known.getValue())));
  module->setAttr(kernel::profileUseAttrName, use.getDictionary(b.getContext()));
}

/// The tiles that fill the registers of a target in other proportions; a single row's accumulators are its streams'.
static SmallVector<std::pair<int64_t, int64_t>> listTiles(kernel::TargetAttr target) {
  if (target.getRegisters() >= 32)
    return {{14, 2}, {8, 3}, {12, 2}, {6, 4}, {4, 6}, {28, 1}, {14, 1}, {1, 4}};
  return {{6, 2}, {4, 3}, {12, 1}, {8, 1}, {1, 4}};
}

SmallVector<kernel::PlanAttr> listChoices(GroupOp group, kernel::TargetAttr target) {
  SmallVector<kernel::PlanAttr> choices, shaped;
  if (!getAnchor(group))
    return choices;
  for (const KernelRow *row : getKernelTable()) {
    KernelMatch match = row->match(group, target);
    if (!match)
      continue;
    choices.push_back(row->makePlan(group.getContext(), {}));
    if (!row->isTunable)
      continue;
    for (auto [rows, vectors] : listTiles(target))
      shaped.push_back(row->makePlan(group.getContext(), {{rows, vectors, match.numbers.tile[2]}, {}}, /*measured=*/true));
    if (row->parts & PlanChunk)
      for (int64_t chunk : {target.getL2() / 4, target.getL2()})
        shaped.push_back(row->makePlan(group.getContext(), {{}, {}, chunk}));
  }
  // The last one is for what nothing better fits.
  if (choices.size() > 1)
    choices.pop_back();
  choices.append(shaped);
  return choices;
}

} // namespace kiln
