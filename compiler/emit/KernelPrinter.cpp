//===- KernelPrinter.cpp - Kernel functions as C++ -------------------------===//
#include "compiler/emit/KernelPrinter.h"
#include "compiler/emit/FunctionPrinter.h"

#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

/// Columns of a comment, and of a list of parameters.
static constexpr size_t commentColumns = 110, parameterColumns = 140;

std::string joinStrings(Attribute attr, StringRef separator) {
  if (auto text = dyn_cast_or_null<StringAttr>(attr))
    return text.str();
  std::vector<std::string> texts;
  if (auto list = dyn_cast_or_null<ArrayAttr>(attr))
    for (Attribute entry : list)
      if (auto text = dyn_cast<StringAttr>(entry))
        texts.push_back(text.str());
  return llvm::join(texts, separator);
}

std::string commentLines(StringRef label, StringRef text) {
  if (text.empty())
    return "";
  std::string result, current = label.empty() ? "//" : "// " + label.str();
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, false);
  for (StringRef word : words) {
    if (current.size() + word.size() >= commentColumns) {
      result += current + "\n";
      current = "//  ";
    }
    current += " " + makeCommentText(word);
  }
  return result + current + "\n";
}

std::string printCall(const std::string &head, ArrayRef<std::string> parameters) {
  std::string text = head + "(";
  size_t indent = text.size() - text.rfind('\n') - 1, column = indent;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    bool fits = column + parameter.size() < parameterColumns || i == 0;
    text += i == 0 ? "" : fits ? ", " : ",\n" + std::string(indent, ' ');
    column = (fits ? column + 2 : indent) + parameter.size();
    text += parameter;
  }
  return text + ")";
}

std::string parameterType(func::FuncOp kernel, unsigned argument) {
  Type type = kernel.getArgument(argument).getType();
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer)
    return cppType(type);
  std::string element = cppElementType(buffer.getElementType());
  if (element.empty() || buffer.getRank() != 1 || !buffer.getLayout().isIdentity())
    return "";
  bool written = kernel.getArgAttr(argument, kernel::writtenAttrName) || kernel.getArgAttr(argument, kernel::statusAttrName);
  return (written ? "" : "const ") + element + " *";
}

std::string declareExternals(ModuleOp module) {
  std::vector<std::string> headers;
  std::string declarations;
  for (auto external : module.getOps<kernel::ExternalOp>()) {
    if (external.getHeaderAttr() && external.getLibraryAttr()) {
      if (std::string header = takeHeader(*external.getLibrary()); !llvm::is_contained(headers, header))
        headers.push_back(header);
      continue;
    }
    auto type = cast<FunctionType>(external.getType());
    std::vector<std::string> types;
    for (auto [i, input] : llvm::enumerate(type.getInputs())) {
      auto buffer = dyn_cast<MemRefType>(input);
      bool written = llvm::is_contained(external.getWrites(), static_cast<int64_t>(i));
      types.push_back(buffer ? (written ? "" : "const ") + cppElementType(buffer.getElementType()) + " *" : cppType(input));
    }
    bool reports = type.getNumResults() > 0;
    // A function of the program's that reports a status may be missing until the run.
    declarations += printCall(reports ? "extern \"C\" __attribute__((weak)) kiln_status " + takeName(external.getSymName())
                                      : "extern \"C\" void " + takeName(external.getSymName()), types) +
                    (reports ? " { return KILN_STATUS_MISSING_FUNCTION; }\n" : ";\n");
  }
  std::string includes;
  for (const std::string &header : headers)
    includes += "#include \"" + header + "\"\n";
  return includes + (includes.empty() ? "" : "\n") + declarations + (declarations.empty() ? "" : "\n");
}

static std::string declare(const std::string &type, const std::string &name) {
  return type + (type.back() == '*' ? "" : " ") + name;
}

/// The name of a parameter that has no given name.
static std::string parameterFallback(func::FuncOp kernel, unsigned argument, bool tasks) {
  unsigned count = kernel.getNumArguments();
  if (tasks && argument + 2 == count)
    return "begin";
  if (tasks && argument + 1 == count)
    return "end";
  return isa<MemRefType>(kernel.getArgument(argument).getType()) ? "buffer" : "n";
}

namespace {
struct FunctionText {
  std::vector<std::string> parameters;
  std::string body;
  std::set<std::string> vectorTypes;
};
} // namespace

/// Prints a body and its parameters. Parameters that the body does not mention have no name, so that compilers do not warn.
static FailureOr<FunctionText> printFunction(func::FuncOp function, bool tasks) {
  FunctionPrinter printer;
  for (BlockArgument argument : function.getArguments())
    printer.define(argument, printer.nameOf(argument, parameterFallback(function, argument.getArgNumber(), tasks)));
  printer.printTables(function);
  if (failed(printer.printBlock(function.getBody().front())))
    return failure();
  std::vector<std::string> parameters;
  for (BlockArgument argument : function.getArguments()) {
    std::string type = parameterType(function, argument.getArgNumber());
    if (type.empty())
      return function.emitError("internal error: parameter ") << argument.getArgNumber() << " has a type that C++ text cannot have: " << argument.getType();
    bool used = printer.isMentioned(argument);
    std::string name = printer.expression(argument).text;
    parameters.push_back(declare(type, used ? name : "/*" + name + "*/"));
  }
  return FunctionText{parameters, printer.body(), printer.vectorTypes()};
}

static std::string heading(func::FuncOp kernel) {
  auto attr = [&](StringRef name) { return kernel->getAttr(name); };
  return commentLines("", joinStrings(attr(kernel::nodesAttrName), ", ")) + commentLines("shapes:", joinStrings(attr(kernel::shapesAttrName), ", ")) +
         commentLines("algorithm:", joinStrings(attr(kernel::algorithmAttrName), ", ")) +
         commentLines("reason:", joinStrings(attr(kernel::reasonAttrName), ", "));
}

FailureOr<KernelText> printKernel(func::FuncOp kernel, const std::string &name) {
  unsigned count = kernel.getNumArguments();
  bool hasRange = count >= 2 && kernel.getArgument(count - 2).getType().isIndex() && kernel.getArgument(count - 1).getType().isIndex();
  if (!hasRange || kernel.isExternal() || !kernel.getBody().hasOneBlock() || kernel.getNumResults())
    return kernel.emitError("internal error: expected a kernel of one block whose last arguments are its range of tasks");
  auto text = printFunction(kernel, true);
  if (failed(text))
    return failure();
  std::vector<std::string> types;
  for (unsigned i = 0; i < count; ++i)
    types.push_back(parameterType(kernel, i));
  KernelText result;
  result.name = name;
  kernel.walk([&](kernel::RuntimeCallOp call) { result.callees.insert(call.getCallee().str()); });
  kernel.walk([&](kernel::StepOp step) { result.callees.insert("kiln::" + takeName(step.getFunction())); });
  kernel.walk([&](Operation *op) {
    if (isa<kernel::QuantizeOp, kernel::QuantizedStepsOp>(op))
      result.callees.insert("kiln::quantize");
    else if (isa<kernel::LookupOp>(op))
      result.callees.insert("kiln::lookup");
    else if (isa<kernel::RoundedOp, kernel::AfterOp>(op))
      result.callees.insert("kiln::rounded");
    else if (isa<kernel::QuadsOp>(op))
      result.callees.insert("kiln::dot_quads");
  });
  result.declaration = printCall("KILN_KERNEL void " + name, types) + ";\n";
  result.vectorTypes = text->vectorTypes;
  result.definition = heading(kernel) + printCall("void " + name, text->parameters) + " {\n" + text->body + "}\n";
  result.body = llvm::join(text->parameters, ", ") + " {\n" + text->body;
  return result;
}

FailureOr<std::string> printIndexFunction(func::FuncOp function, const std::string &name) {
  if (function.getNumResults() != 1 || !function.getBody().hasOneBlock())
    return function.emitError("internal error: expected a function of one block with one result");
  auto text = printFunction(function, false);
  if (failed(text))
    return failure();
  return printCall("static int64_t " + name, text->parameters) + " {\n" + text->body + "}\n";
}

} // namespace kiln
