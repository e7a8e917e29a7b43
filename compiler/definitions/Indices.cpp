//===- Indices.cpp - Ranks of tensors and sizes of indices ------------------===//
//
//   pooled(x)[n, t] max= x[n, 2 * t + k] for k < 3
//
// n has the size of dim(x, 0), which it alone indexes; k has the given one; t has as many values as keep 2 * t + k inside: (dim(x, 1) - 1 - 2 + 2) // 2.
//
//===----------------------------------------------------------------------===//
#include "compiler/definitions/Checker.h"
#include "compiler/definitions/Sizes.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln::definitions {

void forEachRead(const Expr &expr, function_ref<void(const Expr &)> visit) {
  if (expr.kind == Expr::Kind::Read)
    return visit(expr);
  for (const Expr &operand : expr.operands)
    forEachRead(operand, visit);
}

int64_t axisOf(const std::vector<IndexItem> &items, size_t i) {
  bool isBehind = any_of(ArrayRef(items).take_front(i), [](const IndexItem &item) { return item.isEllipsis; });
  return static_cast<int64_t>(i) - (isBehind ? static_cast<int64_t>(items.size()) : 0);
}

std::vector<Access> listAccesses(const Definition &definition) {
  std::vector<Access> accesses;
  forEachRead(definition.body, [&](const Expr &read) {
    for (auto [i, item] : enumerate(read.indices))
      if (!item.isEllipsis)
        accesses.push_back({read.tensor, axisOf(read.indices, i), &item.expr, !read.otherwise.empty()});
  });
  return accesses;
}

void collectVariables(const IndexExpr &expr, std::vector<std::string> &names) {
  if (expr.kind == IndexExpr::Kind::Variable && !is_contained(names, expr.name))
    names.push_back(expr.name);
  for (const IndexExpr &operand : expr.operands)
    collectVariables(operand, names);
}

//===- Names ---------------------------------------------------------------===//

bool Checker::resolveNames(IndexExpr &expr, bool allowsIndices) {
  if (expr.kind == IndexExpr::Kind::Dim && !definition.findParameter(expr.name))
    return error(expr.place, "'" + expr.name + "' is no parameter");
  if (expr.kind == IndexExpr::Kind::Variable) {
    if (const Attribute *attribute = definition.findAttribute(expr.name)) {
      expr.kind = IndexExpr::Kind::Attribute;
      return attribute->value.isInteger || error(expr.place, "attribute '" + expr.name + "' is a real number, expected an integer");
    }
    if (definition.findParameter(expr.name))
      return error(expr.place, "'" + expr.name + "' is a tensor, expected an index");
    if (!allowsIndices)
      return error(expr.place, "'" + expr.name + "' is no attribute; a size consists of attributes, sizes of parameters and numbers");
    if (!isIndex(expr.name) && definition.reduction == Reduction::None)
      return error(expr.place, "'" + expr.name + "' is no index of the result; a sum over it is written with +=");
    if (!isIndex(expr.name))
      definition.reduced.push_back({expr.name, expr.place, false, std::nullopt});
  }
  if (!all_of(expr.operands, [&](IndexExpr &operand) { return resolveNames(operand, allowsIndices); }))
    return false;
  if (expr.kind != IndexExpr::Kind::FloorDiv && expr.kind != IndexExpr::Kind::Mod)
    return true;
  std::vector<std::string> names;
  collectVariables(expr, names);
  // Sizes would otherwise be none that are known when the model is compiled.
  return !names.empty() || expr.operands[1].kind == IndexExpr::Kind::Number ||
         error(expr.operands[1].place, "expected a number as the divisor of a size");
}

bool Checker::resolveReads(Expr &expr) {
  for (IndexItem &item : expr.indices)
    if (!item.isEllipsis && !resolveNames(item.expr, true))
      return false;
  return all_of(expr.operands, [&](Expr &operand) { return resolveReads(operand); });
}

bool Checker::collectIndices() {
  for (std::vector<Index> *list : {&definition.indices, &definition.reduced})
    for (Index &index : *list) {
      auto isSameName = [&](const Index &other) { return &other != &index && !index.isEllipsis && other.name == index.name; };
      if (any_of(definition.indices, isSameName) || any_of(definition.reduced, isSameName))
        return error(index.place, "index '" + index.name + "' stands twice");
      if (definition.findParameter(index.name) || definition.findAttribute(index.name))
        return error(index.place, "'" + index.name + "' is a parameter, expected an index");
      if (index.extent && !resolveNames(*index.extent, false))
        return false;
    }
  if (!definition.reduced.empty() && definition.reduction == Reduction::None)
    return error(definition.reduced[0].place, "'for' gives the size of an index that is reduced over, and '=' reduces over none");
  if (!resolveReads(definition.body))
    return false;
  return definition.reduction == Reduction::None || !definition.reduced.empty() ||
         error(definition.body.place, "the right side has no index to reduce over; all of its indices are those of the result");
}

//===- Ranks ---------------------------------------------------------------===//

static std::string describeRank(int64_t rank, bool isOpen) { return (isOpen ? "at least " : "") + std::to_string(rank) + " dimensions"; }

bool Checker::noteRank(StringRef tensor, int64_t rank, bool isOpen, Place place) {
  auto &parameter = const_cast<Parameter &>(*definition.findParameter(tensor));
  bool isFirst = parameter.rank < 0;
  bool fits = isFirst || (isOpen || parameter.isOpen ? true : rank == parameter.rank);
  // A closed rank is the rank; an open one is a lower bound.
  if (!isFirst && isOpen != parameter.isOpen)
    fits = isOpen ? rank <= parameter.rank : parameter.rank <= rank;
  if (!fits)
    return error(place, "'" + tensor + "' has " + describeRank(rank, isOpen) + " here, and " + describeRank(parameter.rank, parameter.isOpen) + " before");
  if (isFirst || (!isOpen && parameter.isOpen) || (isOpen && parameter.isOpen && rank > parameter.rank)) {
    parameter.rank = rank;
    parameter.isOpen = isOpen;
  }
  return true;
}

bool Checker::noteCallRanks(const Expr &call) {
  for (auto [parameter, operand] : zip_equal(call.callee->parameters, call.operands)) {
    if (operand.kind == Expr::Kind::Call) {
      if (!noteCallRanks(operand))
        return false;
    } else if (!noteRank(operand.name, parameter.rank, parameter.isOpen, operand.place)) {
      return false;
    }
  }
  return true;
}

bool Checker::checkRanks() {
  bool isRight = true, isOpenRead = false;
  forEachRead(definition.body, [&](const Expr &read) {
    if (!isRight)
      return;
    bool isOpen = any_of(read.indices, [](const IndexItem &item) { return item.isEllipsis; });
    auto names = static_cast<int64_t>(read.indices.size()) - isOpen;
    isOpenRead |= isOpen;
    if (isOpen && !definition.findEllipsis()) {
      isRight = error(read.place, "'...' is not among the indices of the result");
    } else if (read.operands.empty()) {
      isRight = noteRank(read.name, names, isOpen, read.place);
    } else {
      const Definition &callee = *read.operands[0].callee;
      bool isOpenResult = callee.findEllipsis().has_value();
      auto rank = static_cast<int64_t>(callee.indices.size()) - isOpenResult;
      isRight = noteCallRanks(read.operands[0]);
      if (isRight && !(isOpenResult ? isOpen || names >= rank : isOpen ? names <= rank : names == rank))
        isRight = error(read.place, "'" + read.name + "' has " + describeRank(names, isOpen) + " here, and its result has " + describeRank(rank, isOpenResult));
    }
  });
  if (!isRight)
    return false;
  for (const Parameter &parameter : definition.parameters)
    if (parameter.rank < 0)
      return error(parameter.place, "parameter '" + parameter.name + "' is not used");
  if (std::optional<size_t> ellipsis = definition.findEllipsis(); ellipsis && !isOpenRead)
    return error(definition.indices[*ellipsis].place, "nothing gives the dimensions of '...': no tensor is read with it");
  return true;
}

//===- Sizes ---------------------------------------------------------------===//

static size_t countParts(const IndexExpr &expr) {
  size_t count = 1;
  for (const IndexExpr &operand : expr.operands)
    count += countParts(operand);
  return count;
}

namespace {
/// Finds the sizes of indices one after the other.
class SizeSolver {
public:
  explicit SizeSolver(Definition &definition) : definition(definition), accesses(listAccesses(definition)) {}

  /// False, with the index in `open`, if nothing gives the size of an index, or if its size would be an expression that is too long.
  bool solve(const Index *&open) {
    forEachIndex([&](Index &index) { solveDirect(index); });
    for (bool isNew = true; isNew && !tooLong;) {
      isNew = false;
      forEachIndex([&](Index &index) { isNew |= !tooLong && !index.extent && solveAffine(index); });
    }
    if (tooLong) {
      open = tooLong;
      return false;
    }
    open = nullptr;
    forEachIndex([&](Index &index) { open = open || index.extent ? open : &index; });
    return !open;
  }

private:
  void forEachIndex(function_ref<void(Index &)> visit) {
    for (std::vector<Index> *list : {&definition.indices, &definition.reduced})
      for (Index &index : *list)
        if (!index.isEllipsis)
          visit(index);
  }

  const IndexExpr *sizeOf(StringRef name) {
    const IndexExpr *size = nullptr;
    forEachIndex([&](Index &index) { size = index.name == name && index.extent ? &*index.extent : size; });
    return size;
  }

  /// x[i] gives dim(x, 0), and with x[i + 1] one less.
  void solveDirect(Index &index) {
    if (index.extent)
      return;
    const Access *direct = nullptr;
    for (const Access &access : accesses)
      if (!direct && access.expr->kind == IndexExpr::Kind::Variable && access.expr->name == index.name)
        direct = &access;
    if (!direct)
      return;
    int64_t most = 0;
    for (const Access &access : accesses) {
      std::optional<AffineIndex> sum = asAffine(*access.expr);
      bool isShift = sum && sum->terms.size() == 1 && sum->terms[0].index == index.name && sum->terms[0].factor.isConstant(1);
      if (isShift && !access.hasOtherwise && access.tensor == direct->tensor && access.axis == direct->axis && sum->rest.kind == IndexExpr::Kind::Number)
        most = std::max(most, sum->rest.number);
    }
    index.extent = IndexExpr::dim(direct->tensor, direct->axis, index.place) - number(most);
  }

  /// The largest size with which a * i + (others) + c stays inside, where the sizes of all others are known.
  bool solveAffine(Index &index) {
    for (const Access &access : accesses) {
      std::optional<AffineIndex> sum = asAffine(*access.expr);
      const AffineIndex::Term *own = sum ? sum->find(index.name) : nullptr;
      if (!own)
        continue;
      IndexExpr dim = IndexExpr::dim(access.tensor, access.axis, index.place);
      IndexExpr factor = own->isNegative() ? number(0) - own->factor : own->factor;
      if (access.hasOtherwise) {
        index.extent = factor.isConstant(1) ? dim : floorDivide(simplify(dim - number(1) + factor), factor);
        return true;
      }
      // Where the index goes up, the others are as large as they can be; where it goes down, as small.
      IndexExpr room = own->isNegative() ? sum->rest : dim - number(1) - sum->rest;
      bool isKnown = true;
      for (const AffineIndex::Term &term : sum->terms) {
        if (term.index == index.name)
          continue;
        const IndexExpr *size = sizeOf(term.index);
        isKnown &= size != nullptr;
        if (!size)
          break;
        if (own->isNegative() == term.isNegative())
          room = own->isNegative() ? room + term.factor * (*size - number(1)) : room - term.factor * (*size - number(1));
      }
      if (!isKnown)
        continue;
      index.extent = simplify(floorDivide(simplify(room + factor), factor));
      // Each size has those before it in it, maybe twice.
      tooLong = countParts(*index.extent) > mostParts ? &index : nullptr;
      return true;
    }
    return false;
  }

  static constexpr size_t mostParts = 4096;

  Definition &definition;
  std::vector<Access> accesses;
  const Index *tooLong = nullptr;
};
} // namespace

bool Checker::solveSizes() {
  const Index *open = nullptr;
  if (SizeSolver(definition).solve(open))
    return true;
  if (open->extent)
    return error(open->place, "the size of index '" + open->name + "' follows from those of too many others; write it, as in " + open->name + " < dim(x, 0)");
  bool isOfResult = any_of(definition.indices, [&](const Index &index) { return index.name == open->name; });
  return error(open->place, "nothing gives the size of index '" + open->name + "'; write it, as in " +
                                (isOfResult ? "[" + open->name + " < dim(x, 0)]" : "for " + open->name + " < dim(x, 0)"));
}

} // namespace kiln::definitions
