//===- VersionCommand.cpp - kiln version: what this kiln is -------------------===//
#include "compiler/target/Targets.h"
#include "kiln/images.h"
#include "tools/kiln/BuildCommit.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/HelpText.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Host.h"
#include <google/protobuf/stubs/common.h>

using namespace llvm;

namespace kiln {

static cl::opt<bool> isDetailed("v", cl::desc("Also print the commit, the CPU, the formats and the libraries"), cl::sub(versionCommand));

static void printRow(StringRef name, const std::string &text) {
  constexpr unsigned column = 12;
  outs() << left_justify(name, column);
  printWrapped(outs(), text, column, column, getColumns());
}

/// The CPU as LLVM calls it, and what the target `native` uses of it.
static std::string describeHost() {
  mlir::MLIRContext context;
  kernel::TargetAttr native = makeTarget(&context, "native");
  std::vector<StringRef> features;
  for (auto feature : native.getFeatures().getAsValueRange<mlir::StringAttr>())
    features.push_back(feature);
  return sys::getDefaultTargetTriple() + ", " + sys::getHostCPUName().str() + ", " + std::to_string(native.getVectorBits()) + "-bit vectors" +
         (features.empty() ? "" : ": ") + join(features, " ");
}

static void printDetails() {
  printRow("commit", KILN_COMMIT);
  printRow("host", describeHost());
  std::vector<std::string> families;
  for (const TargetFamily &family : getTargetFamilies())
    families.push_back(family.name.str());
  printRow("targets", std::to_string(getTargets().size()) + " by name (kiln --target=list), " + join(families, ", "));
  printRow("models", "ONNX (.onnx, .onnxtxt, .textproto), Kiln's IR (.mlir, .mlirbc)");
  printRow("objects", "ELF, COFF, Mach-O, WebAssembly");
  printRow("pictures", kiln_images_formats());
  constexpr int million = 1000000, thousand = 1000;
  printRow("libraries", "LLVM, MLIR and Clang " LLVM_VERSION_STRING ", " KILN_LINKING "; protobuf " + std::to_string(GOOGLE_PROTOBUF_VERSION / million) + "." +
                            std::to_string(GOOGLE_PROTOBUF_VERSION / thousand % thousand) + "." + std::to_string(GOOGLE_PROTOBUF_VERSION % thousand));
}

int runVersion() {
  outs() << "kiln " KILN_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  if (isDetailed)
    printDetails();
  return Done;
}

} // namespace kiln
