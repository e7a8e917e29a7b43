//===- Import.cpp - From an ONNX file to a module of nn operations ----------===//
#include "compiler/import/Import.h"
#include "compiler/import/Delegates.h"
#include "compiler/import/Graph.h"
#include "compiler/import/ModelCheck.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/DimFacts.h"
#include "dialects/nn/SymbolAttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace kiln {

std::string makeModelName(StringRef text) {
  std::string name;
  for (char c : llvm::sys::path::stem(text))
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name = "model_" + name;
  return name.substr(0, longestModelName);
}

/// Imports the model under these assumptions. `isOpen` is set if it failed only because something is not supported, so that they may be right.
static FailureOr<ImportedModel> importOnce(MLIRContext &context, const ImportOptions &options, import::ModelFile &file, import::SqueezedDims &squeezed,
                                           import::Assumptions &assumptions, std::vector<std::string> &errors, bool &isOpen) {
  import::Diagnostics diagnostics(options.path, errors);
  import::GraphResult result = import::importGraph(context, options, file, diagnostics, squeezed, assumptions);
  isOpen = !result.module && result.hasUnsupported && !squeezed.isContradicted;
  if (!result.module)
    return failure();
  ImportedModel model;
  model.outputs = result.outputs;
  model.module = std::move(result.module);
  if (!result.contradictions.empty())
    model.warnings.push_back(result.contradictions);
  llvm::append_range(model.warnings, result.warnings);
  return std::move(model);
}

/// Each sign that is found may lead to another one. After this many rounds, the model is taken as it is.
static constexpr unsigned mostRounds = 6;

/// A size that a bound of the caller's makes known may lead to more of them, this often.
static constexpr unsigned mostRaisings = 64;

/// Whether the round has asked for bounds of the caller's that it did not have. The next one has them.
static bool addRaised(import::Assumptions &assumptions, size_t loosened) {
  size_t known = assumptions.raised.size();
  for (const std::string &name : assumptions.raisedAsked)
    if (!llvm::is_contained(assumptions.raised, name))
      assumptions.raised.push_back(name);
  return assumptions.raised.size() != known || assumptions.loosened.size() != loosened;
}

/// The model with exact sizes, and without what they cannot be where the run could not go on. Where it is not supported with those of slices and
/// the like that cut to what there is, these are taken to be in range.
static FailureOr<ImportedModel> importRounds(MLIRContext &context, const ImportOptions &options, import::ModelFile &file, import::SqueezedDims &squeezed,
                                             std::vector<std::string> &errors, bool &isOpen, import::Assumptions &assumptions) {
  const import::SqueezedDims given = squeezed;
  bool isTrimmed = false;
  unsigned raisings = 0;
  for (unsigned round = 0;;) {
    squeezed = given;
    errors.clear();
    assumptions.raisedAsked.clear();
    size_t loosened = assumptions.loosened.size();
    auto model = importOnce(context, options, file, squeezed, assumptions, errors, isOpen);
    if (addRaised(assumptions, loosened)) {
      assumptions.found.clear();
      if (++raisings < mostRaisings)
        continue;
      errors.clear();
      isOpen = false;
      return import::Diagnostics(options.path, errors).error("sizes that data decide depend on each other more than " + Twine(mostRaisings) + " times");
    }
    size_t known = assumptions.notNegative.size();
    for (AffineExpr expr : std::exchange(assumptions.found, {}))
      if (!llvm::is_contained(assumptions.notNegative, expr))
        assumptions.notNegative.push_back(expr);
    bool isNew = assumptions.notNegative.size() != known, canRange = failed(model) && assumptions.hasClamped && !assumptions.isInRange;
    if (round >= mostRounds || (!isNew && !canRange)) {
      // Bounds that only earlier rounds have asked for go.
      if (failed(model) || isTrimmed || assumptions.raised.size() == assumptions.raisedAsked.size())
        return model;
      isTrimmed = true;
      assumptions.raised = assumptions.raisedAsked;
      continue;
    }
    assumptions.isInRange |= !isNew;
    ++round;
  }
}

/// Sizes that data decide are those that the model declares only where it is not supported otherwise.
static FailureOr<ImportedModel> importSimplest(MLIRContext &context, const ImportOptions &options, import::ModelFile &file, import::SqueezedDims &squeezed,
                                               std::vector<std::string> &errors, bool &isOpen) {
  const import::SqueezedDims given = squeezed;
  import::Assumptions byData;
  byData.areEqual = options.broadcasts == ImportOptions::Broadcasts::Equal;
  auto model = importRounds(context, options, file, squeezed, errors, isOpen, byData);
  if (succeeded(model) || !byData.hasDeclared)
    return model;
  import::Assumptions declared;
  declared.areEqual = byData.areEqual;
  declared.trustsShapes = true;
  squeezed = given;
  return importRounds(context, options, file, squeezed, errors, isOpen, declared);
}

/// The number of choices of dimensions that are 1 is a power of two.
static constexpr unsigned mostSqueezed = 4;

/// The model with those dimensions taken to be 1 for Squeeze with which alone it holds together; `errors` says so when there is no such choice.
static FailureOr<ImportedModel> importWithOnes(MLIRContext &context, const ImportOptions &options, import::ModelFile &file, llvm::SetVector<AffineExpr> asked,
                                               std::vector<std::string> &errors) {
  FailureOr<ImportedModel> found = failure();
  std::vector<std::string> ignored;
  bool isOpen = asked.size() > mostSqueezed;
  // A choice may lead to a Squeeze that asks about more dimensions.
  for (unsigned choice = 1; !isOpen && choice < 1u << asked.size(); ++choice) {
    import::SqueezedDims squeezed;
    for (auto [i, dim] : llvm::enumerate(asked))
      if (choice >> i & 1)
        squeezed.ones.push_back(dim);
    ignored.clear();
    auto model = importSimplest(context, options, file, squeezed, ignored, isOpen);
    asked.insert(squeezed.asked.begin(), squeezed.asked.end());
    isOpen |= asked.size() > mostSqueezed || (succeeded(model) && succeeded(found));
    if (succeeded(model))
      found = std::move(model);
  }
  if (!isOpen)
    return found;
  import::SqueezedDims refused;
  refused.isRefused = true;
  errors.clear();
  return importSimplest(context, options, file, refused, errors, isOpen);
}

/// The number of values that `--bind` gives for a vector determines its symbolic length.
static void countBound(ImportOptions &options, const onnx::GraphProto &graph) {
  for (const onnx::ValueInfoProto &input : graph.input()) {
    auto bound = options.bindings.find(input.name());
    const onnx::TypeProto::Tensor &tensor = input.type().tensor_type();
    if (bound == options.bindings.end() || bound->second == openBinding)
      continue;
    if (options.shapes.count(input.name()) || tensor.shape().dim_size() != 1 || tensor.shape().dim(0).has_dim_value())
      continue;
    const std::string &symbol = tensor.shape().dim(0).dim_param();
    options.dims.try_emplace(options.rename(symbol.empty() ? input.name() + "_0" : symbol), StringRef(bound->second).count(',') + 1);
  }
}

static FailureOr<ImportedModel> importWays(MLIRContext &context, const ImportOptions &options, import::ModelFile &file, std::vector<std::string> &errors) {
  import::SqueezedDims squeezed;
  bool isOpen = false;
  auto model = importSimplest(context, options, file, squeezed, errors, isOpen);
  if (failed(model) && !isOpen && !squeezed.asked.empty())
    return importWithOnes(context, options, file, squeezed.asked, errors);
  return model;
}

/// The sizes of results that the model computes.
static SmallVector<unsigned> listComputed(ModuleOp module, FunctionType type) {
  nn::ComputedDims computed(module);
  SmallVector<unsigned> symbols;
  for (Type result : type.getResults())
    for (AffineExpr dim : nn::getDims(result))
      computed.collect(dim, symbols);
  llvm::sort(symbols);
  symbols.erase(llvm::unique(symbols), symbols.end());
  return symbols;
}

/// Whether programs can call one instead of the other.
static bool haveOneSignature(ModuleOp a, ModuleOp b) {
  if (a->getAttr(nn::symbolsAttrName) != b->getAttr(nn::symbolsAttrName) || a->getAttr(nn::computedSymbolsAttrName) != b->getAttr(nn::computedSymbolsAttrName))
    return false;
  FunctionType left = a.lookupSymbol<func::FuncOp>("main").getFunctionType(), right = b.lookupSymbol<func::FuncOp>("main").getFunctionType();
  auto isSame = [](Type left, Type right) {
    auto tensor = cast<RankedTensorType>(left), other = cast<RankedTensorType>(right);
    return tensor.getRank() == other.getRank() && tensor.getElementType() == other.getElementType();
  };
  return left.getInputs() == right.getInputs() && listComputed(a, left) == listComputed(b, right) && llvm::equal(left.getResults(), right.getResults(), isSame);
}

/// Whether a run would check an expression that takes long to simplify and to compute.
static bool hasLargeConstraint(ModuleOp module) {
  constexpr unsigned mostParts = 400;
  auto isLarge = [](const nn::Constraint &constraint) { return nn::hasMoreParts(constraint.mustBeZero, mostParts); };
  return llvm::any_of(nn::getConstraints(module), isLarge);
}

/// Where sizes that broadcast with each other are taken to be equal: the model as ONNX has it, which the first one becomes the version of. That one
/// alone remains when the other is not supported.
static void addExact(MLIRContext &context, ImportOptions options, import::ModelFile &file, ImportedModel &model) {
  auto assumed = (*model.module)->getAttrOfType<AffineMapAttr>(nn::assumedAttrName);
  if (!assumed)
    return;
  options.broadcasts = ImportOptions::Broadcasts::Exact;
  std::vector<std::string> ignored;
  auto exact = importWays(context, options, file, ignored);
  if (failed(exact) || hasLargeConstraint(*exact->module) || !haveOneSignature(*model.module, *exact->module))
    return;
  std::swap(model.module, exact->module);
  // A size that the model computes is not known when a version is chosen.
  nn::ComputedDims computed(*model.module);
  if (llvm::none_of(assumed.getValue().getResults(), [&](AffineExpr zero) { return computed.isIn(zero); }))
    model.versions.push_back({std::move(exact->module), "equal sizes"});
}

/// The bytes of the initializers in files of their own that nodes read. A place in a file counts once.
static uint64_t countExternalBytes(import::ModelFile &file) {
  const onnx::GraphProto &graph = file.model().graph();
  llvm::StringSet<> read;
  import::forEachNode(graph.node(), [&](const onnx::NodeProto &node) { read.insert_range(node.input()); });
  llvm::DenseMap<const char *, size_t> places;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    std::string reason;
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL || !read.contains(tensor.name()))
      continue;
    if (auto bytes = file.externalBytes(tensor, reason); bytes && !bytes->empty())
      places[bytes->data()] = std::max(places[bytes->data()], bytes->size());
  }
  uint64_t count = 0;
  for (auto [place, bytes] : places)
    count += bytes;
  return count;
}

FailureOr<ImportedModel> importModel(MLIRContext &context, const ImportOptions &given, std::vector<std::string> &errors) {
  // Constants are computed by the scalar bodies of operations.
  context.loadDialect<nn::NNDialect, kernel::KernelDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  ImportOptions options = given;
  import::Diagnostics diagnostics(options.path, errors);
  auto file = std::make_shared<import::ModelFile>(options.path, options.followLinks);
  if (failed(file->load(diagnostics)) || failed(file->addLibraries(options, diagnostics)))
    return failure();
  std::string unsorted = file->sortNodes();
  if (failed(import::checkModel(*file, diagnostics)) || failed(file->cutForDelegates(options, diagnostics)))
    return failure();
  if (uint64_t bytes = options.mostExternalBytes ? countExternalBytes(*file) : 0; bytes > options.mostExternalBytes)
    return diagnostics.error("the weights take " + Twine(bytes) + " bytes, but at most " + Twine(options.mostExternalBytes) +
                             " can be embedded; use --weights=file");
  countBound(options, file->model().graph());
  if (given.broadcasts == ImportOptions::Broadcasts::Versions)
    options.broadcasts = ImportOptions::Broadcasts::Equal;
  auto model = importWays(context, options, *file, errors);
  if (failed(model) && options.broadcasts == ImportOptions::Broadcasts::Exact) {
    // Exact sizes may need expressions that are too large.
    options.broadcasts = ImportOptions::Broadcasts::Equal;
    model = importWays(context, options, *file, errors);
  }
  if (failed(model))
    return failure();
  if (given.broadcasts == ImportOptions::Broadcasts::Versions)
    addExact(context, options, *file, *model);
  (*model->module)->removeAttr(nn::assumedAttrName);
  errors.clear();
  if (!unsorted.empty())
    model->warnings.push_back(unsorted);
  llvm::append_range(model->warnings, import::SignatureReader::describeReplaced(given, file->model().graph()));
  const auto &metadata = file->model().metadata_props();
  auto own = llvm::find_if(metadata, [](const auto &entry) { return llvm::StringRef(entry.key()).starts_with(nn::ownMetadata); });
  if (own != metadata.end())
    model->warnings.push_back("'" + printable(own->key()) + "' of the metadata_props is left out, as is each key that begins with '" + nn::ownMetadata.str() +
                              "', because only Kiln writes them");
  if (const import::Delegates *delegates = file->getDelegates()) {
    if (failed(delegates->write(*file, *model, diagnostics)))
      return failure();
    llvm::append_range(model->warnings, delegates->describeLeft(file->model(), options.limits));
  }
  model->externalFiles = file->externalPaths();
  model->storage = std::move(file);
  return model;
}

} // namespace kiln
