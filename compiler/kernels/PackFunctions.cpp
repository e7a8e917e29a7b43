//===- PackFunctions.cpp - What packs the right side of a product ---------------===//
//
//   size_t NAME_gemm_f32_pack_size(int64_t n, int64_t k);
//   kiln_status NAME_gemm_f32_pack(int64_t n, int64_t k, const float *b, int transposed, void *packed);
//
// The targets of a library have different panels (passes/target/groups/PackedInputs.h), so both ask which target runs.
//
//===----------------------------------------------------------------------===//
#include "compiler/kernels/PackFunctions.h"
#include "compiler/emit/KernelPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln {

std::optional<std::pair<int64_t, int64_t>> readPanels(StringRef layout) {
  int64_t width, depth;
  if (!layout.consume_front("packed ") || layout.consumeInteger(10, width) || !layout.consume_front("x") || layout.getAsInteger(10, depth))
    return std::nullopt;
  return std::pair(width, depth);
}

PackFunctions::PackFunctions(StringRef name, const CompiledKernel &kernel) : kernel(kernel), function(name) {
  name.consume_back("_packed");
  prefix = name.str() + "_pack";
  auto packed = find_if(kernel.form.inputs, [](const KernelTensor &tensor) { return tensor.isPacked; });
  matrix = &*find_if(kernel.model.inputs, [&](const SignatureTensor &tensor) { return tensor.onnxName == packed->name; });
  rows = dimText(matrix->dims[0], kernel.model, "");
  columns = dimText(matrix->dims[1], kernel.model, "");
  // In the order that the kernel's function has them.
  for (const std::string &size : kernel.form.sizes)
    for (const SignatureSymbol &symbol : kernel.model.symbols)
      if (symbol.onnxName == size && is_contained(packed->dims, size)) {
        sizes.push_back(&symbol);
        parameters.push_back("int64_t " + symbol.field);
      }
}

std::string PackFunctions::comment() const {
  std::string sums = none_of(kernel.form.inputs, [](const KernelTensor &tensor) { return tensor.isSums; }) ? "" : " and the sums of its columns";
  return "/* Packs the right side of " + function + "() once for any number of calls: " + matrix->field + sums +
         " in the form that the kernel of this CPU reads.\n *   " + matrix->field + ": " + shapeText(*matrix, kernel.model) +
         ", or its transpose if `transposed` is not 0; not needed afterwards\n *   packed: " + prefix +
         "_size() bytes of the caller's, aligned to KILN_ALIGNMENT, written\n"
         " * Threads may share what is packed. Its bytes are for this process: another CPU, KILN_TARGET or library may want others. */\n";
}

std::string PackFunctions::declareSize() const { return printCall("size_t " + prefix + "_size", parameters); }

std::string PackFunctions::declarePack() const {
  std::vector<std::string> all = parameters;
  all.insert(all.end(), {"const " + publicType(matrix->type.getElementType()) + " *" + matrix->field, "int transposed", "void *packed"});
  return printCall("kiln_status " + prefix, all);
}

std::string PackFunctions::panelBytes() const {
  std::string bytes = std::to_string(matrix->type.getElementTypeBitWidth() / 8);
  return "kiln::count_panel_bytes(*form, " + rows + ", " + columns + ", " + bytes + ")";
}

std::string PackFunctions::checkSizes(StringRef fault) const {
  std::string text;
  for (const SignatureSymbol *size : sizes)
    text += "  if (" + size->field + " < " + std::to_string(size->min) + " || " + size->field + " > " + std::to_string(size->max) + ")\n    return " +
            fault.str() + ";\n";
  return text;
}

std::string PackFunctions::define() const {
  bool hasSums = any_of(kernel.form.inputs, [](const KernelTensor &tensor) { return tensor.isSums; });
  std::string type = publicType(matrix->type.getElementType()), table;
  for (const PanelsOfTarget &panels : kernel.panels)
    table += std::string(table.empty() ? "" : ", ") + "{\"" + panels.target + "\", " + std::to_string(panels.width) + ", " + std::to_string(panels.depth) + "}";
  std::string text = "static const kiln::panels *" + panelsFunction() + "() {\n  static const kiln::panels rows[] = {" + table +
                     "};\n  return kiln::find_panels(rows, " + std::to_string(kernel.panels.size()) + ", " + kernel.model.name + "_target());\n}\n\n";
  text += "extern \"C\" " + declareSize() + " {\n" + checkSizes("SIZE_MAX") + "  const kiln::panels *form = " + panelsFunction() +
          "();\n  return form ? size_t(" + panelBytes() + (hasSums ? " + " + columns + " * 4" : "") + ") : SIZE_MAX;\n}\n\n";
  text += "extern \"C\" " + declarePack() + " {\n  if (!" + matrix->field + " || !packed)\n    return KILN_STATUS_NULL_POINTER;\n" +
          checkSizes("KILN_STATUS_DIMENSION_OUT_OF_BOUNDS") +
          "  if (reinterpret_cast<uintptr_t>(packed) % KILN_ALIGNMENT != 0)\n    return KILN_STATUS_INVALID_ARGUMENT;\n  const kiln::panels *form = " +
          panelsFunction() + "();\n  if (!form)\n    return KILN_STATUS_UNSUPPORTED_CPU;\n";
  text += "  const kiln::matrix<" + type + "> from{" + matrix->field + ", " + rows + ", " + columns + ", transposed ? 1 : int64_t(" + columns +
          "), transposed ? int64_t(" + rows + ") : 1};\n  kiln::pack_panels(*form, from, static_cast<" + type + " *>(packed));\n";
  if (hasSums)
    text += "  kiln::sum_columns(from, reinterpret_cast<int32_t *>(static_cast<char *>(packed) + " + panelBytes() + "));\n";
  return text + "  return KILN_STATUS_OK;\n}\n\n";
}

} // namespace kiln
