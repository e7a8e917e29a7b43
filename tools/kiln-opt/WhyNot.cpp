//===- WhyNot.cpp - The reasons of patterns that did not match -------------===//
#include "tools/kiln-opt/WhyNot.h"
#include "passes/graph/PatternReasons.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace llvm;

namespace kiln {

static cl::opt<std::string> whyNot("why-not", cl::ValueOptional, cl::value_desc("REGEX"),
                                   cl::desc("Print why patterns did not match, of patterns and operations whose names match"));

/// `file:line:column`, or the names in the location.
static std::string toText(Location location) {
  std::vector<std::string> parts;
  location->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part))
      parts.push_back((file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str());
    auto name = dyn_cast<NameLoc>(part);
    if (name)
      parts.push_back(name.getName().str());
    return name ? WalkResult::skip() : WalkResult::advance();
  });
  return parts.empty() ? "(unknown)" : join(parts, " ");
}

/// An empty expression would be no valid one.
static Regex makeFilter() { return Regex(whyNot.empty() ? "." : StringRef(whyNot)); }

/// A pattern's C++ type without the namespaces.
static std::string shorten(StringRef pattern) {
  std::string text = pattern.str();
  for (StringRef space : {"(anonymous namespace)::", "{anonymous}::", "kiln::", "nn::", "mlir::"})
    for (size_t at; (at = text.find(space)) != std::string::npos;)
      text.erase(at, space.size());
  return text;
}

namespace {
class ReasonPrinter : public remark::detail::MLIRRemarkStreamerBase {
public:
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string operation = toText(remark.getLocation()) + ": " + remark.getFunction().str();
    // An operation that is no more was matched, or what was computed from it.
    if (remark.getRemarkType() == remarks::Type::Passed) {
      reasons.erase(operation);
      return;
    }
    std::string pattern = shorten(remark.getRemarkName()), reason = remark.getArgs().front().val;
    if (filter.match(pattern) || filter.match(remark.getFunction()))
      reasons[operation][pattern == unnamedPattern ? reason : pattern + ": "] = pattern == unnamedPattern ? "" : reason;
  }
  /// Prints them in the order of their lines.
  void finalize() override {
    std::vector<StringRef> operations(reasons.keys().begin(), reasons.keys().end());
    sort(operations, [](StringRef a, StringRef b) { return a.compare_numeric(b) < 0; });
    for (StringRef operation : operations)
      for (auto &[pattern, reason] : reasons[operation])
        errs() << operation << ": " << pattern << reason << "\n";
  }

private:
  Regex filter = makeFilter();
  /// The last reason of each pattern for each operation, which may be tried many times; all reasons of those without a name.
  StringMap<std::map<std::string, std::string>> reasons;
};
} // namespace

/// Replaces the engine that mlir-opt gives each context.
static void reportReasons(MLIRContext *context) {
  remark::RemarkCategories categories;
  categories.missed = categories.passed = "^" + matchCategory.str() + "$";
  (void)remark::enableOptimizationRemarks(*context, std::make_unique<ReasonPrinter>(), std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

static LogicalResult fail(const Twine &message) {
  WithColor::error(errs()) << message << "\n";
  return failure();
}

LogicalResult runOpt(int argc, char **argv, DialectRegistry &registry) {
  auto [inputPath, outputPath] = registerAndParseCLIOptions(argc, argv, "Kiln optimizer\n", registry);
  if (whyNot.getNumOccurrences() == 0)
    return MlirOptMain(argc, argv, inputPath, outputPath, registry);
  std::string error;
  if (!makeFilter().isValid(error))
    return fail("--why-not=" + whyNot + ": " + error);
  std::unique_ptr<MemoryBuffer> input = openInputFile(inputPath, &error);
  std::unique_ptr<ToolOutputFile> output = input ? openOutputFile(outputPath, &error) : nullptr;
  if (!output)
    return fail(error);
  MlirOptMainConfig given = MlirOptMainConfig::createFromCLOptions(), config = given;
  config.setPassPipelineSetupFn([&](PassManager &passes) {
    reportReasons(passes.getContext());
    return given.setupPassPipeline(passes);
  });
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

} // namespace kiln
