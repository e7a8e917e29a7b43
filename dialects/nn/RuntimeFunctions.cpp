//===- RuntimeFunctions.cpp - Random numbers, strings and pictures ------------===//
#include "dialects/kernel/KeySlots.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNRuntimeOps.h"
#include "dialects/nn/Regex.h"
#include "dialects/nn/Verify.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

static Attribute number(Operation *op, int64_t value) { return Builder(op->getContext()).getI64IntegerAttr(value); }
static ArrayAttr list(Operation *op, ArrayRef<Attribute> literals) { return Builder(op->getContext()).getArrayAttr(literals); }

/// The slots in which kiln::find_key finds these keys.
static Attribute slots(ArrayAttr keys, bool caseSensitive) {
  auto texts = llvm::map_to_vector(keys.getAsRange<StringAttr>(), [](StringAttr key) { return key.getValue(); });
  return Builder(keys.getContext()).getDenseI32ArrayAttr(kernel::makeKeySlots(texts, caseSensitive));
}

//===- Calls ---------------------------------------------------------------===//

StringRef RandomOp::getFunction() { return getDistribution() == Distribution::Uniform ? "kiln::random_uniform" : "kiln::random_normal"; }
ArrayAttr RandomOp::getLiterals() { return list(*this, {getSeedAttr(), getFirstAttr(), getSecondAttr()}); }

StringRef StringsOp::getFunction() { return "kiln::string_fill"; }
ArrayAttr StringsOp::getLiterals() { return list(*this, {getValuesAttr()}); }

StringRef StringEqualOp::getFunction() { return "kiln::string_equal"; }
ArrayAttr StringEqualOp::getLiterals() { return list(*this, {}); }
bool StringEqualOp::isElementwise() { return true; }

StringRef StringFindOp::getFunction() { return "kiln::string_find"; }
bool StringFindOp::isElementwise() { return true; }
/// The keys, the slots of their hashes, and the value for unknown strings.
ArrayAttr StringFindOp::getLiterals() {
  return list(*this, {getKeysAttr(), slots(getKeys(), /*caseSensitive=*/true), number(*this, getKeys().size())});
}

StringRef StringMatchOp::getFunction() { return "kiln::string_match"; }
bool StringMatchOp::isElementwise() { return true; }
ArrayAttr StringMatchOp::getLiterals() {
  std::string reason;
  auto automaton = compileRegex(getPattern(), reason);
  assert(automaton && "the verifier has compiled it");
  Builder b(getContext());
  return list(*this, {b.getDenseI32ArrayAttr(automaton->classes), b.getDenseI32ArrayAttr(automaton->next), number(*this, automaton->width)});
}

StringRef StringConcatOp::getFunction() { return "kiln::string_concat"; }
bool StringConcatOp::reportsFaults() { return true; }
ArrayAttr StringConcatOp::getLiterals() { return list(*this, {getRoomAttr(), getEachAttr()}); }

StringRef StringCaseOp::getFunction() { return "kiln::string_case"; }
bool StringCaseOp::reportsFaults() { return true; }
ArrayAttr StringCaseOp::getLiterals() { return list(*this, {getRoomAttr(), getEachAttr(), number(*this, getUpper())}); }

StringRef StringFilterOp::getFunction() { return "kiln::string_filter"; }
ArrayAttr StringFilterOp::getLiterals() {
  return list(*this, {getStopWordsAttr(), slots(getStopWords(), getCaseSensitive()), number(*this, getCaseSensitive())});
}

StringRef StringSplitOp::getFunction() { return "kiln::string_split"; }
bool StringSplitOp::reportsFaults() { return true; }
ArrayAttr StringSplitOp::getLiterals() { return list(*this, {getRoomAttr(), getSplitsAttr(), getDelimiterAttr()}); }

StringRef StringTokenizeOp::getFunction() { return "kiln::token_rows"; }
bool StringTokenizeOp::reportsFaults() { return true; }
/// The tables of all patterns behind each other, with the start and width of each.
ArrayAttr StringTokenizeOp::getLiterals() {
  std::string reason;
  SmallVector<int32_t> classes, next, starts, widths;
  for (StringAttr pattern : getPatterns().getAsRange<StringAttr>()) {
    auto automaton = compileRegex(pattern, reason);
    assert(automaton && "the verifier has compiled it");
    starts.push_back(static_cast<int32_t>(next.size()));
    widths.push_back(static_cast<int32_t>(automaton->width));
    llvm::append_range(classes, automaton->classes);
    llvm::append_range(next, automaton->next);
  }
  Builder b(getContext());
  return list(*this, {getRoomAttr(), b.getDenseI32ArrayAttr(classes), b.getDenseI32ArrayAttr(next), b.getDenseI32ArrayAttr(starts),
                      b.getDenseI32ArrayAttr(widths), number(*this, getBetween()), getLeastAttr(), number(*this, getMarks()), getPaddingAttr()});
}

StringRef DecodeImageOp::getFunction() { return "kiln::image_decode"; }
bool DecodeImageOp::reportsFaults() { return true; }
bool DecodeImageOp::callsHook() { return true; }
ArrayAttr DecodeImageOp::getLiterals() {
  bool isExact = getPixels().getType().hasStaticShape();
  return list(*this, {number(*this, static_cast<int64_t>(getFormat())), getMaxHeightAttr(), getMaxWidthAttr(), number(*this, isExact)});
}

//===- Verifiers -----------------------------------------------------------===//

static LogicalResult verifySameShape(Operation *op, Value input, Value result, StringRef what) {
  return verifyDims(op, result.getType(), getDims(input.getType()), what);
}

LogicalResult StringsOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (type.hasStaticShape() && type.getNumElements() == static_cast<int64_t>(getValues().size()))
    return success();
  return emitOpError("has ") << getValues().size() << " strings, expected one for each element of a static shape";
}

LogicalResult StringEqualOp::verify() { return verifySameShape(*this, getLhs(), getResult(), "the result"); }

LogicalResult StringFindOp::verify() { return verifySameShape(*this, getInput(), getResult(), "the result"); }

LogicalResult StringMatchOp::verify() {
  std::string reason;
  if (!compileRegex(getPattern(), reason))
    return emitOpError("has the pattern '") << getPattern() << "': " << reason;
  return verifySameShape(*this, getInput(), getResult(), "the result");
}

/// The symbol that the operation computes, whose number is its last result.
static FailureOr<AffineExpr> verifyCounted(DataSized op, int64_t room) {
  MLIRContext *context = op.getContext();
  if (room < 0)
    return op.emitOpError("has room for ") << room << " elements";
  if (failed(verifyDims(op, op.getCountResult().getType(), getAffineConstantExpr(1, context), "the count")))
    return failure();
  return getAffineSymbolExpr(op.getCountedSymbol(), context);
}

static LogicalResult verifyBytes(DataSized op, Value input, int64_t room, int64_t each) {
  FailureOr<AffineExpr> used = verifyCounted(op, std::min(room, each));
  if (failed(used) || failed(verifySameShape(op, input, op->getResult(0), "the result")))
    return failure();
  return verifyDims(op, op->getResult(1).getType(), *used, "the bytes");
}

LogicalResult StringConcatOp::verify() { return verifyBytes(*this, getLhs(), getRoom(), getEach()); }

LogicalResult StringCaseOp::verify() { return verifyBytes(*this, getInput(), getRoom(), getEach()); }

LogicalResult StringFilterOp::verify() {
  FailureOr<AffineExpr> kept = verifyCounted(*this, 0);
  return failed(kept) ? failure() : verifyDims(*this, getResult().getType(), *kept, "the result");
}

LogicalResult StringSplitOp::verify() {
  FailureOr<AffineExpr> most = verifyCounted(*this, getRoom());
  if (failed(most) || failed(verifySameShape(*this, getInput(), getSizes(), "the sizes")))
    return failure();
  DimExprs dims = getDims(getInput().getType());
  dims.push_back(*most);
  return verifyDims(*this, getResult().getType(), dims, "the result");
}

LogicalResult StringTokenizeOp::verify() {
  FailureOr<AffineExpr> longest = verifyCounted(*this, getRoom());
  if (failed(longest))
    return failure();
  if (getPatterns().empty() || (!getBetween() && getPatterns().size() > 1) || getLeast() < 1)
    return emitOpError("has ") << getPatterns().size() << " patterns and tokens of at least " << getLeast()
                               << " characters, expected one pattern and character";
  for (StringAttr pattern : getPatterns().getAsRange<StringAttr>()) {
    std::string reason;
    auto automaton = compileRegex(pattern, reason);
    if (automaton && automaton->acceptsNothing() && getBetween())
      reason = "a separator that may be empty";
    if (!reason.empty())
      return emitOpError("has the pattern '") << pattern.getValue() << "': " << reason;
  }
  DimExprs dims = getDims(getInput().getType());
  dims.push_back(*longest);
  return verifyDims(*this, getResult().getType(), dims, "the result");
}

LogicalResult DecodeImageOp::verify() {
  FailureOr<AffineExpr> bytes = verifyCounted(*this, std::min<int64_t>(getMaxHeight(), getMaxWidth()));
  if (failed(bytes) || failed(verifyDims(*this, getSize().getType(), getAffineConstantExpr(2, getContext()), "the size")))
    return failure();
  if (getFile().getType().getRank() != 1)
    return emitOpError("has a file of rank ") << getFile().getType().getRank() << ", expected 1";
  int64_t whole = getMaxHeight() * getMaxWidth() * (getFormat() == PixelFormat::Grayscale ? 1 : 3);
  AffineExpr pixels = getPixels().getType().hasStaticShape() ? getAffineConstantExpr(whole, getContext()) : *bytes;
  return verifyDims(*this, getPixels().getType(), pixels, "the pixels");
}
