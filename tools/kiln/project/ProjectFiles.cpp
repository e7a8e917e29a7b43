//===- ProjectFiles.cpp - The files of kiln new ----------------------------------===//
#include "tools/kiln/project/ProjectFiles.h"
#include "compiler/emit/BuildText.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/files/Printable.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/project/ProjectTexts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace kiln {

std::string findObstacle(const Signature &signature) {
  if (!signature.sequences.empty())
    return "the model has sequences or optional values";
  if (signature.decodesImages)
    return "the model decodes pictures";
  for (auto [kind, tensors] : {std::pair("input", &signature.inputs), std::pair("output", &signature.outputs)})
    for (const SignatureTensor &tensor : *tensors) {
      if (publicType(tensor.type.getElementType()) == "kiln_string")
        return std::string(kind) + " '" + tensor.onnxName + "' has strings";
      if (StringRef(tensor.onnxName).contains('\0'))
        return std::string(kind) + " '" + printable(tensor.onnxName) + "' has a zero byte in its name";
    }
  return "";
}

std::string makeProgramName(StringRef folder) {
  std::string name;
  for (char c : folder)
    name += isAlnum(c) || c == '_' || c == '-' ? c : '_';
  return name.empty() || !isAlpha(name[0]) ? "app_" + name : name;
}

/// The number of elements, as C++.
static std::string countText(const SignatureTensor &tensor, const Signature &signature, bool isMost) {
  if (isMost && tensor.most)
    return "size_t(" + dimText(tensor.most, signature, "dims.") + ")";
  std::vector<std::string> factors;
  for (mlir::AffineExpr dim : tensor.dims)
    factors.push_back("size_t(" + dimText(dim, signature, "dims.") + ")");
  return factors.empty() ? "1" : join(factors, " * ");
}

/// What the element `i` of an input is filled with: small numbers that every operator takes, and indices that are in range where a table has two rows.
static std::string fillText(const SignatureTensor &tensor) {
  mlir::Type type = tensor.type.getElementType();
  std::string cast = publicType(type);
  if (tensor.range && std::isfinite(tensor.range->first) && std::isfinite(tensor.range->second)) {
    std::string low = formatv("{0:e}", tensor.range->first), width = formatv("{0:e}", tensor.range->second - tensor.range->first);
    if (type.isF32() || type.isF64())
      return cast + "(" + low + " + " + width + " * double(i % 17) / 16)";
    if (!type.isF16() && !type.isBF16())
      return cast + "(" + std::to_string(int64_t(std::ceil(tensor.range->first))) + ")";
  }
  if (type.isF32() || type.isF64())
    return cast + "(double(i % 17) / 8 - 1)";
  if (type.isF16())
    return "uint16_t(i % 2 ? 0x3c00 : 0x3800)"; // 1 and 0.5
  if (type.isBF16())
    return "uint16_t(i % 2 ? 0x3f80 : 0x3f00)";
  return cast + "(i % 2)";
}

/// NumPy's name of a type.
static std::string descrText(mlir::Type type) {
  if (type.isBF16())
    return "<V2";
  if (type.isInteger(1))
    return "|b1";
  bool isFloat = type.isF16() || type.isF32() || type.isF64();
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  char kind = isFloat ? 'f' : cast<mlir::IntegerType>(type).isUnsigned() ? 'u' : 'i';
  return std::string(bytes == 1 ? "|" : "<") + kind + std::to_string(bytes);
}

static std::string writeBuffers(const Project &project) {
  const Signature &signature = project.signature;
  std::string members, sizes, pointers;
  for (const SignatureSymbol &symbol : signature.givenSymbols())
    sizes += "    dims." + symbol.field + " = " + std::to_string(project.sizes.at(symbol.onnxName)) + "; // " + std::to_string(symbol.min) + " to " +
             std::to_string(symbol.max) + "\n";
  auto add = [&](const SignatureTensor &tensor, StringRef role) {
    std::string buffer = role == "in" ? "inputs." : "outputs.";
    members += "  std::vector<" + publicType(tensor.type.getElementType()) + "> " + role.str() + "_" + tensor.field + "; // " +
               makeCommentText(shapeText(tensor, signature)) + "\n";
    sizes += "    " + role.str() + "_" + tensor.field + ".resize(" + countText(tensor, signature, /*isMost=*/true) + ");\n";
    pointers += "    " + buffer + tensor.field + " = " + role.str() + "_" + tensor.field + ".data();\n";
  };
  for (const SignatureTensor &tensor : signature.inputs)
    add(tensor, "in");
  for (const SignatureTensor &tensor : signature.outputs)
    add(tensor, "out");
  std::string dims = signature.hasDims() ? "&dims" : "";
  return replaceMarks(buffersText, {{"NAME", signature.name},
                                    {"DIMS_MEMBER", signature.hasDims() ? "  " + signature.name + "_dims dims = {};\n" : ""},
                                    {"MEMBERS", members},
                                    {"SIZES", sizes},
                                    {"POINTERS", pointers},
                                    {"DIMS", dims},
                                    {"DIMS_FIRST", dims.empty() ? "" : dims + ", "}});
}

static std::string writeMain(const Project &project) {
  const Signature &signature = project.signature;
  std::string fills, prints;
  for (const SignatureTensor &tensor : signature.inputs) {
    std::string field = "model.in_" + tensor.field;
    fills += "  for (size_t i = 0; i < " + field + ".size(); ++i)\n    " + field + "[i] = " + fillText(tensor) + ";\n";
  }
  for (const SignatureTensor &tensor : signature.outputs)
    prints += "  print(" + makeStringLiteral(makeCommentText(tensor.onnxName)) + ", model.out_" + tensor.field + ");\n";
  return replaceMarks(mainText, {{"NAME", signature.name}, {"FILLS", fills}, {"PRINTS", prints}});
}

static std::string writeTest(const Project &project) {
  const Signature &signature = project.signature;
  std::string writes, fills, compares;
  for (auto [i, tensor] : enumerate(signature.inputs)) {
    std::string field = "model.in_" + tensor.field, shape;
    for (mlir::AffineExpr dim : tensor.dims)
      shape += "std::to_string(" + dimText(dim, signature, "dims.") + ") + \", \" + ";
    fills += "  for (size_t i = 0; i < " + field + ".size(); ++i)\n    " + field + "[i] = " + fillText(tensor) + ";\n";
    writes += "    write(folder + \"/input_" + std::to_string(i) + ".npy\", \"" + descrText(tensor.type.getElementType()) + "\", " +
              (shape.empty() ? "std::string()" : shape.substr(0, shape.size() - 3)) + ", " + field + ");\n";
  }
  StringSet<> taken;
  for (const SignatureTensor &tensor : signature.outputs)
    compares += "  agrees &= compare(folder + \"/expected/" + makeFileName(tensor.onnxName, taken) + "\", model.out_" + tensor.field + ", " +
                countText(tensor, signature, /*isMost=*/false) + ");\n";
  std::string dims = signature.hasDims() ? "  auto &dims = model.dims;\n  (void)dims;\n" : "";
  return replaceMarks(testText, {{"NAME", signature.name}, {"FILLS", fills}, {"WRITES", writes}, {"COMPARES", compares}, {"DIMS", dims}});
}

static std::string writeList(const Project &project) {
  std::string options, links = project.signature.name;
  for (const std::string &option : project.options)
    options += " " + quoteForCMake(option);
  for (const std::string &library : project.signature.libraries)
    links += " Kiln::" + library;
  std::string program = project.program == project.signature.name ? project.program + "_app" : project.program;
  return replaceMarks(listText, {{"PROGRAM", program},
                                 {"NAME", project.signature.name},
                                 {"MODEL", quoteForCMake(project.model)},
                                 {"OPTIONS", options.empty() ? "" : " OPTIONS" + options},
                                 {"TEST_OPTIONS", options},
                                 {"LINKS", links}});
}

static std::string writeScript(const Project &project) {
  std::string inputs;
  for (auto [i, tensor] : enumerate(project.signature.inputs))
    inputs += "  --input \"" + escapeForCMake(tensor.onnxName) + "=${FOLDER}/input_" + std::to_string(i) + ".npy\"\n";
  std::string options;
  for (const std::string &option : project.options)
    options += "  " + quoteForCMake(option) + "\n";
  for (const SignatureSymbol &symbol : project.signature.givenSymbols())
    options += "  --run-dim " + quoteForCMake(symbol.onnxName + "=" + std::to_string(project.sizes.at(symbol.onnxName))) + "\n";
  return replaceMarks(scriptText, {{"INPUTS", inputs}, {"OPTIONS", options}});
}

std::vector<OutputFile> writeProject(const Project &project) {
  return {{"CMakeLists.txt", writeList(project), nullptr},
          {"main.cpp", writeMain(project), nullptr},
          {"buffers.h", writeBuffers(project), nullptr},
          {"test.cpp", writeTest(project), nullptr},
          {"test.cmake", writeScript(project), nullptr}};
}

} // namespace kiln
