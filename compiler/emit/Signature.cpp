//===- Signature.cpp - What a program sees of a model ----------------------===//
#include "compiler/emit/Signature.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/nn/OperationAttributeNames.h"
#include "dialects/nn/Rounding.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/HeaderPrinter.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/SizeRules.h"
#include "compiler/emit/SizeText.h"

#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cmath>
#include <set>

using namespace mlir;

namespace kiln {

static std::vector<SignatureTensor> readTensors(ArrayAttr list) {
  std::vector<SignatureTensor> tensors;
  NameScope fields;
  for (auto entry : list.getAsRange<DictionaryAttr>()) {
    auto name = entry.getAs<StringAttr>("name");
    auto type = dyn_cast_or_null<TypeAttr>(entry.get("type"));
    if (!name || !type || !isa<RankedTensorType>(type.getValue()))
      return {};
    auto tensor = cast<RankedTensorType>(type.getValue());
    tensors.push_back({name.str(), fields.unique(makeIdentifier(name)), tensor, nn::getDims(tensor)});
    if (auto range = entry.getAs<DenseF64ArrayAttr>("range"); range && range.size() == 2)
      tensors.back().range = {range[0], range[1]};
    tensors.back().quantization = nn::readQuantization(entry.get("quantization"));
    tensors.back().labels = nn::readLabels(entry.get("labels"));
    if (auto layout = entry.getAs<StringAttr>("layout"))
      tensors.back().layout = layout.str();
  }
  return tensors;
}

/// Computed symbols that no input or output mentions are not part of the signature.
static void readComputed(const nn::ComputedDims &computed, Signature &signature) {
  SmallVector<unsigned> seen;
  for (auto *tensors : {&signature.inputs, &signature.outputs})
    for (SignatureTensor &tensor : *tensors) {
      for (AffineExpr dim : tensor.dims)
        computed.collect(dim, seen);
      if (llvm::any_of(tensor.dims, [&](AffineExpr dim) { return computed.isIn(dim); }))
        tensor.most = computed.getMostElements(tensor.dims, tensor.type.getContext());
    }
  llvm::erase_if(signature.symbols, [&](const SignatureSymbol &symbol) {
    return computed.isComputed(symbol.position) && !llvm::is_contained(seen, symbol.position);
  });
  for (SignatureSymbol &symbol : signature.symbols) {
    if (!computed.isComputed(symbol.position))
      continue;
    symbol.most = computed.getBound(symbol.position);
    symbol.min = 0;
    symbol.max = nn::getConstantDim(symbol.most).value_or(std::numeric_limits<int64_t>::max());
  }
}

ArrayRef<SignatureSymbol> Signature::givenSymbols() const {
  return ArrayRef(symbols).take_while([](const SignatureSymbol &symbol) { return !symbol.most; });
}

const SignatureSymbol *Signature::findSymbol(unsigned position) const {
  for (const SignatureSymbol &symbol : symbols)
    if (symbol.position == position)
      return &symbol;
  return nullptr;
}

static std::vector<SignatureSymbol> readSymbols(ModuleOp module) {
  std::vector<SignatureSymbol> symbols;
  auto names = module->getAttrOfType<ArrayAttr>(nn::symbolsAttrName);
  nn::ComputedDims computed(module);
  NameScope fields;
  for (auto [i, name] : llvm::enumerate(names ? names.getValue() : ArrayRef<Attribute>())) {
    auto given = dyn_cast<StringAttr>(name);
    StringRef text = given ? given.getValue() : StringRef();
    auto [least, most] = nn::getSymbolBounds(module, i);
    symbols.push_back({text.str(), fields.unique(makeIdentifier(text)), least, most, static_cast<unsigned>(i)});
    symbols.back().givenMin = least, symbols.back().givenMax = most;
    auto bounds = module->getAttrOfType<ArrayAttr>(nn::symbolBoundsAttrName);
    auto own = bounds && i < bounds.size() ? dyn_cast<DenseI64ArrayAttr>(bounds[i]) : DenseI64ArrayAttr();
    symbols.back().isRaised = computed.isRaised(i);
    symbols.back().isBounded = own && !own.empty();
  }
  return symbols;
}

static LogicalResult readWorkspace(ModuleOp module, Signature &signature) {
  signature.workspaceSize = module.lookupSymbol<func::FuncOp>("workspace_size");
  if (auto bytes = module->getAttrOfType<IntegerAttr>(kernel::workspaceBytesAttrName))
    signature.workspaceBytes = bytes.getInt();
  if (!signature.workspaceSize && !signature.workspaceBytes)
    return module.emitError("expected the module attribute kernel.workspace_bytes or the function @workspace_size");
  if (signature.symbols.empty() && !signature.workspaceBytes)
    return module.emitError("expected kernel.workspace_bytes in a module without symbols");
  return success();
}

/// Every launch must have its kernel, because the printers look it up.
static LogicalResult verifyLaunches(const Signature &signature) {
  SymbolTable symbols(signature.module());
  WalkResult found = signature.entry.walk([&](kernel::LaunchOp launch) {
    auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
    if (kernel && kernel != signature.workspaceSize)
      return WalkResult::advance();
    launch.emitOpError("launches an unknown kernel '") << launch.getKernel() << "'";
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

/// Refuses functions of the program whose names the library has itself.
static LogicalResult checkProgramFunctions(ModuleOp module, const Signature &signature) {
  std::string own = signature.name + "_", header;
  for (auto external : module.getOps<kernel::ExternalOp>()) {
    StringRef name = external.getSymName();
    if (external.getLibrary() || !name.starts_with(own))
      continue;
    if (header.empty())
      header = printHeader(signature);
    SmallVector<StringRef> words;
    SplitString(header, words, " \n*&()[]{},;:=.<>");
    // No header for programs has the names of kernels, targets and versions.
    auto isInner = [rest = name.drop_front(own.size())](StringRef first) { return rest.starts_with(first); };
    if (llvm::is_contained(words, name) || isInner("kernel") || isInner("run") || isInner("workspace_size"))
      return module.emitError("'") << name << "' cannot be a function of the program: library '" << signature.name
                                   << "' has one of that name; give one of them another name (--name)";
  }
  return success();
}

FailureOr<Signature> readSignature(ModuleOp module, StringRef name) {
  Signature signature;
  auto entries = module.getOps<kernel::EntryOp>();
  if (!llvm::hasSingleElement(entries))
    return module.emitError("expected exactly one kernel.entry");
  signature.entry = *entries.begin();
  auto model = module->getAttrOfType<StringAttr>(nn::modelAttrName);
  signature.name = makeLibraryName(!name.empty() ? name : model ? model.getValue() : "model");
  signature.macro = makeMacroName(signature.name);
  signature.library = signature.name;
  if (kernel::TargetAttr target = kernel::getTarget(module))
    signature.target = target.getName().str(), signature.needs = {{signature.target, llvm::join(neededFeatures(target), " ")}};
  std::set<std::string> libraries;
  for (auto external : module.getOps<kernel::ExternalOp>())
    if (external.getLibrary())
      libraries.insert(external.getLibrary()->str());
  signature.libraries.assign(libraries.begin(), libraries.end());
  signature.decodesImages = signature.entry.walk([](kernel::ContextOp) { return WalkResult::interrupt(); }).wasInterrupted();
  signature.inputs = readTensors(signature.entry.getInputs());
  signature.outputs = readTensors(signature.entry.getOutputs());
  auto pairs = signature.entry->getAttrOfType<DenseI64ArrayAttr>(kernel::inPlaceAttrName);
  for (int64_t i = 0; pairs && i + 1 < pairs.size(); i += 2)
    if (pairs[i + 1] < static_cast<int64_t>(signature.outputs.size()))
      signature.outputs[pairs[i + 1]].inPlaceOf.push_back(pairs[i]);
  signature.rounding = nn::listRounding(module);
  signature.flushesSubnormals = module->hasAttr(nn::flushSubnormalsAttrName);
  signature.sequences = nn::getSequences(module);
  signature.symbols = readSymbols(module);
  signature.metadata = nn::getMetadata(module);
  if (auto sizes = module->getAttrOfType<DenseI64ArrayAttr>(nn::specialSizesAttrName))
    for (auto [symbol, size] : llvm::zip(signature.symbols, sizes.asArrayRef()))
      if (size >= 0)
        signature.special.push_back({symbol.field, size});
  if (auto assumed = module->getAttrOfType<AffineMapAttr>(nn::assumedAttrName))
    llvm::append_range(signature.zeros, assumed.getValue().getResults());
  nn::ComputedDims computed(module);
  readComputed(computed, signature);
  readSizeRules(signature);
  size_t arguments = signature.inputs.size() + signature.outputs.size() + 1 + computed.given();
  bool complete = signature.inputs.size() == signature.entry.getInputs().size() && signature.outputs.size() == signature.entry.getOutputs().size();
  if (!complete || signature.entry.getBody().getNumArguments() != arguments)
    return signature.entry.emitOpError("expected one block argument for each input, output and symbol and the workspace");
  for (auto &list : {signature.inputs, signature.outputs})
    for (const SignatureTensor &tensor : list)
      if (publicType(tensor.type.getElementType()).empty())
        return signature.entry.emitOpError("'") << tensor.onnxName << "' has an element type that C has no name for: " << tensor.type.getElementType();
  if (failed(readWorkspace(module, signature)) || failed(verifyLaunches(signature)) || failed(checkProgramFunctions(module, signature)))
    return failure();
  return signature;
}

std::string Signature::versionOf(StringRef text) const {
  std::string result = text.str();
  for (auto &[field, size] : special)
    result += "_" + field + "_" + std::to_string(size);
  if (rank > 0)
    result += "_rank" + std::to_string(rank);
  return zeros.empty() ? result : result + "_" + makeIdentifier(label);
}

std::set<int64_t> Signature::specialSizes(const SignatureSymbol &symbol) const {
  std::set<int64_t> sizes;
  for (const std::vector<SpecialSize> &version : versions)
    for (auto &[field, size] : version)
      if (field == symbol.field)
        sizes.insert(size);
  return sizes;
}

std::string Signature::describeElement(size_t tensor, bool isOutput) const {
  for (const nn::SequenceInfo &sequence : sequences)
    if (sequence.isBytes && isOutput && tensor == sequence.first)
      return "bytes that strings of other outputs point into";
    else if (sequence.isSequence && sequence.isOutput == isOutput && tensor >= sequence.first && static_cast<int64_t>(tensor - sequence.first) < sequence.count)
      return "element " + std::to_string(tensor - sequence.first) + " of sequence '" + sequence.name + "'";
  return "";
}

/// The sentences of all targets and versions. What becomes of weights is the same for all targets.
static std::vector<std::string> mergeRounding(ArrayRef<Signature> targets) {
  bool several = llvm::any_of(targets, [&](const Signature &target) { return target.target != targets.front().target; });
  std::vector<std::string> lines;
  for (const Signature &target : targets)
    for (const std::string &line : target.rounding)
      if (std::string text = several && !StringRef(line).starts_with("weights") ? target.target + ": " + line : line; !llvm::is_contained(lines, text))
        lines.push_back(text);
  return lines;
}

Signature mergeSignatures(ArrayRef<Signature> targets) {
  Signature whole = targets.front();
  if (targets.size() == 1)
    return whole;
  whole.variant.clear();
  whole.rounding = mergeRounding(targets);
  for (const Signature &target : targets.drop_front()) {
    if (!target.special.empty() && target.variant == targets.front().variant)
      whole.versions.push_back(target.special);
    if (!target.isVersion()) {
      whole.target += "," + target.target;
      llvm::append_range(whole.needs, target.needs);
    }
    std::vector<std::string> both;
    std::set_union(whole.libraries.begin(), whole.libraries.end(), target.libraries.begin(), target.libraries.end(), std::back_inserter(both));
    whole.libraries = std::move(both);
    bool known = whole.workspaceBytes && target.workspaceBytes;
    for (auto [output, tensor] : llvm::enumerate(target.outputs)) {
      const std::vector<unsigned> &theirs = tensor.inPlaceOf;
      llvm::erase_if(whole.outputs[output].inPlaceOf, [&](unsigned input) { return !llvm::is_contained(theirs, input); });
    }
    whole.workspaceBytes = known ? std::make_optional(std::max(*whole.workspaceBytes, *target.workspaceBytes)) : std::nullopt;
  }
  return whole;
}

std::vector<std::string> Signature::runParameters() const {
  std::vector<std::string> parameters;
  if (hasDims())
    parameters.push_back((writesDims() ? "" : "const ") + name + "_dims *dims");
  parameters.push_back("const " + name + "_inputs *inputs");
  parameters.push_back("const " + name + "_outputs *outputs");
  if (externalWeights)
    parameters.push_back("const void *weights");
  parameters.insert(parameters.end(), {"void *workspace", "const kiln_context *context"});
  return parameters;
}

std::string Signature::runArguments() const {
  return std::string(hasDims() ? "dims, " : "") + "inputs, outputs, " + (externalWeights ? "weights, " : "") + "workspace, context";
}

std::string publicType(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isF16() || type.isBF16())
    return "uint16_t";
  if (type.isInteger(1))
    return "uint8_t";
  if (nn::isString(type))
    return "kiln_string";
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()))
    return "";
  return (integer.isUnsigned() ? "uint" : "int") + std::to_string(integer.getWidth()) + "_t";
}

std::string elementName(Type type) {
  if (type.isInteger(1))
    return "bool";
  if (type.isBF16())
    return "bf16";
  if (nn::isString(type))
    return "string";
  StringRef kind = isa<FloatType>(type) ? "f" : type.isUnsignedInteger() ? "u" : "i";
  return kind.str() + std::to_string(type.getIntOrFloatBitWidth());
}

std::string numberText(float number) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), number).ptr);
}

std::string integerLiteral(int64_t number) {
  // The smallest one has no literal of its own.
  return number == std::numeric_limits<int64_t>::min() ? "(-9223372036854775807 - 1)" : std::to_string(number);
}

std::string floatLiteral(float number) {
  if (!std::isfinite(number))
    return std::isnan(number) ? "__builtin_nanf(\"\")" : number < 0 ? "-__builtin_inff()" : "__builtin_inff()";
  std::string text = numberText(number);
  return text + (StringRef(text).find_first_of(".e") == StringRef::npos ? ".0f" : "f");
}

std::string labelsText(const nn::ClassLabels &labels) {
  constexpr size_t most = 8;
  std::string list;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels.size() > most && i == most - 2)
      list += ", ...", i = labels.size() - 1;
    list += (list.empty() ? "" : ", ") + (labels.strings.empty() ? std::to_string(labels.integers[i]) : "'" + labels.strings[i] + "'");
  }
  return "labels " + list + (labels.axis < 0 ? "" : " along axis " + std::to_string(labels.axis));
}

std::string quantizationText(const nn::TensorQuantization &quantization) {
  if (quantization.axis >= 0)
    return std::to_string(quantization.scales.size()) + " scales along axis " + std::to_string(quantization.axis);
  return "scale " + numberText(quantization.scales.front()) + ", zero point " + std::to_string(quantization.zeroPoints.front());
}

std::string elementEnumerator(Type type) { return "KILN_ELEMENT_" + StringRef(elementName(type)).upper(); }

std::string dimText(AffineExpr expr, const Signature &signature, StringRef prefix) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    const SignatureSymbol *found = signature.findSymbol(symbol.getPosition());
    return found ? prefix.str() + found->field : "?";
  }
  if (AffineExpr part = nn::matchPositivePart(expr)) {
    // C has no max.
    std::string text = dimText(part, signature, prefix);
    return prefix.empty() ? "max(" + text + ", 0)" : "(" + text + " > 0 ? " + text + " : 0)";
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string left = dimText(binary.getLHS(), signature, prefix), right = dimText(binary.getRHS(), signature, prefix);
  auto nested = [](AffineExpr side, std::string text) { return isa<AffineBinaryOpExpr>(side) ? "(" + text + ")" : text; };
  bool divides = expr.getKind() != AffineExprKind::Add && expr.getKind() != AffineExprKind::Mul;
  // A program may ask for sizes before the run refuses them.
  std::string divisor = nested(binary.getRHS(), right);
  if (divides && !prefix.empty() && !isa<AffineConstantExpr>(binary.getRHS()))
    divisor = "(" + right + " > 0 ? " + right + " : 1)";
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    if (auto product = dyn_cast<AffineBinaryOpExpr>(binary.getRHS()); product && product.getKind() == AffineExprKind::Mul)
      if (auto factor = nn::getConstantDim(product.getRHS()); factor && *factor < 0) {
        AffineExpr positive = nn::simplifyDim(product.getLHS() * -*factor);
        return left + " - " + nested(positive, dimText(positive, signature, prefix));
      }
    if (StringRef(right).starts_with("-"))
      return left + " - " + right.substr(1);
    return left + " + " + right;
  case AffineExprKind::Mul:
    return nested(binary.getLHS(), left) + " * " + nested(binary.getRHS(), right);
  case AffineExprKind::Mod:
    return nested(binary.getLHS(), left) + " % " + divisor;
  case AffineExprKind::CeilDiv:
    return "(" + left + " + " + divisor + " - 1) / " + divisor;
  default: // floordiv of a number that is not negative
    return nested(binary.getLHS(), left) + " / " + divisor;
  }
}

std::string readableText(AffineExpr expr, const Signature &signature) {
  return sizeText(expr, [&](unsigned position) {
    const SignatureSymbol *found = signature.findSymbol(position);
    return found ? found->field : "?";
  });
}

std::string shapeText(const SignatureTensor &tensor, const Signature &signature) {
  std::vector<std::string> dims;
  for (AffineExpr dim : tensor.dims)
    dims.push_back(readableText(dim, signature));
  return elementName(tensor.type.getElementType()) + "[" + llvm::join(dims, ",") + "]";
}

} // namespace kiln
