//===- kiln-import.cpp - Prints the nn module of an ONNX model ---------------===//
#include "compiler/import/Import.h"
#include "dialects/nn/NN.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static cl::list<std::string> inputs(cl::Positional, cl::OneOrMore, cl::desc("MODEL..."));
static cl::list<std::string> dims("dim", cl::desc("Make a symbolic dimension static"), cl::value_desc("name=value"));
static cl::list<std::string> shapes("shape", cl::desc("Give an input's shape"), cl::value_desc("input=1x3x224x224"));
static cl::list<std::string> bindings("bind", cl::desc("Make an input a constant"), cl::value_desc("input=value"));
static cl::list<std::string> sequences("sequence", cl::desc("Give the length of a sequence, and its elements' shapes"), cl::value_desc("input=2:4x3,5x3"));
static cl::list<std::string> absent("absent", cl::desc("Compile for an optional input without a value"), cl::value_desc("input"));
static cl::opt<bool> locations("locations", cl::desc("Print locations"));
static cl::opt<bool> whole("whole", cl::desc("Print large constants in full, so that kiln-opt can read them"));
static cl::opt<bool> quiet("quiet", cl::desc("Print only whether each model can be imported"));

/// Splits at the last '=', because names may contain one.
static std::pair<StringRef, StringRef> splitOption(StringRef text) { return text.rsplit('='); }

static bool readOptions(kiln::ImportOptions &options) {
  for (StringRef text : dims) {
    auto [name, value] = splitOption(text);
    if (value.getAsInteger(10, options.dims[name.str()]))
      return false;
  }
  for (StringRef text : shapes) {
    auto [name, value] = splitOption(text);
    SmallVector<StringRef> parts;
    value.split(parts, 'x');
    for (StringRef part : parts)
      if (part == "?")
        options.shapes[name.str()].push_back(-1);
      else if (part.getAsInteger(10, options.shapes[name.str()].emplace_back()))
        return false;
  }
  for (StringRef text : sequences)
    options.sequences[splitOption(text).first.str()] = splitOption(text).second.str();
  options.absent.insert(absent.begin(), absent.end());
  for (StringRef text : bindings)
    options.bindings[splitOption(text).first.str()] = splitOption(text).second.str();
  return true;
}

static bool importOne(StringRef path) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  kiln::ImportOptions options;
  options.path = path.str();
  if (!readOptions(options)) {
    errs() << "kiln-import: a --dim or --shape is not of the form name=number\n";
    return false;
  }
  std::vector<std::string> errors;
  auto model = kiln::importModel(context, options, errors);
  for (const std::string &error : errors)
    errs() << "error: " << error << "\n";
  if (failed(model))
    return false;
  if (quiet) {
    outs() << "ok " << path << "\n";
    return true;
  }
  mlir::OpPrintingFlags flags;
  if (!whole)
    flags.elideLargeElementsAttrs(32).elideLargeResourceString(32);
  flags.enableDebugInfo(locations, /*prettyForm=*/true);
  (*model->module).print(outs(), flags);
  return true;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Prints the nn module of ONNX models\n");
  bool isFine = true;
  for (const std::string &path : inputs)
    isFine &= importOne(path);
  return isFine ? 0 : 1;
}
