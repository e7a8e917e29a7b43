//===- Decisions.cpp - What the compiler chose, and why --------------------===//
#include "compiler/Decisions.h"
#include "compiler/files/Printable.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/kernel/Work.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/ModelAttributeNames.h"
#include "dialects/nn/Rounding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/target/composites/CompositeForms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/include/kiln/math/bounds.h"

#include <functional>
#include <map>

using namespace mlir;

namespace kiln {

static std::string joinText(Attribute attr) {
  if (auto text = dyn_cast_or_null<StringAttr>(attr))
    return text.str();
  std::vector<std::string> parts;
  if (auto list = dyn_cast_or_null<ArrayAttr>(attr))
    for (Attribute element : list)
      parts.push_back(joinText(element));
  return llvm::join(parts, " ");
}

/// The least exact form of exp among these accuracies; empty if there are none.
static std::string nameExponential(ArrayRef<kernel::Accuracy> accuracies) {
  return accuracies.empty() ? "" : kernel::getExpFunction(*llvm::max_element(accuracies));
}

static bool isDouble(Value value) { return getElementTypeOrSelf(value.getType()).isF64(); }

static std::string findExponential(func::FuncOp kernel) {
  SmallVector<kernel::Accuracy> found;
  kernel.walk([&](math::ExpOp exp) {
    if (!isDouble(exp.getResult()))
      found.push_back(kernel::getExpAccuracy(exp));
  });
  return nameExponential(found);
}

static std::string findExponential(nn::GroupOp group) {
  SmallVector<kernel::Accuracy> found;
  group.getBody().walk([&](nn::Approximate op) {
    if (!isDouble(op->getResult(0)))
      found.push_back(op.getAccuracy());
  });
  return nameExponential(found);
}

static std::vector<std::pair<std::string, std::string>> readRefusals(Attribute attr) {
  std::vector<std::pair<std::string, std::string>> refusals;
  if (auto list = dyn_cast_or_null<ArrayAttr>(attr))
    for (auto refusal : list.getAsRange<kernel::RefusalAttr>())
      refusals.emplace_back(refusal.getKernel().str(), refusal.getWhy().str());
  return refusals;
}

Decision describeGroup(nn::GroupOp group) {
  llvm::SetVector<StringRef> nodes;
  group.getBody().walk([&](Operation *op) {
    if (!isa<nn::YieldOp>(op))
      nodes.insert_range(listNodes(op->getLoc()));
  });
  return {"", llvm::join(nodes, " "), group.getKernel().str(), joinText(group.getReasonAttr()), "", findExponential(group),
          readRefusals(group.getRefusalsAttr())};
}

Decision describeKernel(func::FuncOp kernel) {
  return {"", joinText(kernel->getAttr(kernel::nodesAttrName)), joinText(kernel->getAttr(kernel::algorithmAttrName)),
          joinText(kernel->getAttr(kernel::reasonAttrName)), joinText(kernel->getAttr(kernel::shapesAttrName)), findExponential(kernel),
          readRefusals(kernel->getAttr(kernel::refusalsAttrName))};
}

static void collectDecisions(ModuleOp module, const std::string &target, std::vector<Decision> &decisions) {
  auto add = [&](Decision decision) {
    decision.target = target;
    decisions.push_back(std::move(decision));
  };
  module.walk([&](nn::GroupOp group) { add(describeGroup(group)); });
  for (auto kernel : module.getOps<func::FuncOp>())
    if (kernel->hasAttr(kernel::nodesAttrName))
      add(describeKernel(kernel));
}

std::vector<Decision> collectDecisions(const Compilation &compilation) {
  std::vector<Decision> decisions;
  for (const TargetModule &target : compilation.targets)
    collectDecisions(*target.module, compilation.targets.size() > 1 ? target.label() : "", decisions);
  return decisions;
}

//===- Plain loops ---------------------------------------------------------===//

/// Fewer operations than this take less time in plain loops than it takes to read about them: about a tenth of a millisecond.
static constexpr int64_t leastFallbackFlops = 200000;
/// What a symbol counts as in estimates.
static constexpr int64_t typicalSymbol = 64;

/// The operations of a launch; those at typical dimensions, and false, if they depend on dimensions.
static std::pair<int64_t, bool> countFlops(kernel::LaunchOp launch) {
  if (auto flops = launch.getFlops())
    return {static_cast<int64_t>(*flops), true};
  std::optional<AffineMap> work = kernel::getWork(launch);
  if (!work)
    return {0, true};
  SmallVector<AffineExpr> typical(work->getNumSymbols(), getAffineConstantExpr(typicalSymbol, launch.getContext()));
  auto number = dyn_cast<AffineConstantExpr>(work->getResult(0).replaceSymbols(typical));
  return {number ? number.getValue() : 0, false};
}

std::vector<LoopFallback> findLoopFallbacks(const Compilation &compilation) {
  std::vector<LoopFallback> fallbacks;
  for (const TargetModule &target : compilation.targets) {
    if (!target.sizes.empty())
      continue;
    ModuleOp module = *target.module;
    SymbolTable symbols(module);
    int64_t all = 0;
    bool isStatic = true;
    // The largest first; of equal ones, in the order of their launches.
    std::multimap<int64_t, LoopFallback, std::greater<>> found;
    module.walk([&](kernel::LaunchOp launch) {
      auto [flops, isKnown] = countFlops(launch);
      all += flops;
      isStatic &= isKnown;
      auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
      std::string algorithm = kernel ? joinText(kernel->getAttr(kernel::algorithmAttrName)) : "";
      if (flops < leastFallbackFlops || !(StringRef(algorithm).starts_with("matmul_loops") || StringRef(algorithm).starts_with("conv_loops")))
        return;
      auto refusals = readRefusals(kernel->getAttr(kernel::refusalsAttrName));
      if (!refusals.empty())
        found.insert({flops, {compilation.targets.size() > 1 ? target.label() : "", joinText(launch->getAttr(kernel::nodesAttrName)), algorithm,
                              refusals.front().first, refusals.front().second, isKnown ? flops : -1, -1}});
    });
    for (auto &[flops, fallback] : found) {
      fallback.allFlops = isStatic ? all : -1;
      fallbacks.push_back(std::move(fallback));
    }
  }
  return fallbacks;
}

std::string describeFallbacks(ArrayRef<LoopFallback> fallbacks) {
  constexpr size_t mostNamed = 3;
  std::string text;
  for (const LoopFallback &fallback : fallbacks.take_front(mostNamed)) {
    text += (text.empty() ? "" : "; ") + (fallback.target.empty() ? "" : "[" + fallback.target + "] ");
    text += fallback.nodes + " (" + fallback.refused + ": " + fallback.reason;
    if (fallback.flops >= 0)
      text += "; " + llvm::to_string(llvm::format("%.3g", static_cast<double>(fallback.flops))) + " operations";
    if (fallback.flops >= 0 && fallback.allFlops > 0)
      text += ", " + llvm::to_string(llvm::format("%.0f", 100.0 * static_cast<double>(fallback.flops) / static_cast<double>(fallback.allFlops))) +
              " % of the model's";
    text += ")";
  }
  if (fallbacks.size() > mostNamed)
    text += "; and " + std::to_string(fallbacks.size() - mostNamed) + " more";
  return text.empty() ? "" : "computed in plain loops, which are slow: " + text;
}

llvm::json::Array fallbacksToJson(ArrayRef<LoopFallback> fallbacks) {
  llvm::json::Array array;
  for (const LoopFallback &fallback : fallbacks) {
    llvm::json::Object object{{"nodes", jsonText(fallback.nodes)}, {"algorithm", jsonText(fallback.algorithm)},
                              {"refused", jsonText(fallback.refused)}, {"reason", jsonText(fallback.reason)}};
    if (fallback.flops >= 0)
      object["flops"] = fallback.flops;
    if (fallback.allFlops >= 0)
      object["model_flops"] = fallback.allFlops;
    if (!fallback.target.empty())
      object["target"] = fallback.target;
    array.push_back(std::move(object));
  }
  return array;
}

std::string toLine(const Decision &decision) {
  std::string target = decision.target.empty() ? "" : "[" + decision.target + "] ";
  std::string line = target + decision.nodes + ": " + decision.algorithm + (decision.reason.empty() ? "" : " - " + decision.reason);
  if (decision.exponential.empty())
    return line;
  return line + "; exp within " + llvm::to_string(llvm::format("%g", ulpBound(decision.exponential.c_str()))) + " ulp";
}

MemoryUse describeMemory(const TargetModule &target) {
  auto take = [&](StringRef name) {
    auto value = (*target.module)->getAttrOfType<IntegerAttr>(name);
    return value ? value.getInt() : -1;
  };
  return {take(nn::transposesAttrName), take(kernel::workspaceBytesAttrName), take(kernel::workspaceLowerBoundAttrName), take(nn::sliceCopiesAttrName)};
}

MemoryUse describeMemory(const Compilation &compilation) {
  MemoryUse use;
  for (const TargetModule &target : compilation.targets) {
    MemoryUse own = describeMemory(target);
    use.layoutConversions = std::max(use.layoutConversions, own.layoutConversions);
    use.workspaceBytes = std::max(use.workspaceBytes, own.workspaceBytes);
    use.workspaceLowerBound = std::max(use.workspaceLowerBound, own.workspaceLowerBound);
    use.sliceCopies = std::max(use.sliceCopies, own.sliceCopies);
  }
  return use;
}

/// Visits the dictionaries of `kernel.composites`, with the target's name if there are several targets.
static void forEachComposite(const Compilation &compilation, llvm::function_ref<void(StringRef target, DictionaryAttr)> visit) {
  for (const TargetModule &target : compilation.targets)
    if (auto composites = (*target.module)->getAttrOfType<ArrayAttr>(kernel::compositesAttrName))
      for (auto composite : composites.getAsRange<DictionaryAttr>())
        visit(compilation.targets.size() > 1 ? target.label() : "", composite);
}

static void printComposites(const Compilation &compilation) {
  forEachComposite(compilation, [](StringRef target, DictionaryAttr composite) {
    std::string line = target.empty() ? "" : "[" + target.str() + "] ";
    line += joinText(composite.get("nodes")) + ": " + joinText(composite.get("composite")) + " " + joinText(composite.get("form")) + " - " +
            joinText(composite.get("reason"));
    if (auto fused = composite.getAs<IntegerAttr>("fused_bytes"), split = composite.getAs<IntegerAttr>("split_bytes"); fused && split)
      line += "; fused, it moves " + std::to_string(fused.getInt()) + " bytes, split " + std::to_string(split.getInt());
    printLine(llvm::errs(), line);
  });
}

static llvm::json::Object toJson(DictionaryAttr composite) {
  llvm::json::Object object;
  for (NamedAttribute entry : composite) {
    auto number = dyn_cast<IntegerAttr>(entry.getValue());
    object[jsonText(entry.getName())] = number ? llvm::json::Value(number.getInt()) : llvm::json::Value(jsonText(joinText(entry.getValue())));
  }
  return object;
}

llvm::json::Array compositesToJson(const TargetModule &target) {
  llvm::json::Array array;
  if (auto composites = (*target.module)->getAttrOfType<ArrayAttr>(kernel::compositesAttrName))
    for (auto composite : composites.getAsRange<DictionaryAttr>())
      array.push_back(toJson(composite));
  return array;
}

llvm::json::Array compositesToJson(const Compilation &compilation) {
  llvm::json::Array array;
  forEachComposite(compilation, [&](StringRef target, DictionaryAttr composite) {
    llvm::json::Object object = toJson(composite);
    if (!target.empty())
      object["target"] = target.str();
    array.push_back(std::move(object));
  });
  return array;
}

static void printDecision(const Decision &decision) {
  printLine(llvm::errs(), toLine(decision));
  for (const auto &[kernel, why] : decision.refusals)
    printLine(llvm::errs(), "  not " + kernel + ": " + why);
}

/// A line for each pair of an input and an output that may be one buffer.
static void printInPlace(ModuleOp module) {
  auto nameOf = [](ArrayAttr tensors, int64_t position) { return cast<DictionaryAttr>(tensors[position]).getAs<StringAttr>("name").str(); };
  for (auto entry : module.getOps<kernel::EntryOp>()) {
    auto pairs = entry->getAttrOfType<DenseI64ArrayAttr>(kernel::inPlaceAttrName);
    for (int64_t i = 0; pairs && i + 1 < pairs.size(); i += 2) {
      auto type = cast<RankedTensorType>(cast<DictionaryAttr>(entry.getInputs()[pairs[i]]).getAs<TypeAttr>("type").getValue());
      std::string copied = "the whole tensor", output = nameOf(entry.getOutputs(), pairs[i + 1]), input = nameOf(entry.getInputs(), pairs[i]);
      if (type.hasStaticShape())
        copied = std::to_string(type.getNumElements() * nn::elementBytes(type.getElementType())) + " bytes";
      printLine(llvm::errs(), "'" + output + "' may be the buffer of '" + input + "': " + copied + " are not copied then");
    }
  }
}

bool printDecisionsFor(const Compilation &compilation, StringRef node) {
  bool found = false;
  for (const Decision &decision : collectDecisions(compilation)) {
    SmallVector<StringRef> nodes;
    StringRef(decision.nodes).split(nodes, ' ');
    if (llvm::none_of(nodes, [&](StringRef each) { return each == node || each.rsplit('(').first == node; }))
      continue;
    printDecision(decision);
    found = true;
  }
  if (!compilation.nearMiss.empty())
    printLine(llvm::errs(), compilation.nearMiss);
  return found;
}

/// The totals of what is rounded on request; warnings have said where that is nothing.
static void printRounding(const Compilation &compilation) {
  for (const TargetModule &target : compilation.targets)
    for (const std::string &line : nn::listRounding(*target.module))
      if (!StringRef(line).starts_with("no "))
        printLine(llvm::errs(), (compilation.targets.size() > 1 ? "[" + target.label() + "] " : "") + line);
}

/// Values that are computed again so that they need no memory in between, and those that are not though that would save some.
static void printRecomputed(const Compilation &compilation) {
  for (const TargetModule &target : compilation.targets)
    (*target.module)->walk([&](kernel::LaunchOp launch) {
      if (auto reason = launch->getAttrOfType<StringAttr>(kernel::reasonAttrName))
        printLine(llvm::errs(), (compilation.targets.size() > 1 ? "[" + target.label() + "] " : "") + joinText(launch->getAttr(kernel::nodesAttrName)) + ": " +
                                    reason.str());
    });
}

void printDecisions(const Compilation &compilation) {
  printComposites(compilation);
  for (const Decision &decision : collectDecisions(compilation))
    printDecision(decision);
  printRecomputed(compilation);
  printRounding(compilation);
  printInPlace(*compilation.targets.front().module);
  MemoryUse use = describeMemory(compilation);
  if (use.layoutConversions >= 0)
    llvm::errs() << "layout conversions: " << use.layoutConversions << "\n";
  if (use.sliceCopies >= 0)
    llvm::errs() << "copies that put slices for other ranks in order: " << use.sliceCopies << "\n";
  if (use.workspaceBytes >= 0)
    llvm::errs() << "workspace: " << use.workspaceBytes << " bytes, " << use.workspaceLowerBound << " alive at the same time\n";
}

llvm::json::Array decisionsToJson(ArrayRef<Decision> decisions) {
  llvm::json::Array array;
  for (const Decision &decision : decisions) {
    llvm::json::Object object{{"nodes", jsonText(decision.nodes)},
                              {"algorithm", jsonText(decision.algorithm)},
                              {"reason", jsonText(decision.reason)},
                              {"shapes", jsonText(decision.shapes)}};
    for (const auto &[kernel, why] : decision.refusals)
      object.try_emplace("refused", llvm::json::Array()).first->second.getAsArray()->push_back(
          llvm::json::Object{{"algorithm", jsonText(kernel)}, {"reason", jsonText(why)}});
    if (!decision.exponential.empty())
      object["accuracy"] = llvm::json::Object{{"function", decision.exponential}, {"ulp", ulpBound(decision.exponential.c_str())}};
    if (!decision.target.empty())
      object["target"] = decision.target;
    array.push_back(std::move(object));
  }
  return array;
}

std::map<std::string, int64_t> countOperators(ModuleOp module) {
  llvm::SetVector<StringRef> nodes;
  // A call of a function counts as the operators in its body.
  module.walk([&](Operation *op) {
    if (!isa<nn::CompositeOp>(op))
      nodes.insert_range(listNodes(op->getLoc()));
  });
  std::map<std::string, int64_t> counts;
  for (StringRef node : nodes) {
    size_t open = node.rfind('(');
    if (open != StringRef::npos && node.ends_with(")"))
      ++counts[node.slice(open + 1, node.size() - 1).str()];
  }
  return counts;
}

} // namespace kiln
