//===- PackFunctions.cpp - What packs the right side of a product ---------------===//
//
//   size_t NAME_gemm_f32_pack_size(int64_t n, int64_t k);
//   kiln_status NAME_gemm_f32_pack(int64_t n, int64_t k, const float *b, int transposed, void *packed);
//   kiln_status NAME_conv2d_f32_pack(int64_t channels, int64_t filters, const float *w, int channels_last, void *packed);
//   kiln_status NAME_gemm_nbits_pack(int64_t n, int64_t k, const uint8_t *b, const float *scales, void *packed);
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

std::string packFunctionOf(StringRef function) {
  function.consume_back("_packed");
  return function.str() + "_pack";
}

PackFunctions::PackFunctions(StringRef name, const CompiledKernel &kernel) : kernel(kernel), function(name), prefix(packFunctionOf(name)) {
  auto packed = find_if(kernel.form.inputs, [](const KernelTensor &tensor) { return tensor.isPacked; });
  matrix = &*find_if(kernel.model.inputs, [&](const SignatureTensor &tensor) { return tensor.onnxName == packed->name; });
  for (const KernelTensor &tensor : kernel.form.inputs)
    if (tensor.isScales)
      scales = &*find_if(kernel.model.inputs, [&](const SignatureTensor &input) { return input.onnxName == tensor.name; });
  rows = dimText(matrix->dims[0], kernel.model, "");
  columns = dimText(matrix->dims[1], kernel.model, "");
  for (const DerivedSize &size : kernel.form.derived)
    if (is_contained(packed->dims, size.name))
      derived = &size;
  // In the order that the kernel's function has them.
  for (const std::string &size : kernel.form.sizes)
    for (const SignatureSymbol &symbol : kernel.model.symbols)
      if (symbol.onnxName == size && (is_contained(packed->dims, size) || (derived && derived->of == size))) {
        sizes.push_back(&symbol);
        parameters.push_back("int64_t " + symbol.field);
      }
}

bool PackFunctions::hasSums() const {
  return any_of(kernel.form.inputs, [](const KernelTensor &tensor) { return tensor.isSums; });
}

std::string PackFunctions::comment() const {
  std::string sums = !hasSums() ? "" : isFilters() ? " and their sums" : " and the sums of its columns";
  std::string other = ", or its transpose if `transposed` is not 0", what = "right side";
  if (isFilters()) {
    other = ", or with the second dimension behind all others if `channels_last` is not 0";
    what = "filters";
  }
  if (scales) {
    sums = " and " + scales->field;
    other = "; " + scales->field + ": " + shapeText(*scales, kernel.model);
  }
  return "/* Packs the " + what + " of " + function + "() once for any number of calls: " + matrix->field + sums +
         " in the form that the kernel of this CPU reads.\n *   " + matrix->field + ": " + shapeText(*matrix, kernel.model) + other +
         "; not needed afterwards\n *   packed: " + prefix +
         "_size() bytes of the caller's, aligned to KILN_ALIGNMENT, written\n"
         " * Threads may share what is packed. Its bytes are for this process: another CPU, KILN_TARGET or library may want others. */\n";
}

std::string PackFunctions::declareSize() const { return printCall("size_t " + prefix + "_size", parameters); }

std::string PackFunctions::declarePack() const {
  std::vector<std::string> all = parameters;
  all.insert(all.end(), {"const " + publicType(matrix->type.getElementType()) + " *" + matrix->field, orderParameter(), "void *packed"});
  return printCall("kiln_status " + prefix, all);
}

/// What says how the operand lies, or its scales.
std::string PackFunctions::orderParameter() const {
  if (scales)
    return "const " + publicType(scales->type.getElementType()) + " *" + scales->field;
  return isFilters() ? "int channels_last" : "int transposed";
}

/// Columns, blocks and the bytes of a block.
std::string PackFunctions::countBlocks() const { return rows + ", " + columns + ", " + dimText(matrix->dims[2], kernel.model, ""); }

/// Groups, filters, channels and taps.
std::string PackFunctions::countFilters() const {
  std::string taps;
  for (mlir::AffineExpr size : ArrayRef(matrix->dims).drop_front(2))
    taps += (taps.empty() ? "" : " * ") + dimText(size, kernel.model, "");
  return std::to_string(derived ? derived->divisor : 1) + ", " + rows + ", " + columns + ", " + taps;
}

std::string PackFunctions::panelBytes() const {
  std::string bytes = std::to_string(matrix->type.getElementTypeBitWidth() / 8);
  if (scales)
    return "kiln::count_block_bytes(*form, " + countBlocks() + ")";
  if (isFilters())
    return "kiln::count_filter_bytes(*form, " + countFilters() + ", " + bytes + ")";
  return "kiln::count_panel_bytes(*form, " + rows + ", " + columns + ", " + bytes + ")";
}

std::string PackFunctions::checkSizes(StringRef fault) const {
  std::string text;
  for (const SignatureSymbol *size : sizes)
    text += "  if (" + size->field + " < " + std::to_string(size->min) + " || " + size->field + " > " + std::to_string(size->max) + ")\n    return " +
            fault.str() + ";\n";
  return text;
}

/// The size that follows from another one, and what it must divide.
std::string PackFunctions::setDerived(StringRef fault) const {
  if (!derived)
    return "";
  std::string text, divisor = std::to_string(derived->divisor);
  for (const SignatureSymbol &symbol : kernel.model.symbols) {
    // Filters are divided among groups like channels.
    if (divisor != "1" && (symbol.onnxName == derived->of || (isFilters() && symbol.field == rows)))
      text += "  if (" + symbol.field + " % " + divisor + " != 0)\n    return " + fault.str() + ";\n";
    if (symbol.onnxName == derived->name)
      for (const SignatureSymbol &of : kernel.model.symbols)
        if (of.onnxName == derived->of)
          text += "  const int64_t " + symbol.field + " = " + of.field + " / " + divisor + ";\n";
  }
  return text;
}

std::string PackFunctions::packFilters(StringRef type) const {
  return "  const kiln::filters<" + type.str() + "> from{" + matrix->field + ", " + countFilters() +
         ", channels_last != 0};\n  kiln::pack_filters(*form, from, static_cast<" + type.str() + " *>(packed));\n";
}

/// Numbers of 4 bits are two in a byte.
std::string PackFunctions::packBlocks() const {
  bool areHalves = nn::getConstantDim(matrix->dims[2]) != derived->divisor;
  return "  kiln::pack_blocks(*form, {" + matrix->field + ", " + countBlocks() + ", " + (areHalves ? "true" : "false") +
         "}, static_cast<uint8_t *>(packed));\n  kiln::pack_scales(*form, " + scales->field + ", " + rows + ", " + columns +
         ", reinterpret_cast<float *>(static_cast<char *>(packed) + " + panelBytes() + "));\n";
}

std::string PackFunctions::packMatrix(StringRef type) const {
  return "  const kiln::matrix<" + type.str() + "> from{" + matrix->field + ", " + rows + ", " + columns + ", transposed ? 1 : int64_t(" + columns +
         "), transposed ? int64_t(" + rows + ") : 1};\n  kiln::pack_panels(*form, from, static_cast<" + type.str() + " *>(packed));\n";
}

std::string PackFunctions::define() const {
  std::string type = publicType(matrix->type.getElementType()), table;
  for (const PanelsOfTarget &panels : kernel.panels)
    table += std::string(table.empty() ? "" : ", ") + "{\"" + panels.target + "\", " + std::to_string(panels.width) + ", " + std::to_string(panels.depth) + "}";
  std::string behind = scales ? " + kiln::count_scale_bytes(*form, " + rows + ", " + columns + ")" : "";
  if (hasSums())
    behind = " + " + (isFilters() ? rows : columns) + " * 4";
  std::string pointers = "!" + matrix->field + (scales ? " || !" + scales->field : "") + " || !packed";
  std::string text = "static const kiln::panels *" + panelsFunction() + "() {\n  static const kiln::panels rows[] = {" + table +
                     "};\n  return kiln::find_panels(rows, " + std::to_string(kernel.panels.size()) + ", " + kernel.model.name + "_target());\n}\n\n";
  text += "extern \"C\" " + declareSize() + " {\n" + checkSizes("SIZE_MAX") + setDerived("SIZE_MAX") + "  const kiln::panels *form = " + panelsFunction() +
          "();\n  return form ? size_t(" + panelBytes() + behind + ") : SIZE_MAX;\n}\n\n";
  text += "extern \"C\" " + declarePack() + " {\n  if (" + pointers + ")\n    return KILN_STATUS_NULL_POINTER;\n" +
          checkSizes("KILN_STATUS_DIMENSION_OUT_OF_BOUNDS") + setDerived("KILN_STATUS_DIMENSION_MISMATCH") +
          "  if (reinterpret_cast<uintptr_t>(packed) % KILN_ALIGNMENT != 0)\n    return KILN_STATUS_INVALID_ARGUMENT;\n  const kiln::panels *form = " +
          panelsFunction() + "();\n  if (!form)\n    return KILN_STATUS_UNSUPPORTED_CPU;\n";
  text += scales ? packBlocks() : isFilters() ? packFilters(type) : packMatrix(type);
  if (hasSums())
    text += "  kiln::" + std::string(isFilters() ? "sum_filters" : "sum_columns") +
            "(from, reinterpret_cast<int32_t *>(static_cast<char *>(packed) + " + panelBytes() + "));\n";
  return text + "  return KILN_STATUS_OK;\n}\n\n";
}

} // namespace kiln
