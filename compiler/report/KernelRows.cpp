//===- KernelRows.cpp - The kernels, weights and machine of a report ---------===//
#include "compiler/report/KernelRows.h"
#include "compiler/Decisions.h"
#include "compiler/emit/Sources.h"
#include "compiler/emit/Weights.h"
#include "compiler/files/Printable.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Tuning.h"
#include "runtime/include/kiln/math/bounds.h"

using namespace mlir;

namespace kiln {

StringRef nameOperands(Type element) { return element.isInteger(8) ? "bytes" : element.isBF16() ? "bf16" : "real"; }

/// What the steps of a kernel multiply. Those for whole tiles are calls, of which the plan knows more.
static StringRef findOperands(func::FuncOp kernel) {
  StringRef operands = "real";
  kernel.walk([&](kernel::StepOp step) {
    if (StringRef own = nameOperands(getElementTypeOrSelf(step.getRhs().getType())); own != "real")
      operands = own;
  });
  return operands;
}

llvm::Expected<KernelList> listKernels(const Signature &signature, GraphRows &graph) {
  KernelList list;
  auto texts = printKernelTexts(signature);
  if (failed(texts))
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "a kernel has no C++ text");
  for (auto &[function, text] : *texts) {
    Decision decision = describeKernel(function);
    llvm::json::Object row{{"name", jsonText(function.getSymName())},
                           {"launched_as", jsonText(signature.versionOf(function.getSymName()))},
                           {"function", text.name},
                           {"algorithm", jsonText(decision.algorithm)},
                           {"reason", jsonText(decision.reason)},
                           {"shapes", jsonText(decision.shapes)},
                           {"operands", findOperands(function)},
                           {"nodes", graph.find(function->getAttrOfType<ArrayAttr>(kernel::nodesAttrName))},
                           {"code", jsonText(text.definition)}};
    if (!decision.exponential.empty())
      row["ulp"] = ulpBound(decision.exponential.c_str());
    llvm::json::Array refused;
    for (const auto &[kernel, why] : decision.refusals)
      refused.push_back(llvm::json::Object{{"algorithm", jsonText(kernel)}, {"reason", jsonText(why)}});
    row["refused"] = std::move(refused);
    list.numbers[function.getSymName()] = static_cast<int64_t>(list.rows.size());
    list.rows.push_back(std::move(row));
  }
  return list;
}

llvm::json::Array listWeights(ModuleOp module) {
  llvm::json::Array list;
  for (auto weight : module.getOps<kernel::WeightOp>()) {
    auto nodes = listNodes(weight.getLoc());
    llvm::json::Object row{{"symbol", jsonText(weight.getSymName())},
                           {"name", jsonText(nodes.empty() ? weight.getSymName() : nodes.front())},
                           {"type", describeType(weight.getValue().getType(), {})},
                           {"bytes", getStoredBytes(weight)},
                           {"offset", weight.getOffset() ? static_cast<int64_t>(*weight.getOffset()) : -1}};
    if (auto pack = weight.getPack()) {
      std::string shape;
      for (int64_t extent : pack->getShape())
        shape += (shape.empty() ? "" : "x") + std::to_string(extent);
      row["packed"] = shape;
    }
    list.push_back(std::move(row));
  }
  return list;
}

llvm::json::Object describeMachine(ModuleOp module) {
  kernel::TargetAttr target = kernel::getTarget(module);
  int64_t lanes = target.lanes(32);
  llvm::json::Object peaks{{"real", 2 * lanes}};
  for (kernel::StepAttr step : target.getSteps()) {
    StringRef kind = nameOperands(step.getRhs());
    // An instruction for whole tiles takes many times as long, and how many is not known.
    if (step.getRows() == 1)
      peaks.try_emplace(kind, 2 * step.getLanes() * step.getDepth());
  }
  llvm::json::Object rates{{"L1", int64_t(target.getVectorBits() / 8)}, {"L2", target.tuned(kernel::Tuned::L2Rate)},
                           {"L3", target.tuned(kernel::Tuned::L3Rate)}, {"memory", target.tuned(kernel::Tuned::MemoryRate)}};
  llvm::json::Array features;
  for (Attribute feature : target.getFeatures())
    features.push_back(jsonText(cast<StringAttr>(feature).getValue()));
  return llvm::json::Object{{"triple", jsonText(target.getTriple())},
                            {"cpu", jsonText(target.getCpu())},
                            {"vector_bits", int64_t(target.getVectorBits())},
                            {"registers", int64_t(target.getRegisters())},
                            {"caches", llvm::json::Object{{"L1", target.getL1()}, {"L2", target.getL2()}, {"L3", target.getL3()}}},
                            {"peaks", std::move(peaks)},
                            {"rates", std::move(rates)},
                            {"features", std::move(features)}};
}

} // namespace kiln
