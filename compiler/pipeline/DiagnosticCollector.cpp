//===- DiagnosticCollector.cpp - The errors of a compile as lines ----------===//
#include "compiler/pipeline/DiagnosticCollector.h"
#include "dialects/kernel/Refusal.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace kiln {

/// The innermost ONNX node of a location: a name with the operator in parentheses.
static std::string nodeOf(Location loc) {
  std::string node;
  loc->walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    StringRef text = name ? name.getName().getValue() : StringRef();
    if (!text.ends_with(")"))
      return WalkResult::advance();
    auto [stem, op] = text.drop_back(1).rsplit('(');
    node = ("node '" + stem + "' (" + op + "): ").str();
    return WalkResult::interrupt();
  });
  return node;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context, std::vector<std::string> &errors)
    : errors(errors), handler(&context, [this](Diagnostic &diagnostic) { return handle(diagnostic); }) {}

LogicalResult DiagnosticCollector::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return success();
  std::string text = diagnostic.str();
  StringRef message = text;
  // The pass manager reports every failure once more; whatever failed has said what is wrong.
  if (message.starts_with("Failures have been detected while processing an MLIR pass pipeline"))
    return success();
  bug |= !kernel::isRefusal(diagnostic);
  std::string place = nodeOf(diagnostic.getLocation());
  if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>(); file && place.empty())
    place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn()) + ": ").str();
  errors.push_back(place + text);
  return success();
}

} // namespace kiln
