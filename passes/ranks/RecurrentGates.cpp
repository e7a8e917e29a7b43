//===- RecurrentGates.cpp - Whether layers can be cut by units --------------===//
#include "passes/ranks/RecurrentGates.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNRecurrentOps.h"
#include "dialects/nn/NNStructureOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

using namespace nn;

std::optional<GatedLayer> matchGatedLayer(Operation *op) {
  SmallVector<LayerRole> roles = {Gates, Recurrence, Hidden};
  auto finish = [&](auto layer, LayerRole extra, bool hasExtra, unsigned gateCount, unsigned exchanges) {
    if (hasExtra)
      roles.push_back(extra);
    if (layer.getLengths())
      roles.push_back(Lengths);
    return GatedLayer{op, roles, gateCount, exchanges, layer.getActivationsAttr(), layer.getClipAttr(), layer.getReverse()};
  };
  if (auto lstm = dyn_cast<LstmOp>(op)) {
    roles.push_back(Cell);
    GatedLayer layer = finish(lstm, Peephole, lstm.getPeephole() != Value(), 4, 1);
    layer.couplesInputForget = lstm.getInputForget();
    return layer;
  }
  if (auto gru = dyn_cast<GruOp>(op))
    return finish(gru, RecurrenceBias, gru.getRecurrenceBias() != Value(), 3, gru.getLinearBeforeReset() ? 1 : 2);
  if (auto rnn = dyn_cast<RnnOp>(op))
    return finish(rnn, Peephole, false, 1, 1);
  return std::nullopt;
}

void setReverse(Operation *layer) {
  llvm::TypeSwitch<Operation *>(layer).Case<LstmOp, GruOp, RnnOp>([](auto op) { op.setReverse(true); });
}

//===- Where columns come from -----------------------------------------------===//

namespace {
/// A use of a constant, and its dimension that has the columns.
struct Source {
  OpOperand *use;
  unsigned dim;
};
} // namespace

/// The operand's dimension that a reshape shows as dimension `dim`: it has the same size and the same distance of neighbours.
static std::optional<unsigned> findReshaped(ReshapeOp reshape, unsigned dim) {
  auto behind = [](ArrayRef<int64_t> shape, unsigned dim) {
    int64_t product = 1;
    for (int64_t size : shape.drop_front(dim + 1))
      product = ShapedType::isDynamic(size) ? -1 : product * size;
    return product;
  };
  ArrayRef<int64_t> from = cast<RankedTensorType>(reshape.getInput().getType()).getShape(), to = reshape.getType().getShape();
  for (unsigned i = 0; i < from.size(); ++i)
    if (from[i] == to[dim] && behind(from, i) > 0 && behind(from, i) == behind(to, dim))
      return i;
  return std::nullopt;
}

static bool findSources(OpOperand &use, unsigned dim, SmallVectorImpl<Source> &sources);

/// The operand's dimension that a view shows as it is; nothing at all of the operand depends on one that it repeats.
static bool findInView(IndexMap view, unsigned dim, SmallVectorImpl<Source> &sources) {
  AffineMap map = view.getIndexMap();
  for (auto [place, expr] : llvm::enumerate(map ? map.getResults() : ArrayRef<AffineExpr>())) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    bool isShown = isa<AffineDimExpr>(expr) && provablyEqual(getDim(view->getOperand(0).getType(), place), getDim(view->getResult(0).getType(), dim));
    return isShown && findSources(view->getOpOperand(0), place, sources);
  }
  return map != AffineMap();
}

/// Finds the constants whose columns become dimension `dim` of the value, and nothing else does.
static bool findSources(OpOperand &use, unsigned dim, SmallVectorImpl<Source> &sources) {
  Operation *op = use.get().getDefiningOp();
  if (!op)
    return false;
  if (isa<ConstantOp>(op)) {
    sources.push_back({&use, dim});
    return true;
  }
  if (isa<SplatOp>(op))
    return true;
  if (!use.get().hasOneUse())
    return false;
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    std::optional<unsigned> from = findReshaped(reshape, dim);
    return from && findSources(reshape->getOpOperand(0), *from, sources);
  }
  if (auto view = dyn_cast<IndexMap>(op))
    return findInView(view, dim, sources);
  if (auto product = dyn_cast<MatmulOp>(op)) {
    unsigned columns = cast<RankedTensorType>(product.getRhs().getType()).getRank() - 1;
    return dim + 1 == static_cast<unsigned>(product.getType().getRank()) && findSources(product.getRhsMutable(), columns, sources);
  }
  size_t rank = cast<RankedTensorType>(use.get().getType()).getRank();
  return isa<ScalarBody>(op) && llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return static_cast<size_t>(cast<RankedTensorType>(operand.get().getType()).getRank()) == rank && findSources(operand, dim, sources);
  });
}

std::string findGateFault(const GatedLayer &layer, int64_t parts) {
  if (int64_t units = layer.countUnits(); units % parts != 0)
    return std::to_string(units) + " hidden units are not divisible by " + std::to_string(parts);
  if (layer.getRecurrence().getElementTypeBitWidth() < 32)
    return "states of 16 bits would be rounded at other places";
  SmallVector<Source> sources;
  bool isKnown = findSources(layer.op->getOpOperand(Gates), 2, sources) && isa_and_nonnull<ConstantOp>(layer.op->getOperand(Recurrence).getDefiningOp());
  return isKnown ? "" : "the weights of its gates are not constants";
}

//===- Their order -----------------------------------------------------------===//

/// The constant with columns [outer, units] in the order [parts, outer, units of a part].
static ElementsAttr orderColumns(ElementsAttr value, unsigned dim, int64_t outer, int64_t parts) {
  if (isa<SplatElementsAttr>(value))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rows = 1, bytes = elementBytes(type.getElementType()), columns = type.getDimSize(dim);
  for (int64_t size : type.getShape().take_front(dim))
    rows *= size;
  for (int64_t size : type.getShape().drop_front(dim + 1))
    bytes *= size;
  int64_t each = columns / outer / parts;
  ConstantData data(value);
  std::vector<char> ordered;
  ordered.reserve(data.bytes().size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t i = 0; i < outer; ++i) {
        ArrayRef<char> slice = data.bytes().slice((row * columns + (i * parts + part) * each) * bytes, each * bytes);
        ordered.insert(ordered.end(), slice.begin(), slice.end());
      }
  return makeConstant(type, std::move(ordered));
}

void orderGates(const GatedLayer &layer, int64_t parts) {
  auto order = [&](OpOperand &use, unsigned dim, int64_t outer) {
    auto constant = use.get().getDefiningOp<ConstantOp>();
    OpBuilder builder(constant);
    use.set(ConstantOp::create(builder, constant.getLoc(), orderColumns(constant.getValue(), dim, outer, parts)));
  };
  SmallVector<Source> sources;
  findSources(layer.op->getOpOperand(Gates), 2, sources);
  for (auto [use, dim] : sources)
    order(*use, dim, layer.countDirections() * layer.gateCount);
  order(layer.op->getOpOperand(Recurrence), unitDim, layer.gateCount);
}

} // namespace kiln
