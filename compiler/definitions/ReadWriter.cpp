//===- ReadWriter.cpp - Reads of tensors at indices -------------------------===//
//
//   x[n, t]            x                                 the dimensions as they are
//   x[t, n]            Transpose(x)                      ... in another order
//   x[n, 2 * t + 1]    Slice(x, 1, ..., step 2)          a sum of one index and a constant
//   x[n, t - 1] else 0 Slice(Pad(x, ...), ...)           ... outside of the tensor
//   x[n, t + k]        Gather(x, Range(...) + Range(...)) any other index
//   x[n]               Unsqueeze(x, 1)                   in a definition of [n, t]
//
//===----------------------------------------------------------------------===//
#include "compiler/definitions/Checker.h"
#include "compiler/definitions/FunctionWriter.h"
#include "compiler/definitions/Sizes.h"
#include "compiler/import/onnx.pb.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln::definitions {

static constexpr StringLiteral ellipsis = "...";
/// What stands for a dimension whose index has not been applied yet; no name of an index.
static constexpr StringLiteral unread = "?";

//===- Sizes ---------------------------------------------------------------===//

const Index &FunctionWriter::findIndex(StringRef name) const {
  for (const std::vector<Index> *list : {&definition.indices, &definition.reduced})
    for (const Index &index : *list)
      if (!index.isEllipsis && index.name == name)
        return index;
  llvm_unreachable("the checker has found every index");
}

bool FunctionWriter::isWhole(const Index &index) const {
  return any_of(listAccesses(definition), [&](const Access &access) {
    bool isDirect = access.expr->kind == IndexExpr::Kind::Variable && access.expr->name == index.name;
    return isDirect && isSame(*index.extent, IndexExpr::dim(access.tensor, access.axis));
  });
}

/// Whether a quotient of it may be rounded to zero as well as down.
static bool isNeverNegative(const IndexExpr &expr) {
  using Kind = IndexExpr::Kind;
  if (expr.kind == Kind::Number)
    return expr.number >= 0;
  return expr.kind != Kind::Sub && expr.kind != Kind::Attribute && all_of(expr.operands, isNeverNegative);
}

/// The operator for two operands; those of ONNX round quotients of integers to zero.
static StringRef operatorOf(IndexExpr::Kind kind) {
  using Kind = IndexExpr::Kind;
  switch (kind) {
  case Kind::Add:
    return "Add";
  case Kind::Sub:
    return "Sub";
  case Kind::Mul:
    return "Mul";
  case Kind::FloorDiv:
    return "Div";
  case Kind::Mod:
    return "Mod";
  case Kind::Min:
    return "Min";
  default:
    return "Max";
  }
}

std::string FunctionWriter::emitSize(const IndexExpr &given) {
  IndexExpr expr = simplify(given);
  switch (expr.kind) {
  case IndexExpr::Kind::Number:
    return addInts({expr.number});
  case IndexExpr::Kind::Attribute:
    return add("Unsqueeze", {emitAttribute(*definition.findAttribute(expr.name), Element::I64), addInts({0})});
  case IndexExpr::Kind::Dim: {
    auto found = tensors.find(expr.name);
    std::string tensor = found == tensors.end() ? expr.name : found->second;
    std::string &value = known["dim " + tensor + " " + std::to_string(expr.number)];
    if (!value.empty())
      return value;
    onnx::NodeProto *node = addNode("Shape", {tensor});
    setInt(node, "start", expr.number);
    if (expr.number != -1)
      setInt(node, "end", expr.number + 1);
    return value = node->output(0);
  }
  default:
    // Sizes are not negative, which a use checks.
    return add(operatorOf(expr.kind), {emitSize(expr.operands[0]), emitSize(expr.operands[1])});
  }
}

/// 0, 1, ..., extent - 1.
std::string FunctionWriter::emitRange(const Index &index) {
  std::string axis = addInts({0}), limit = add("Squeeze", {emitSize(*index.extent), axis});
  Literal zero{{}, true, 0, 0}, one{{}, true, 1, 1};
  return add("Range", {addConstant(Element::I64, zero), limit, addConstant(Element::I64, one)});
}

/// The index for all values of the indices in it, whose order gives the dimensions. Dimensions may be missing in front.
std::string FunctionWriter::emitIndexValue(const IndexExpr &expr, const std::vector<std::string> &order) {
  if (expr.kind == IndexExpr::Kind::Variable) {
    std::vector<int64_t> axes;
    for (size_t i = find(order, expr.name) - order.begin() + 1; i < order.size(); ++i)
      axes.push_back(static_cast<int64_t>(axes.size()) + 1);
    std::string range = emitRange(findIndex(expr.name));
    return axes.empty() ? range : add("Unsqueeze", {range, addInts(axes)});
  }
  std::vector<std::string> own;
  collectVariables(expr, own);
  if (own.empty())
    return emitSize(expr);
  std::string left = emitIndexValue(expr.operands[0], order), right = emitIndexValue(expr.operands[1], order);
  bool rounds = expr.kind == IndexExpr::Kind::FloorDiv && !isNeverNegative(expr.operands[0]);
  if (rounds)
    left = add("Sub", {left, add("Mod", {left, right})});
  return add(operatorOf(expr.kind), {left, right});
}

FunctionWriter::Labelled FunctionWriter::emitIndices(const IndexExpr &expr) {
  std::vector<std::string> order;
  collectVariables(expr, order);
  Labelled at{emitIndexValue(expr, order), order};
  if (order.size() < 2)
    return at;
  SmallVector<std::string> sizes;
  for (const std::string &name : order)
    sizes.push_back(emitSize(*findIndex(name).extent));
  std::string &shape = known["concat " + join(sizes, ",")];
  if (shape.empty()) {
    onnx::NodeProto *node = addNode("Concat", sizes);
    setInt(node, "axis", 0);
    shape = node->output(0);
  }
  at.value = add("Expand", {at.value, shape});
  return at;
}

//===- Items ---------------------------------------------------------------===//

std::string FunctionWriter::slice(const std::string &value, int64_t axis, const IndexExpr &start, const IndexExpr &end, const IndexExpr &step) {
  return add("Slice", {value, emitSize(start), emitSize(end), addInts({axis}), emitSize(step)});
}

/// Values of a * i + c: where a is negative, those in between are read upwards and then turned around.
void FunctionWriter::sliceItem(const AffineIndex &sum, const IndexExpr &low, size_t position, Labelled &at) {
  bool isBehind = is_contained(ArrayRef(at.labels).take_front(position), ellipsis);
  int64_t axis = static_cast<int64_t>(position) - (isBehind ? static_cast<int64_t>(at.labels.size()) : 0);
  IndexExpr start = sum.rest + low, one = number(1);
  if (sum.terms.empty()) {
    at.value = add("Squeeze", {slice(at.value, axis, start, start + one, one), addInts({axis})});
    at.labels.erase(at.labels.begin() + static_cast<int64_t>(position));
    return;
  }
  const AffineIndex::Term &term = sum.terms[0];
  IndexExpr extent = *findIndex(term.index).extent;
  if (term.isNegative()) {
    IndexExpr step = number(0) - term.factor, first = start - step * (extent - one);
    at.value = slice(at.value, axis, first, start + one, step);
    at.value = slice(at.value, axis, number(-1), number(INT64_MIN + 1), number(-1));
  } else {
    at.value = slice(at.value, axis, start, start + term.factor * extent, term.factor);
  }
  at.labels[position] = term.index;
}

void FunctionWriter::gatherItem(const Expr &read, size_t item, size_t position, Labelled &at, std::vector<Labelled> &masks) {
  bool isBehind = is_contained(ArrayRef(at.labels).take_front(position), ellipsis);
  int64_t axis = static_cast<int64_t>(position) - (isBehind ? static_cast<int64_t>(at.labels.size()) : 0);
  Labelled index = emitIndices(read.indices[item].expr);
  if (!read.otherwise.empty()) {
    std::string zero = addInts({0}), size = emitSize(IndexExpr::dim(read.tensor, axisOf(read.indices, item)));
    std::string inside = add("And", {add("GreaterOrEqual", {index.value, zero}), add("Less", {index.value, size})});
    masks.push_back({inside, index.labels});
    index.value = add("Max", {add("Min", {index.value, add("Sub", {size, addInts({1})})}), zero});
  }
  onnx::NodeProto *node = addNode("Gather", {at.value, index.value});
  setInt(node, "axis", axis);
  at.value = node->output(0);
  auto place = at.labels.erase(at.labels.begin() + static_cast<int64_t>(position));
  at.labels.insert(place, index.labels.begin(), index.labels.end());
}

void FunctionWriter::readItem(const Expr &read, size_t item, const IndexExpr &low, Labelled &at, std::vector<Labelled> &masks) {
  const IndexExpr &expr = read.indices[item].expr;
  size_t position = item;
  if (expr.kind == IndexExpr::Kind::Variable && isWhole(findIndex(expr.name))) {
    at.labels[position] = expr.name;
    return;
  }
  std::optional<AffineIndex> sum = asAffine(expr);
  if (sum && sum->terms.size() < 2)
    sliceItem(*sum, low, position, at);
  else
    gatherItem(read, item, position, at, masks);
}

std::string FunctionWriter::addBorder(const Expr &read, std::string value, Element type, std::vector<IndexExpr> &lows) {
  lows.assign(read.indices.size(), number(0));
  if (read.otherwise.empty())
    return value;
  SmallVector<std::string> before, after;
  std::vector<int64_t> axes;
  for (auto [i, item] : enumerate(read.indices)) {
    if (item.isEllipsis)
      continue;
    int64_t axis = axisOf(read.indices, i);
    // A Gather needs one element of an empty dimension, which its mask then replaces.
    IndexExpr first = number(0), last = number(0);
    if (std::optional<AffineIndex> sum = asAffine(item.expr); sum && sum->terms.size() < 2) {
      first = last = sum->rest;
      if (!sum->terms.empty()) {
        const AffineIndex::Term &term = sum->terms[0];
        IndexExpr &end = term.isNegative() ? first : last;
        end = end + term.factor * (*findIndex(term.index).extent - number(1));
      }
    }
    IndexExpr low = simplify(number(0) - first), high = simplify(last - IndexExpr::dim(read.tensor, axis) + number(1));
    for (IndexExpr *room : {&low, &high})
      *room = room->kind == IndexExpr::Kind::Number ? number(std::max<int64_t>(room->number, 0))
                                                    : IndexExpr::make(IndexExpr::Kind::Max, *room, number(0));
    if (low.isConstant(0) && high.isConstant(0))
      continue;
    lows[i] = low;
    before.push_back(emitSize(low));
    after.push_back(emitSize(high));
    axes.push_back(axis);
  }
  if (axes.empty())
    return value;
  before.append(after);
  onnx::NodeProto *pads = addNode("Concat", before);
  setInt(pads, "axis", 0);
  std::string amounts = pads->output(0), fill = emit({&definition, {}, nullptr, Element::Generic}, read.otherwise[0], type);
  return add("Pad", {value, amounts, fill, addInts(axes)});
}

std::string FunctionWriter::emitRead(const Expr &read, Element type) {
  std::vector<IndexExpr> lows;
  Labelled at{addBorder(read, tensors[read.tensor], type, lows), {}};
  place = read.place;
  for (const IndexItem &item : read.indices)
    at.labels.push_back(item.isEllipsis ? ellipsis.str() : unread.str());
  // From behind, so that an item is where it was written until it is read.
  std::vector<Labelled> masks;
  for (size_t item = read.indices.size(); item-- > 0;)
    if (!read.indices[item].isEllipsis)
      readItem(read, item, lows[item], at, masks);
  carried.insert(at.labels.begin(), at.labels.end());
  std::string value = align(at);
  for (const Labelled &mask : masks)
    value = add("Where", {align(mask), value, emit({&definition, {}, nullptr, Element::Generic}, read.otherwise[0], type)});
  return value;
}

//===- Dimensions ------------------------------------------------------------===//

/// Brings labels to the layout's order; a label that stands twice is a diagonal.
std::string FunctionWriter::permute(Labelled &at) {
  auto placeOf = [&](const std::string &label) { return find(layout, label) - layout.begin(); };
  std::vector<std::string> sorted = at.labels;
  llvm::sort(sorted, [&](const std::string &a, const std::string &b) { return placeOf(a) < placeOf(b); });
  sorted.erase(llvm::unique(sorted), sorted.end());
  if (sorted == at.labels)
    return at.value;
  bool isPermutation = sorted.size() == at.labels.size() && !is_contained(sorted, ellipsis);
  onnx::NodeProto *node = addNode(isPermutation ? "Transpose" : "Einsum", {at.value});
  onnx::AttributeProto *attribute = node->add_attribute();
  if (isPermutation) {
    attribute->set_name("perm");
    attribute->set_type(onnx::AttributeProto::INTS);
    for (const std::string &label : sorted)
      attribute->add_ints(find(at.labels, label) - at.labels.begin());
  } else {
    auto spell = [&](const std::vector<std::string> &labels) {
      std::string text;
      for (const std::string &label : labels)
        text += label == ellipsis ? label : std::string(1, letterOf(find(sorted, label) - sorted.begin()));
      return text;
    };
    attribute->set_name("equation");
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(spell(at.labels) + "->" + spell(sorted));
  }
  at.labels = sorted;
  return at.value = node->output(0);
}

/// The number of dimensions that `...` stands for.
std::string FunctionWriter::emitEllipsisRank() {
  std::string rank = add("Shape", {add("Shape", {ellipsisTensor})});
  return add("Sub", {rank, addInts({ellipsisFront + ellipsisBack})});
}

/// A tensor without `...` that has dimensions before those: as many dimensions of 1 come in between.
std::string FunctionWriter::insertDims(const Labelled &at) {
  std::string &ones = known["ones"];
  if (ones.empty()) {
    std::string rank = emitEllipsisRank();
    onnx::NodeProto *node = addNode("Expand", {addInts({1}), rank});
    ones = node->output(0);
  }
  SmallVector<std::string> parts;
  for (const std::string &label : layout) {
    bool isMissing = !is_contained(at.labels, label);
    parts.push_back(label == ellipsis ? ones : isMissing ? addInts({1}) : emitSize(*findIndex(label).extent));
  }
  onnx::NodeProto *shape = addNode("Concat", parts);
  setInt(shape, "axis", 0);
  std::string dims = shape->output(0);
  return add("Reshape", {at.value, dims});
}

std::string FunctionWriter::align(Labelled at) {
  permute(at);
  auto openPlace = find(layout, ellipsis);
  bool isOpen = openPlace != layout.end(), hasOpen = is_contained(at.labels, ellipsis);
  bool hasFront = any_of(ArrayRef(at.labels), [&](const std::string &label) { return find(layout, label) < openPlace; });
  if (isOpen && !hasOpen && hasFront)
    return insertDims(at);
  // Dimensions that are missing in front need no node: values broadcast from behind.
  std::vector<int64_t> axes;
  auto first = find_if(layout, [&](const std::string &label) { return is_contained(at.labels, label); });
  for (auto label = first; label != layout.end(); ++label)
    if (!is_contained(at.labels, *label))
      axes.push_back(label < openPlace ? label - first : label - layout.end());
  if (axes.empty())
    return at.value;
  return add("Unsqueeze", {at.value, addInts(axes)});
}

/// The whole shape, for values that lack an index.
std::string FunctionWriter::emitFullShape() {
  SmallVector<std::string> parts;
  for (const std::string &label : layout) {
    if (label != ellipsis) {
      parts.push_back(emitSize(*findIndex(label).extent));
      continue;
    }
    onnx::NodeProto *node = addNode("Shape", {ellipsisTensor});
    setInt(node, "start", ellipsisFront);
    if (ellipsisBack)
      setInt(node, "end", -ellipsisBack);
    parts.push_back(node->output(0));
  }
  if (parts.empty())
    return addInts({});
  onnx::NodeProto *shape = addNode("Concat", parts);
  setInt(shape, "axis", 0);
  return shape->output(0);
}

//===- Products --------------------------------------------------------------===//

/// y[i, j] += a[i, k] * b[k, j]: kernels for products read each element of a tile once, where a sum of broadcast products reads it for each result.
std::string FunctionWriter::emitProduct() {
  const Expr &body = definition.body;
  if (definition.reduction != Reduction::Sum || body.kind != Expr::Kind::Builtin || body.name != "*" || definition.findEllipsis())
    return "";
  std::string equation;
  SmallVector<std::string> values;
  std::set<std::string> seen;
  for (const Expr &factor : body.operands) {
    if (factor.kind != Expr::Kind::Read)
      return "";
    for (const IndexItem &item : factor.indices) {
      if (item.expr.kind != IndexExpr::Kind::Variable || !isWhole(findIndex(item.expr.name)))
        return "";
      equation += letterOf(find(layout, item.expr.name) - layout.begin());
      seen.insert(item.expr.name);
    }
    equation += values.empty() ? "," : "->";
    values.push_back(tensors[factor.tensor]);
  }
  if (seen.size() != layout.size() || layout.size() > mostLetters)
    return "";
  for (size_t i = 0; i < definition.indices.size(); ++i)
    equation += letterOf(i);
  place = body.place;
  onnx::NodeProto *node = addNode("Einsum", values);
  onnx::AttributeProto *attribute = node->add_attribute();
  attribute->set_name("equation");
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(equation);
  return node->output(0);
}

} // namespace kiln::definitions
