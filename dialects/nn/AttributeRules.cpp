//===- AttributeRules.cpp - What the attributes of the dialect may be ------===//
#include "dialects/kernel/AttributeRules.h"
#include "dialects/nn/ClassLabels.h"
#include "dialects/nn/ModelAttributeNames.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/OperationAttributeNames.h"
#include "dialects/nn/Rounding.h"
#include "dialects/nn/Sequences.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "dialects/nn/TensorQuantization.h"

using namespace mlir;

namespace kiln::nn {

using kernel::isCount, kernel::isKind, kernel::isListOf, kernel::isPairs;

/// Nothing stands for the default bounds.
static bool isBound(Attribute value) {
  auto bound = dyn_cast<DenseI64ArrayAttr>(value);
  return bound && (bound.empty() || (bound.size() == 2 && bound[0] >= 0 && bound[0] <= bound[1]));
}

static bool areBounds(Operation *, Attribute value) {
  auto bounds = dyn_cast<ArrayAttr>(value);
  return bounds && llvm::all_of(bounds, isBound);
}

/// Expressions of symbols alone.
static bool areSizes(Operation *, Attribute value) {
  auto map = dyn_cast<AffineMapAttr>(value);
  return map && map.getValue().getNumDims() == 0;
}

static bool areSpecialSizes(Operation *, Attribute value) {
  auto sizes = dyn_cast<DenseI64ArrayAttr>(value);
  return sizes && llvm::none_of(sizes.asArrayRef(), [](int64_t size) { return size < -1; });
}

static bool isAccuracy(Operation *, Attribute value) {
  auto word = dyn_cast<StringAttr>(value);
  return word && (word == "strict" || word == "fast");
}

static bool isRange(Operation *, Attribute value) {
  auto range = dyn_cast<DenseF64ArrayAttr>(value);
  return range && range.size() == 2 && range[0] <= range[1];
}

static bool areSequences(Operation *, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, [](Attribute entry) { return readSequence(entry).has_value(); });
}

static bool isQuantization(Operation *, Attribute value) { return readQuantization(value).has_value(); }

static bool areLabels(Operation *, Attribute value) { return readLabels(value).has_value(); }

static bool isIoLayout(Operation *, Attribute value) {
  auto word = dyn_cast<StringAttr>(value);
  return word && (word == "nwc" || word == "nhwc" || word == "ndhwc");
}

/// Of a packed argument, its kernel says the panels behind the word.
static bool isArgumentLayout(Operation *op, Attribute value) {
  auto word = dyn_cast<StringAttr>(value);
  return isIoLayout(op, value) || (word && word.getValue().starts_with("packed"));
}

static constexpr llvm::StringLiteral layouts = "\"nwc\", \"nhwc\" or \"ndhwc\"";
static constexpr llvm::StringLiteral quantization = "a dictionary with axis, scales and as many zero_points";
/// Lines of a module, or a text of one operation.
static bool isRounding(Operation *op, Attribute value) { return isa<ModuleOp>(op) ? isListOf<StringAttr>(op, value) : isa<StringAttr>(value); }

static constexpr llvm::StringLiteral sizes = "an affine map of symbols";

static constexpr kernel::AttributeRule operationRules[] = {
    {modelAttrName, "builtin.module", "a string", isKind<StringAttr>},
    {symbolsAttrName, "builtin.module", "a list of names", isListOf<StringAttr>},
    {symbolBoundsAttrName, "builtin.module", "a list of [lowest, highest] sizes, each of which may be empty", areBounds},
    {computedSymbolsAttrName, "builtin.module", sizes, areSizes},
    {raisedSymbolsAttrName, "builtin.module", "a list of symbols", areSpecialSizes},
    {constraintsAttrName, "builtin.module", sizes, areSizes},
    {constraintNodesAttrName, "builtin.module", "a list of texts, one for each constraint", isListOf<StringAttr>},
    {metadataAttrName, "builtin.module", "a list of texts, keys and values in turn", isListOf<StringAttr>},
    {shardingAttrName, "builtin.module", "a dictionary", isKind<DictionaryAttr>},
    {assumedAttrName, "builtin.module", sizes, areSizes},
    {specialSizesAttrName, "builtin.module", "a list of sizes, -1 for any", areSpecialSizes},
    {askedInPlaceAttrName, "builtin.module", "pairs of an input and an output", isPairs},
    {sequencesAttrName, "builtin.module", "a list of dictionaries with name, kind, first and count", areSequences},
    {accuracyAttrName, "builtin.module", "\"strict\" or \"fast\"", isAccuracy},
    {flushSubnormalsAttrName, "builtin.module", "a unit", isKind<UnitAttr>},
    {transposesAttrName, "builtin.module", "a number that is not negative (i64)", isCount},
    {sliceCopiesAttrName, "builtin.module", "a number that is not negative (i64)", isCount},
    {roundingAttrName, "", "a string, or lines of the module", isRounding},
    {formAttrName, "", "a string", isKind<StringAttr>},
    {valueRangeAttrName, "", "a string", isKind<StringAttr>},
};

static constexpr kernel::AttributeRule argumentRules[] = {
    {nameAttrName, "func.func", "a string", isKind<StringAttr>},
    {rangeAttrName, "func.func", "two numbers (f64), the lower one first", isRange},
    {quantizationAttrName, "func.func", quantization, isQuantization},
    {layoutAttrName, "func.func", "\"nwc\", \"nhwc\", \"ndhwc\" or \"packed\"", isArgumentLayout},
};

static constexpr kernel::AttributeRule resultRules[] = {
    {nameAttrName, "func.func", "a string", isKind<StringAttr>},
    {nodeAttrName, "func.func", "a string", isKind<StringAttr>},
    {labelsAttrName, "func.func", "a dictionary with axis, and labels that are integers or strings", areLabels},
    {quantizationAttrName, "func.func", quantization, isQuantization},
    {layoutAttrName, "func.func", layouts, isIoLayout},
};

LogicalResult NNDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) { return kernel::verifyByRules(operationRules, op, attr); }

LogicalResult NNDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attr) {
  return kernel::verifyByRules(argumentRules, op, attr);
}

LogicalResult NNDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attr) {
  return kernel::verifyByRules(resultRules, op, attr);
}

} // namespace kiln::nn
