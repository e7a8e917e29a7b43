//===- Wishes.cpp - What the user says of how tensors are cut ---------------===//
#include "passes/ranks/Wishes.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/ranks/CutOptions.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

static bool matches(StringRef pattern, StringRef name) {
  auto [head, tail] = pattern.split('*');
  if (!pattern.contains('*'))
    return name == pattern;
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

/// The names of the ONNX nodes behind an operation, `name(Operator)`, without the operators.
static SmallVector<StringRef> listNodes(Operation *op) {
  SmallVector<StringRef> names;
  op->getLoc()->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.push_back(name.getName().strref().rsplit('(').first);
    return WalkResult::advance();
  });
  return names;
}

LogicalResult RankWishes::parse(func::FuncOp function, const Grid &grid, StringRef text) {
  auto fail = [&](const Twine &reason) { return function.emitError() << "--shard=" << text << ": " << reason; };
  auto [pattern, dims] = text.rsplit('=');
  if (pattern.empty() || dims.empty() || pattern.count('*') > 1)
    return fail("expected NAME=DIM, or NAME=DIM,DIM for a grid of two axes, with at most one * in the name");
  Wish wish = {pattern.trim().str(), text.str(), {}, false};
  SmallVector<StringRef> words;
  dims.split(words, ',');
  for (StringRef word : words) {
    int dim = whole;
    if (word.trim() != "-" && (word.trim().getAsInteger(10, dim) || dim < 0))
      return fail("'" + word.trim() + "' is no dimension");
    wish.cut.push_back(dim);
  }
  if (wish.cut.size() != grid.shape.size())
    return fail("the grid has " + Twine(grid.shape.size()) + (grid.shape.size() == 1 ? " axis" : " axes") + ", and the wish " + Twine(wish.cut.size()));
  wishes.push_back(std::move(wish));
  return success();
}

/// Whether a tensor can be cut so, into equal parts.
static bool isCuttable(Type type, const Cut &cut, const Grid &grid) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  for (unsigned axis = 0; axis < cut.size(); ++axis) {
    if (cut[axis] == whole)
      continue;
    // Strings lie in the memory of their rank.
    if (!tensor || cut[axis] >= tensor.getRank() || nn::isString(tensor.getElementType()))
      return false;
    int64_t size = sizeOfPart(tensor, cut[axis], cut, grid, axis);
    if (size <= 0 || size % grid.shape[axis] != 0)
      return false;
  }
  return true;
}

/// Whether values inside are results, too. Functions are then taken apart, so what they were called is no node.
static bool isObserved(func::FuncOp function) {
  return llvm::any_of(llvm::seq<unsigned>(0, function.getNumResults()),
                      [&](unsigned i) { return function.getResultAttrOfType<StringAttr>(i, nn::nodeAttrName) != nullptr; });
}

LogicalResult RankWishes::apply(func::FuncOp function, const Grid &grid) {
  for (Wish &wish : wishes) {
    auto refuse = [&](StringRef what, StringRef name, Type type) {
      return function.emitError() << "--shard=" << wish.text << ": " << what << " '" << name << "' of type " << type << " has no such equal parts";
    };
    auto applyTo = [&](std::vector<Cut> &cuts, unsigned i, StringAttr name, StringRef what, Type type) -> LogicalResult {
      if (!name || !matches(wish.pattern, name))
        return success();
      if (!isCuttable(type, wish.cut, grid))
        return refuse(what, name, type);
      cuts[i] = wish.cut;
      wish.used = true;
      return success();
    };
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto name = function.getArgAttrOfType<StringAttr>(i, nn::nameAttrName);
      if (failed(applyTo(arguments, i, name, "input", type)))
        return failure();
    }
    for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
      auto name = function.getResultAttrOfType<StringAttr>(i, nn::nameAttrName);
      if (failed(applyTo(results, i, name, "output", type)))
        return failure();
    }
    llvm::MapVector<StringRef, SmallVector<Operation *>> found;
    for (Operation &op : function.front())
      if (op.getNumResults() > 0 && !isAnyPart(op.getResult(0)))
        for (StringRef name : listNodes(&op))
          if (matches(wish.pattern, name))
            found[name].push_back(&op);
    for (auto &[name, ops] : found) {
      // The last one has the node's result. What is as large before it goes the same way.
      auto type = cast<ShapedType>(ops.back()->getResult(0).getType());
      if (!isCuttable(type, wish.cut, grid))
        return refuse("node", name, type);
      for (Operation *op : ops)
        if (cast<ShapedType>(op->getResult(0).getType()).getShape() == type.getShape())
          nodes[op] = wish.cut;
      wish.used = true;
    }
    if (!wish.used && !isObserved(function))
      return function.emitError() << "--shard=" << wish.text << ": the model has no input, output or node '" << wish.pattern
                                  << "'; nodes that are constant, unused or without effect are folded before the cut";
  }
  return success();
}

void RankWishes::cutCaches(func::FuncOp function, const Grid &grid) {
  auto pairs = function->getParentOfType<ModuleOp>()->getAttrOfType<DenseI64ArrayAttr>(nn::askedInPlaceAttrName);
  if (!pairs)
    return;
  for (int64_t i = 0; i + 1 < pairs.size(); i += 2) {
    int64_t input = pairs[i], output = pairs[i + 1];
    // The last axis has the most exchange, which heads need none of.
    Cut heads(grid.shape.size(), whole);
    heads.back() = 1;
    for (Type type : {function.getArgument(input).getType(), function.getResultTypes()[output]})
      if (cast<RankedTensorType>(type).getRank() != 4 || !isCuttable(type, heads, grid))
        heads.back() = whole;
    arguments[input] = results[output] = heads;
  }
}

FailureOr<RankWishes> RankWishes::read(func::FuncOp function, const Grid &grid, ArrayRef<std::string> texts) {
  RankWishes all;
  all.arguments.assign(function.getNumArguments(), Cut(grid.shape.size(), whole));
  all.results.assign(function.getNumResults(), Cut(grid.shape.size(), whole));
  all.cutCaches(function, grid);
  for (StringRef text : texts)
    if (failed(all.parse(function, grid, text)))
      return failure();
  if (failed(all.apply(function, grid)))
    return failure();
  return all;
}

bool RankWishes::allow(Operation *op, unsigned axis, ArrayRef<int> results) const {
  auto node = nodes.find(op);
  return node == nodes.end() || results.front() == node->second[axis];
}

} // namespace kiln
