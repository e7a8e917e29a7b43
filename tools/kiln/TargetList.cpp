//===- TargetList.cpp - --target=list --------------------------------------===//
#include "compiler/files/Printable.h"
#include "compiler/target/Targets.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace kiln {

static std::vector<StringRef> listFeatures(kernel::TargetAttr attr) {
  auto names = attr.getFeatures().getAsValueRange<mlir::StringAttr>();
  return {names.begin(), names.end()};
}

static std::vector<StringRef> listSteps(kernel::TargetAttr attr) {
  std::vector<StringRef> names;
  for (kernel::StepAttr step : attr.getSteps())
    if (!step.getFunction().empty())
      names.push_back(step.getFunction());
  return names;
}

static void printTarget(const Target &target, kernel::TargetAttr attr) {
  printLine(outs(), target.name.str() + std::string(16 - std::min<size_t>(target.name.size(), 15), ' ') + target.summary.str());
  auto line = [](StringRef label, const std::string &text) {
    if (!text.empty())
      printLine(outs(), std::string(16, ' ') + label.str() + text);
  };
  auto kilobytes = [](int64_t bytes) { return std::to_string(bytes >> 10) + " KiB"; };
  line("vectors: ", std::to_string(attr.getRegisters()) + " of " + std::to_string(attr.getVectorBits()) + " bits; caches: " + kilobytes(attr.getL1()) + ", " +
                        kilobytes(attr.getL2()) + ", " + kilobytes(attr.getL3()));
  line("steps: ", llvm::join(listSteps(attr), ", "));
  line("features: ", llvm::join(listFeatures(attr), " "));
}

int listTargets(bool asJson) {
  mlir::MLIRContext context;
  json::Array all;
  for (const Target &target : getTargets()) {
    kernel::TargetAttr attr = makeTarget(&context, target.name);
    if (!asJson) {
      printTarget(target, attr);
      continue;
    }
    all.push_back(json::Object{{"name", target.name}, {"summary", target.summary}, {"triple", attr.getTriple()}, {"vector_bits", attr.getVectorBits()},
                               {"registers", attr.getRegisters()}, {"l1", attr.getL1()}, {"l2", attr.getL2()}, {"l3", attr.getL3()},
                               {"steps", json::Array(listSteps(attr))}, {"features", json::Array(listFeatures(attr))}});
  }
  json::Array libraries;
  for (const TargetFamily &family : getTargetFamilies()) {
    if (!asJson)
      printLine(outs(), family.name.str() + std::string(18 - std::min<size_t>(family.name.size(), 17), ' ') + family.summary.str() + ": " +
                            join(split(family.members, ','), ", "));
    libraries.push_back(json::Object{{"name", family.name}, {"summary", family.summary}, {"members", json::Array(split(family.members, ','))}});
  }
  if (asJson)
    printJson(json::Object{{"targets", std::move(all)}, {"libraries", std::move(libraries)}});
  return Done;
}

} // namespace kiln
