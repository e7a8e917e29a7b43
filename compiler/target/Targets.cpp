//===- Targets.cpp - The targets that Kiln knows by name -------------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/System.h"
#include "compiler/target/TargetFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace kiln {

static constexpr Target targets[] = {
#define KILN_TARGET(describe, name, summary) {name, summary, describe},
#include "compiler/target/Targets.def"
};

static constexpr TargetFamily families[] = {
#define KILN_TARGET_FAMILY(name, members, summary) {name, members, summary},
#include "compiler/target/Targets.def"
};

ArrayRef<Target> getTargets() { return targets; }

ArrayRef<TargetFamily> getTargetFamilies() { return families; }

kernel::TargetAttr makeTarget(MLIRContext *context, StringRef name) {
  context->loadDialect<kernel::KernelDialect>();
  const auto *found = llvm::find_if(targets, [&](const Target &target) { return target.name == name; });
  return found == std::end(targets) ? kernel::TargetAttr() : found->describe(context, name);
}

/// A draft of an extension, which systems have no name for; empty when there is none.
static StringRef findUnreported(kernel::TargetAttr attr) {
  for (auto feature : attr.getFeatures().getAsRange<StringAttr>())
    if (feature.getValue().starts_with("experimental-"))
      return feature.getValue();
  return "";
}

bool canShareLibrary(ArrayRef<kernel::TargetAttr> attrs, std::string &error) {
  auto arch = [](kernel::TargetAttr attr) { return llvm::Triple(attr.getTriple()).getArch(); };
  auto system = [](kernel::TargetAttr attr) { return llvm::Triple(attr.getTriple()).getOS(); };
  for (size_t i = 0; i < attrs.size(); ++i) {
    kernel::TargetAttr attr = attrs[i];
    std::string name = "'" + attr.getName().str() + "'";
    if (llvm::any_of(attrs.take_front(i), [&](kernel::TargetAttr other) { return other.getName() == attr.getName(); }))
      error = "target " + name + " is named twice";
    else if (arch(attr) != arch(attrs.front()))
      error = "targets '" + attrs.front().getName().str() + "' and " + name + " are for CPUs of different architectures: compile them one by one";
    else if (system(attr) != system(attrs.front()))
      error = "targets '" + attrs.front().getName().str() + "' and " + name + " are for different systems: compile them one by one";
    else if (StringRef feature = findUnreported(attr); !feature.empty() && attrs.size() > 1)
      error = "target " + name + " needs " + feature.str() + ", which no system reports: compile it by itself";
  }
  return error.empty();
}

/// The names in place of `portable`, which is the family of this machine, and of families; others stay. Each keeps its system.
static std::vector<std::string> expandFamilies(ArrayRef<std::string> given) {
  std::vector<std::string> all;
  for (StringRef name : given) {
    StringRef system = takeSystem(name);
    std::string suffix = system.empty() ? "" : "@" + system.str();
    StringRef host = llvm::Triple::getArchTypeName(llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch());
    std::string wanted = name == "portable" ? ("portable-" + host).str() : name.str();
    const auto *family = llvm::find_if(families, [&](const TargetFamily &family) { return family.name == wanted; });
    if (family == std::end(families))
      all.push_back(name.str() + suffix);
    else
      for (StringRef member : llvm::split(family->members, ','))
        all.push_back(member.str() + suffix);
  }
  return all;
}

std::vector<kernel::TargetAttr> makeTargets(MLIRContext *context, ArrayRef<std::string> given, std::string &error) {
  std::vector<kernel::TargetAttr> attrs;
  std::vector<std::string> names = expandFamilies(given);
  if (names.empty())
    error = "no target is named";
  for (StringRef name : names) {
    StringRef system = takeSystem(name);
    attrs.push_back(isTargetFile(name) ? readTargetFile(context, name, error) : makeTarget(context, name));
    if (attrs.back() && !system.empty())
      attrs.back() = setSystem(attrs.back(), system, error);
    if (attrs.back())
      continue;
    if (!error.empty())
      return {};
    for (const Target &known : getTargets())
      error += (error.empty() ? "unknown target '" + name.str() + "', expected one of: " : ", ") + known.name.str();
    return {};
  }
  if (!canShareLibrary(attrs, error))
    return {};
  return attrs;
}

} // namespace kiln
