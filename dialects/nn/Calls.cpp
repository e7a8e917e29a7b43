//===- Calls.cpp - Transforms, conversions of strings ------------------------===//
#include "dialects/nn/FullTrees.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Fourier.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/Verify.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

static Attribute number(Operation *op, int64_t value) { return Builder(op->getContext()).getI64IntegerAttr(value); }
static ArrayAttr list(Operation *op, ArrayRef<Attribute> literals) { return Builder(op->getContext()).getArrayAttr(literals); }

//===- Calls ---------------------------------------------------------------===//

StringRef FourierOp::getFunction() { return "kiln::fourier_rows"; }
ArrayAttr FourierOp::getLiterals() {
  RankedTensorType in = getInput().getType(), out = getType();
  unsigned last = in.getRank() - 1;
  FourierPlan plan = FourierPlan::of(*this);
  auto size = [&](RankedTensorType type, unsigned dim) { return number(*this, type.getDimSize(dim)); };
  return list(*this, {getLengthAttr(), size(in, last - 1), size(in, last), size(out, last - 1), size(out, last), number(*this, getInverse()),
                      number(*this, plan.packs), number(*this, plan.padded), Builder(getContext()).getDenseI32ArrayAttr(plan.factors)});
}

StringRef Col2ImOp::getFunction() { return "kiln::col2im"; }
/// Six numbers for each of three dimensions, of which the first ones may have one element.
ArrayAttr Col2ImOp::getLiterals() {
  size_t spatial = getBlock().size();
  SmallVector<int32_t> table;
  for (size_t missing = spatial; missing < 3; ++missing)
    table.append({1, 1, 1, 1, 1, 0});
  for (size_t i = 0; i < spatial; ++i)
    for (int64_t value : {getType().getDimSize(2 + i), countBlocks(i), getBlock()[i], getStrides()[i], getDilations()[i], getPads()[i]})
      table.push_back(static_cast<int32_t>(value));
  return list(*this, {Builder(getContext()).getDenseI32ArrayAttr(table)});
}

int64_t Col2ImOp::countBlocks(size_t dim) {
  ArrayRef<int64_t> pads = getPads();
  int64_t room = getType().getDimSize(2 + dim) + pads[dim] + pads[getBlock().size() + dim] - getDilations()[dim] * (getBlock()[dim] - 1) - 1;
  return room < 0 ? 0 : room / getStrides()[dim] + 1;
}

StringRef StringParseOp::getFunction() { return "kiln::decimal_parse"; }
bool StringParseOp::isElementwise() { return true; }
bool StringParseOp::reportsFaults() { return true; }
ArrayAttr StringParseOp::getLiterals() { return list(*this, {}); }

StringRef StringPrintOp::getFunction() { return "kiln::decimal_print"; }
bool StringPrintOp::reportsFaults() { return true; }
ArrayAttr StringPrintOp::getLiterals() { return list(*this, {getRoomAttr(), getEachAttr()}); }

StringRef StringHashOp::getFunction() { return "kiln::string_hash"; }
bool StringHashOp::isElementwise() { return true; }
ArrayAttr StringHashOp::getLiterals() { return list(*this, {getSeedAttr()}); }

StringRef CouplePairsOp::getFunction() { return "kiln::couple_pairs"; }
ArrayAttr CouplePairsOp::getLiterals() { return list(*this, {number(*this, getResult().getType().getDimSize(1))}); }

StringRef StringOrderOp::getFunction() { return "kiln::string_order"; }
ArrayAttr StringOrderOp::getLiterals() { return list(*this, {}); }

//===- Verifiers -----------------------------------------------------------===//

static LogicalResult verifySameShape(Operation *op, Value input, Value result, StringRef what) {
  return verifyDims(op, result.getType(), getDims(input.getType()), what);
}

LogicalResult Col2ImOp::verify() {
  RankedTensorType in = getInput().getType(), out = getType();
  size_t spatial = getBlock().size();
  if (in.getRank() != 3 || spatial < 1 || spatial > 3 || out.getRank() != static_cast<int64_t>(spatial) + 2 || in.getElementType() != out.getElementType())
    return emitOpError("expects an input of rank 3, and a result like it with one to three dimensions of an image");
  if (getStrides().size() != spatial || getDilations().size() != spatial || getPads().size() != 2 * spatial)
    return emitOpError("expects as many strides and dilations as a block has dimensions, and twice as many pads");
  auto fits = [](int64_t value, int64_t least) { return value >= least && value <= INT32_MAX; };
  int64_t size = 1, blocks = 1;
  for (size_t i = 0; i < spatial; ++i) {
    if (!fits(getBlock()[i], 1) || !fits(getStrides()[i], 1) || !fits(getDilations()[i], 1) || !fits(out.getDimSize(2 + i), 0) ||
        !fits(getPads()[i], INT32_MIN) || !fits(getPads()[spatial + i], INT32_MIN))
      return emitOpError("expects an image of known size, and positive blocks, strides and dilations");
    if (llvm::MulOverflow(size, getBlock()[i], size) || llvm::MulOverflow(blocks, countBlocks(i), blocks))
      return emitOpError("has more blocks, or elements in one, than fit 64 bits");
  }
  DimExprs dims = getDims(out);
  return verifyDims(*this, in, {dims[0], simplifyDim(dims[1] * size), getAffineConstantExpr(blocks, getContext())}, "the input");
}

LogicalResult DistancesOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), out = getType();
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || lhs.getElementType() != out.getElementType() || rhs.getElementType() != out.getElementType())
    return emitOpError("expects matrices of one type");
  DimExprs left = getDims(lhs), right = getDims(rhs);
  if (failed(verifyDims(*this, rhs, {right[0], left[1]}, "the right side")))
    return failure();
  return verifyDims(*this, out, {left[0], right[0]}, "the result");
}

LogicalResult FourierOp::verify() {
  RankedTensorType in = getInput().getType(), out = getType(), table = getTable().getType();
  if (in.getRank() < 2 || out.getRank() != in.getRank() || in.getElementType() != out.getElementType() || in.getElementType() != table.getElementType())
    return emitOpError("expects an input of rank 2 or more, and a table and a result like it");
  unsigned last = in.getRank() - 1;
  auto fits = [&](RankedTensorType type) {
    int64_t points = type.getDimSize(last - 1), parts = type.getDimSize(last);
    return points >= 1 && points <= static_cast<int64_t>(getLength()) && (parts == 1 || parts == 2);
  };
  if (!fits(in) || !fits(out))
    return emitOpError("expects 1 to ") << getLength() << " points of one or two parts";
  if (out.getDimSize(last) == 1 && !getInverse())
    return emitOpError("is inverse where the result is of real numbers");
  if (table.getRank() != 1 || table.getDimSize(0) != FourierPlan::of(*this).tableSize())
    return emitOpError("has a table of ") << table << ", expected " << FourierPlan::of(*this).tableSize() << " elements";
  DimExprs want = getDims(in), have = getDims(out);
  std::copy(have.end() - 2, have.end(), want.end() - 2);
  return verifyDims(*this, out, want, "the result");
}

LogicalResult TreeEnsembleOp::verify() {
  RankedTensorType in = getInput().getType(), out = getType(), nodes = getNodes().getType(), trees = getTrees().getType();
  if (in.getRank() != 2 || out.getRank() != 3 || in.getElementType() != out.getElementType() || in.getElementType() != getWeights().getType().getElementType())
    return emitOpError("expects an input of rank 2, and weights and a result of rank 3 like it");
  for (RankedTensorType table : {nodes, trees, getLeaves().getType(), getWeights().getType()})
    if (table.getRank() != 1 || !table.hasStaticShape())
      return emitOpError("has a table of ") << table << ", expected one dimension of known size";
  auto within = [](uint64_t value, uint64_t low, uint64_t high) { return low <= value && value <= high; };
  if (!within(getWords(), 1, 3) || !within(getMissing(), 0, 2) || !within(getBlock(), 1, 1 << 20) || !within(getWidth(), 1, 1 << 30) ||
      (getWords() == 1 && !in.getElementType().isF32()) || (getLeast() && getLargest()) || (getStrict() && getWords() != 2))
    return emitOpError("expects 1 to 3 words, missing 0 to 2, positive block and width, and the least or the largest");
  if (nodes.getNumElements() % getWords() || trees.getNumElements() % 4 || trees.getNumElements() == 0 || out.isDynamicDim(2))
    return emitOpError("expects whole nodes, four numbers for each tree, and a known number of targets");
  if (auto levels = getLevels()) {
    if (!within(*levels, leastFullLevels, mostFullLevels) || getWords() != 1 || getBlock() % fullStreams)
      return emitOpError("expects ") << leastFullLevels << " to " << mostFullLevels << " levels of nodes of one word, and a multiple of " << fullStreams
                                     << " trees in a block";
    if (int64_t want = countFullWords(trees.getNumElements() / 4, *levels, getHoldsLeaves()); nodes.getNumElements() != want)
      return emitOpError("has ") << nodes.getNumElements() << " words of nodes, expected " << want;
  }
  if (getHoldsLeaves() && (!getLevels() || getListed() || getLeast() || getLargest()))
    return emitOpError("expects sums and levels where nodes hold leaves");
  int64_t blocks = llvm::divideCeil(trees.getNumElements() / 4, getBlock());
  return verifyDims(*this, out, {getDims(in)[0], getAffineConstantExpr(blocks, getContext()), getDims(out)[2]}, "the result");
}

LogicalResult StringParseOp::verify() { return verifySameShape(*this, getInput(), getResult(), "the result"); }

LogicalResult StringPrintOp::verify() {
  if (int64_t least = std::min<int64_t>(getRoom(), getEach()); least < 0)
    return emitOpError("has room for ") << least << " elements";
  if (failed(verifyDims(*this, getCount().getType(), getAffineConstantExpr(1, getContext()), "the count")) ||
      failed(verifySameShape(*this, getInput(), getResult(), "the result")))
    return failure();
  return verifyDims(*this, getBytes().getType(), getAffineSymbolExpr(getCounts(), getContext()), "the bytes");
}

LogicalResult StringHashOp::verify() { return verifySameShape(*this, getInput(), getResult(), "the result"); }

LogicalResult CouplePairsOp::verify() {
  RankedTensorType pairs = getPairs().getType(), result = getResult().getType();
  if (pairs.getRank() != 2 || result.getRank() != 2 || result.isDynamicDim(1) || result.getDimSize(1) < 2)
    return emitOpError("expects pairs and a result of rank 2, and a known number of classes, at least 2");
  int64_t classes = result.getDimSize(1);
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, getContext()); };
  AffineExpr rows = getDims(pairs)[0];
  if (failed(verifyDims(*this, pairs, {rows, constant(classes * (classes - 1) / 2)}, "the pairs")) ||
      failed(verifyDims(*this, result, {rows, constant(classes)}, "the result")))
    return failure();
  return verifyDims(*this, getScratch().getType(), {constant(2), constant(classes)}, "the scratch");
}

LogicalResult StringOrderOp::verify() {
  if (failed(verifySameShape(*this, getInput(), getResult(), "the result")))
    return failure();
  return verifySameShape(*this, getInput(), getPlaces(), "the places");
}

LogicalResult ExternCallOp::verify() {
  StringRef name = getFunction();
  bool isName = !name.empty() && !llvm::isDigit(name[0]) && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isName)
    return emitOpError("names the function '") << name << "', which is no name in C";
  if (getNumResults() == 0)
    return emitOpError("has no result");
  return success();
}
