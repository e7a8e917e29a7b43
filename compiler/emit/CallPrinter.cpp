//===- CallPrinter.cpp - Calls of the runtime's functions --------------------===//
//
//   {
//     static constexpr kiln_string table0[] = {{"cat", 3}, {"dog", 3}};
//     kiln::string_find(in, out, begin, end, table0, 2, ...);
//   }
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/FunctionPrinter.h"

#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"

using namespace mlir;

namespace kiln {

/// Columns of a row of a table.
static constexpr size_t tableColumns = 120;

static std::string stringText(StringRef text) { return "{" + makeStringLiteral(text) + ", " + std::to_string(text.size()) + "}"; }

void FunctionPrinter::printTable(StringRef type, const std::string &name, ArrayRef<std::string> entries) {
  line("static constexpr " + type + " " + name + "[] = {");
  std::string row;
  for (const std::string &entry : entries) {
    if (!row.empty() && row.size() + entry.size() > tableColumns) {
      line("  " + row);
      row.clear();
    }
    row += entry + ", ";
  }
  line("  " + row + "};");
}

void FunctionPrinter::printTables(Operation *function) {
  function->walk([&](kernel::LookupOp lookup) {
    std::string &name = tables[lookup.getTableAttr()];
    if (!name.empty())
      return;
    name = scope.unique("table");
    std::vector<std::string> bytes;
    for (int8_t byte : lookup.getTable())
      bytes.push_back(std::to_string(static_cast<uint8_t>(byte)));
    printTable("uint8_t", name, bytes);
  });
}

/// Tables are printed before the call; one without entries has no array.
std::optional<std::vector<std::string>> FunctionPrinter::writeLiteral(Attribute literal, unsigned number) {
  if (auto text = dyn_cast<StringAttr>(literal))
    return std::vector<std::string>{"kiln_string" + stringText(text)};
  std::vector<std::string> entries;
  StringRef type = "kiln_string";
  if (auto texts = dyn_cast<ArrayAttr>(literal)) {
    for (Attribute entry : texts) {
      auto text = dyn_cast<StringAttr>(entry);
      if (!text)
        return std::nullopt;
      entries.push_back(stringText(text));
    }
  } else if (auto numbers = dyn_cast<DenseI32ArrayAttr>(literal)) {
    type = "int32_t";
    for (int32_t entry : numbers.asArrayRef())
      entries.push_back(std::to_string(entry));
  } else if (auto value = dyn_cast<TypedAttr>(literal)) {
    return std::vector<std::string>{kiln::literal(value).text};
  } else {
    return std::nullopt;
  }
  if (entries.empty())
    return std::vector<std::string>{"nullptr", "0"};
  std::string name = scope.unique("table" + std::to_string(number));
  printTable(type, name, entries);
  return std::vector<std::string>{name, std::to_string(entries.size())};
}

LogicalResult FunctionPrinter::printRuntimeCall(kernel::RuntimeCallOp op) {
  std::string arguments;
  open("{");
  for (Value operand : op.getOperands())
    arguments += (arguments.empty() ? "" : ", ") + text(operand);
  for (auto [number, literal] : llvm::enumerate(op.getLiterals())) {
    auto texts = writeLiteral(literal, number);
    if (!texts)
      return failure();
    for (const std::string &argument : *texts)
      arguments += ", " + argument;
  }
  line(takeName(op.getCallee()) + "(" + arguments + ");");
  close();
  return success();
}

} // namespace kiln
