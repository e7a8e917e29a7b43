//===- Targets.cpp - The targets that Kiln knows by name -------------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/TargetFile.h"

#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace kiln {

static constexpr Target targets[] = {
#define KILN_TARGET(describe, name, summary) {name, summary, describe},
#include "compiler/target/Targets.def"
#undef KILN_TARGET
};

ArrayRef<Target> getTargets() { return targets; }

kernel::TargetAttr makeTarget(MLIRContext *context, StringRef name) {
  context->loadDialect<kernel::KernelDialect>();
  const auto *found = llvm::find_if(targets, [&](const Target &target) { return target.name == name; });
  return found == std::end(targets) ? kernel::TargetAttr() : found->describe(context, name);
}

bool canShareLibrary(ArrayRef<kernel::TargetAttr> attrs, std::string &error) {
  auto arch = [](kernel::TargetAttr attr) { return llvm::Triple(attr.getTriple()).getArch(); };
  for (size_t i = 0; i < attrs.size(); ++i) {
    kernel::TargetAttr attr = attrs[i];
    std::string name = "'" + attr.getName().str() + "'";
    if (llvm::any_of(attrs.take_front(i), [&](kernel::TargetAttr other) { return other.getName() == attr.getName(); }))
      error = "target " + name + " is named twice";
    else if (arch(attr) != arch(attrs.front()))
      error = "targets '" + attrs.front().getName().str() + "' and " + name + " are for CPUs of different architectures: compile them one by one";
  }
  return error.empty();
}

std::vector<kernel::TargetAttr> makeTargets(MLIRContext *context, ArrayRef<std::string> names, std::string &error) {
  std::vector<kernel::TargetAttr> attrs;
  if (names.empty())
    error = "no target is named";
  for (const std::string &name : names) {
    attrs.push_back(isTargetFile(name) ? readTargetFile(context, name, error) : makeTarget(context, name));
    if (attrs.back())
      continue;
    if (!error.empty())
      return {};
    for (const Target &known : getTargets())
      error += (error.empty() ? "unknown target '" + name + "', expected one of: " : ", ") + known.name.str();
    return {};
  }
  if (!canShareLibrary(attrs, error))
    return {};
  return attrs;
}

} // namespace kiln
