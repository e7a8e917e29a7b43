//===- System.cpp - The operating systems that targets are compiled for ------===//
#include "compiler/target/System.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace kiln {

/// Windows is that of mingw. Visual C++ has another name for the function that touches the pages of a large stack frame. macOS 11 is the first for both of
/// its architectures.
static constexpr System systems[] = {
    {"linux", "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"},
    {"windows", "x86_64-w64-windows-gnu", "aarch64-w64-windows-gnu"},
    {"windows-msvc", "x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc"},
    {"macos", "x86_64-apple-macosx11.0", "arm64-apple-macosx11.0"},
};

ArrayRef<System> getSystems() { return systems; }

StringRef takeSystem(StringRef &targetName) {
  auto [name, system] = targetName.rsplit('@');
  if (!llvm::is_contained(llvm::map_range(systems, [](const System &known) -> StringRef { return known.name; }), system))
    return "";
  targetName = name;
  return system;
}

kernel::TargetAttr dropTiles(kernel::TargetAttr target, StringRef name) {
  std::vector<Attribute> features;
  for (auto feature : target.getFeatures().getAsRange<StringAttr>())
    if (!feature.getValue().starts_with("amx-"))
      features.push_back(feature);
  if (features.size() == target.getFeatures().size())
    return target;
  SmallVector<kernel::StepAttr> steps;
  for (kernel::StepAttr step : target.getSteps())
    if (step.getShape().front() == 1)
      steps.push_back(step);
  // The CPU's name would imply tiles.
  return kernel::TargetAttr::get(target.getContext(), name, target.getTriple(), "x86-64", target.getVectorBits(), target.getRegisters(), target.getL1(),
                                 target.getL2(), target.getL3(), ArrayAttr::get(target.getContext(), features), target.getLibraries(), steps,
                                 target.getTuning(), target.getComposites());
}

kernel::TargetAttr setSystem(kernel::TargetAttr target, StringRef name, std::string &error) {
  llvm::Triple::ArchType arch = llvm::Triple(target.getTriple()).getArch();
  const System *system = llvm::find_if(systems, [&](const System &known) { return known.name == name; });
  if (arch != llvm::Triple::x86_64 && arch != llvm::Triple::aarch64) {
    error = "target '" + target.getName().str() + "' has no other system: --system is for 64-bit x86 and Arm";
    return {};
  }
  StringRef triple = arch == llvm::Triple::x86_64 ? system->x86 : system->arm;
  // A program gets registers for tiles from Linux; Kiln does not know how to ask other systems.
  if (!llvm::Triple(triple).isOSLinux())
    target = dropTiles(target, target.getName());
  return kernel::TargetAttr::get(target.getContext(), target.getName(), triple, target.getCpu(), target.getVectorBits(), target.getRegisters(),
                                 target.getL1(), target.getL2(), target.getL3(), target.getFeatures(), target.getLibraries(), target.getSteps(),
                                 target.getTuning(), target.getComposites());
}

} // namespace kiln
