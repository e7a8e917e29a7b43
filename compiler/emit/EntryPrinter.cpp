//===- EntryPrinter.cpp - The functions that a program calls, as C++ -------===//
#include "compiler/emit/EntryPrinter.h"
#include "compiler/emit/FunctionPrinter.h"
#include "compiler/emit/InfoTables.h"
#include "compiler/emit/KernelPrinter.h"
#include "compiler/emit/RealExpressions.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Work.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

/// So many launches are inlined: with each further one, the compile of an entry would take a hundredth of a second longer.
static constexpr int64_t mostInlineLaunches = 8;

namespace {

/// Prints the body of NAME_run.
class EntryBody : public FunctionPrinter {
public:
  EntryBody(const Signature &signature, const KernelNames &kernels) : symbols(signature.module()), signature(signature), kernels(kernels) {}

  LogicalResult print();
  /// The table of all launches; empty when there are none.
  std::string printLaunches() const;
  /// For each kernel that is launched, the struct of its arguments, its task and what counts its work.
  std::string printTasks() const;

protected:
  LogicalResult printStatement(Operation *op) override;

private:
  void defineArguments();
  void printChecks();
  void printPointerChecks(ArrayRef<SignatureTensor> tensors, const std::string &pointer);
  LogicalResult printLaunch(kernel::LaunchOp launch);
  std::string noteLaunched(kernel::LaunchOp launch, func::FuncOp callee);
  LogicalResult printView(memref::ViewOp view);
  LogicalResult printWeight(kernel::GetWeightOp op);
  LogicalResult printPart(scf::ExecuteRegionOp part);
  void findStatusCells();
  void clearStatusCell(Value buffer);
  void printStatusCheck(const std::string &cell);

  SymbolTable symbols;
  const Signature &signature;
  const KernelNames &kernels;
  /// A row of the table of launches, without its index and the number of rows.
  struct LaunchRow {
    std::string names, work;
  };

  /// How the work of a kernel's launches is counted, with the name of the function that does it. Mostly, it is the same for all.
  using Counters = llvm::MapVector<AffineMap, std::string>;

  std::vector<LaunchRow> launchTable;
  llvm::MapVector<func::FuncOp, Counters> launched;
  /// The launched kernels whose tasks may run on several threads.
  llvm::DenseSet<Operation *> parallel;
  std::vector<std::string> statusCells;
  llvm::DenseSet<Value> statusBuffers;
  /// Whether the launches share one function.
  bool sharesLaunch = false;
};

} // namespace

static std::string outsideBounds(const SignatureSymbol &symbol, const std::string &value) {
  return value + " < " + std::to_string(symbol.min) + " || " + value + " > " + std::to_string(symbol.max);
}

static std::string statement(const std::string &condition, StringRef status) { return "if (" + condition + ")\n    return " + status.str() + ";"; }

/// No buffer may be NULL. If there are very many, a loop checks them, because a statement for each would make the compiler slow.
void EntryBody::printPointerChecks(ArrayRef<SignatureTensor> tensors, const std::string &pointer) {
  static constexpr size_t mostStatements = 64;
  if (tensors.size() <= mostStatements) {
    for (const SignatureTensor &tensor : tensors)
      line(statement("!" + pointer + "->" + tensor.field, "KILN_STATUS_NULL_POINTER"));
    return;
  }
  std::string count = std::to_string(tensors.size());
  line("static_assert(sizeof(*" + pointer + ") == " + count + " * sizeof(void *), \"" + pointer + " are pointers only\");");
  line(statement("kiln::has_null(" + pointer + ", " + count + ")", "KILN_STATUS_NULL_POINTER"));
}

void EntryBody::printChecks() {
  line("if (const kiln_status status = kiln::check_context(context))\n    return status;");
  std::string null = signature.hasDims() ? "!dims || !inputs || !outputs" : "!inputs || !outputs";
  line(statement(null, "KILN_STATUS_NULL_POINTER"));
  printPointerChecks(signature.inputs, "inputs");
  printPointerChecks(signature.outputs, "outputs");
  for (const SignatureSymbol &symbol : signature.givenSymbols())
    line(statement(outsideBounds(symbol, "dims->" + symbol.field), "KILN_STATUS_DIMENSION_OUT_OF_BOUNDS"));
  if (signature.externalWeights) {
    line(statement("!weights", "KILN_STATUS_NULL_POINTER"));
    line(statement("reinterpret_cast<uintptr_t>(weights) % KILN_ALIGNMENT != 0", "KILN_STATUS_INVALID_ARGUMENT"));
  }
  if (signature.workspaceBytes == 0) {
    line("(void)workspace; // this model needs none");
    return;
  }
  line(statement("!workspace", "KILN_STATUS_NULL_POINTER"));
  line(statement("reinterpret_cast<uintptr_t>(workspace) % KILN_ALIGNMENT != 0", "KILN_STATUS_UNALIGNED_WORKSPACE"));
}

/// Arguments are fields of the caller's structs.
void EntryBody::defineArguments() {
  for (StringRef name : {"dims", "inputs", "outputs", "weights", "workspace", "context", "status", "launches", "arguments", "info"})
    scope.reserve(name);
  Block &block = signature.entry.getBody().front();
  auto argument = block.args_begin();
  auto field = [&](const SignatureTensor &tensor, const std::string &place, bool isConst) {
    auto type = cast<MemRefType>((*argument).getType());
    std::string have = publicType(tensor.type.getElementType()), want = cppElementType(type.getElementType());
    std::string cast = "reinterpret_cast<" + std::string(isConst ? "const " : "") + want + " *>(" + place + ")";
    define(*argument++, have == want ? place : cast);
  };
  for (const SignatureTensor &tensor : signature.inputs)
    field(tensor, "inputs->" + tensor.field, true);
  for (const SignatureTensor &tensor : signature.outputs)
    field(tensor, "outputs->" + tensor.field, false);
  define(*argument++, "static_cast<unsigned char *>(workspace)");
  for (const SignatureSymbol &symbol : signature.givenSymbols()) {
    std::string place = "dims->" + symbol.field;
    if (symbol.isRaised) {
      // The run writes to the field.
      std::string name = uniqueName(symbol.field);
      line("const int64_t " + name + " = " + place + ";");
      place = name;
    }
    define(*argument++, place);
  }
}

/// Finds the buffers in which kernels report faults.
void EntryBody::findStatusCells() {
  signature.entry.walk([&](kernel::LaunchOp launch) {
    auto callee = symbols.lookup<func::FuncOp>(launch.getKernel());
    for (auto [i, operand] : llvm::enumerate(launch.getOperands_()))
      if (callee && callee.getArgAttr(i, kernel::statusAttrName))
        statusBuffers.insert(operand);
  });
}

void EntryBody::clearStatusCell(Value buffer) {
  if (!statusBuffers.contains(buffer))
    return;
  statusCells.push_back(text(buffer));
  line(statusCells.back() + "[0] = KILN_STATUS_OK;");
}

void EntryBody::printStatusCheck(const std::string &cell) {
  line("if (" + cell + "[0] != KILN_STATUS_OK)\n    return static_cast<kiln_status>(" + cell + "[0]);");
}

LogicalResult EntryBody::print() {
  findStatusCells();
  int64_t count = 0;
  signature.entry.walk([&](kernel::LaunchOp) { ++count; });
  sharesLaunch = count > mostInlineLaunches;
  line("const kiln::floating_mode<false> " + uniqueName("mode") + ";");
  printChecks();
  defineArguments();
  if (failed(printBlock(signature.entry.getBody().front())))
    return failure();
  for (const std::string &cell : statusCells)
    printStatusCheck(cell);
  line("return KILN_STATUS_OK;");
  return success();
}

LogicalResult EntryBody::printStatement(Operation *op) {
  if (auto launch = dyn_cast<kernel::LaunchOp>(op))
    return printLaunch(launch);
  if (auto view = dyn_cast<memref::ViewOp>(op))
    return printView(view);
  if (auto weight = dyn_cast<kernel::GetWeightOp>(op))
    return printWeight(weight);
  if (auto part = dyn_cast<scf::ExecuteRegionOp>(op))
    return printPart(part);
  if (auto check = dyn_cast<kernel::CheckOp>(op)) {
    std::string condition = text(check.getCondition());
    line("if (!(" + condition + ")) // " + makeCommentText(check.getMessage()));
    line("  return " + takeName(check.getStatus()) + ";");
    return success();
  }
  if (auto report = dyn_cast<kernel::ReportOp>(op)) {
    const SignatureSymbol *symbol = signature.findSymbol(report.getSymbol());
    if (!symbol)
      return op->emitOpError("internal error: reports a symbol that no input or output mentions");
    line("dims->" + symbol->field + " = " + text(report.getValue()) + ";");
    return success();
  }
  if (auto threads = dyn_cast<kernel::ThreadsOp>(op)) {
    std::string name = nameOf(threads.getResult(), "threads");
    line("const int64_t " + name + " = kiln::count_threads(context);");
    define(threads.getResult(), name);
    return success();
  }
  if (auto caller = dyn_cast<kernel::ContextOp>(op)) {
    define(caller.getResult(), "reinterpret_cast<const int8_t *>(context)");
    return success();
  }
  if (auto state = dyn_cast<kernel::StateOp>(op)) {
    std::string name = nameOf(state.getResult(), "state");
    line("alignas(KILN_ALIGNMENT) static int8_t " + name + "[" + Twine(state.getType().getNumElements()) + "];");
    define(state.getResult(), name);
    return success();
  }
  return FunctionPrinter::printStatement(op);
}

/// The name of a buffer, from the last ONNX node whose result it holds.
static std::string bufferName(Location loc) {
  static constexpr size_t maxLength = 40;
  StringRef node;
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && name.getName().getValue().ends_with(")"))
      node = name.getName();
    return WalkResult::advance();
  });
  std::string name = makeIdentifier(node.rsplit('(').first.take_back(maxLength));
  return node.starts_with("#") || name.size() < 2 ? "buffer" : name;
}

LogicalResult EntryBody::printView(memref::ViewOp view) {
  std::string element = cppElementType(view.getType().getElementType());
  if (element.empty())
    return failure();
  Expression offset = expression(view.getByteShift());
  std::string place = text(view.getSource());
  std::string name = nameOf(view.getResult(), bufferName(view.getLoc()));
  std::string address = offset.text == "0" ? place : place + " + " + offset.at(Binding::Add);
  line(element + " *const " + name + " = reinterpret_cast<" + element + " *>(" + address + ");");
  define(view.getResult(), name);
  clearStatusCell(view.getResult());
  return success();
}

LogicalResult EntryBody::printWeight(kernel::GetWeightOp op) {
  auto weight = symbols.lookup<kernel::WeightOp>(op.getWeight());
  std::string element = cppElementType(cast<MemRefType>(op.getType()).getElementType());
  if (!weight || !weight.getOffset() || element.empty())
    return op.emitOpError("internal error: expected a weight that has its place");
  std::string base = signature.externalWeights ? "static_cast<const unsigned char *>(weights)" : signature.weightsSymbol();
  std::string name = uniqueName(makeIdentifier(op.getWeight()));
  std::string address = *weight.getOffset() ? base + " + " + std::to_string(*weight.getOffset()) : base;
  line("const " + element + " *const " + name + " = reinterpret_cast<const " + element + " *>(" + address + ");");
  define(op.getResult(), name);
  return success();
}

/// Has the task of the kernel printed, and the function that counts the launch's work for a profiler, whose name it returns; empty if the row of the table has
/// the counts.
std::string EntryBody::noteLaunched(kernel::LaunchOp launch, func::FuncOp callee) {
  Counters &counters = launched[callee];
  if (launch.getParallel())
    parallel.insert(callee);
  std::optional<AffineMap> work = kernel::getWork(launch);
  if (!work)
    return "";
  std::string &name = counters[*work];
  if (name.empty())
    name = kernels.at(launch.getKernel()) + "_work" + (counters.size() > 1 ? std::to_string(counters.size() - 1) : "");
  return name;
}

/// A lambda that is not inlined, so that the compiler sees a separate function with access to the variables around it. It may return early with a status.
LogicalResult EntryBody::printPart(scf::ExecuteRegionOp part) {
  std::string name = uniqueName("part");
  open("const auto " + name + " = [&]() __attribute__((noinline)) -> kiln_status {");
  if (failed(printBlock(part.getRegion().front())))
    return failure();
  line("return KILN_STATUS_OK;");
  close("};");
  line("if (const kiln_status status = " + name + "())\n    return status;");
  return success();
}

LogicalResult EntryBody::printLaunch(kernel::LaunchOp launch) {
  auto callee = symbols.lookup<func::FuncOp>(launch.getKernel());
  if (!callee || callee.getNumArguments() != launch.getOperands_().size() + 2)
    return launch.emitOpError("internal error: expected a kernel with these arguments and a range of tasks");
  std::vector<std::string> arguments;
  for (Value operand : launch.getOperands_())
    arguments.push_back(text(operand));
  const std::string &name = kernels.at(launch.getKernel());
  std::string nodes = joinStrings(launch->getAttr(kernel::nodesAttrName), " ");
  if (nodes.empty())
    nodes = joinStrings(callee->getAttr(kernel::nodesAttrName), " ");
  size_t index = launchTable.size();
  // Fields in the order of kiln_kernel_info; tasks are filled in by each launch.
  launchTable.push_back({makeStringLiteral(signature.name) + ", " + makeStringLiteral(signature.versionOf(launch.getKernel())) + ", " +
                             makeStringLiteral(nodes) + ", " + makeStringLiteral(joinStrings(callee->getAttr(kernel::algorithmAttrName), " ")),
                         "0, " + std::to_string(launch.getFlops().value_or(0)) + ", " + std::to_string(launch.getBytes().value_or(0))});
  std::string tasks = text(launch.getTasks()), counter = noteLaunched(launch, callee);
  std::string block = name + "_arguments arguments = {" + llvm::join(arguments, ", ") + "};";
  line("{ // " + makeCommentText(nodes));
  line("  " + block);
  line((sharesLaunch ? "  kiln::launch_shared(context, launches[" : "  kiln::launch(context, launches[") + std::to_string(index) + "], " + name +
       "_task, &arguments, " + tasks + ", " +
       (launch.getParallel() ? "true" : "false") + (counter.empty() ? "" : ", " + counter) + ");");
  line("}");
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (launch.getEndsOnFault() && callee.getArgAttr(i, kernel::statusAttrName))
      printStatusCheck(argument);
  return success();
}

std::string EntryBody::printLaunches() const {
  std::string count = std::to_string(launchTable.size()), text;
  for (auto [index, row] : llvm::enumerate(launchTable))
    text += "    {" + row.names + ", " + std::to_string(index) + ", " + count + ", " + row.work + "},\n";
  return text.empty() ? "" : "const kiln_kernel_info launches[" + count + "] = {\n" + text + "};\n\n";
}

/// The names of a kernel's arguments, without the range of tasks, as fields of a struct.
static std::vector<std::string> nameFields(func::FuncOp kernel) {
  std::vector<std::string> fields;
  NameScope scope;
  for (unsigned i = 0; i + 2 < kernel.getNumArguments(); ++i) {
    auto attr = kernel.getArgAttrOfType<StringAttr>(i, kernel::nameAttrName);
    fields.push_back(scope.unique(makeIdentifier(attr ? attr.getValue() : "argument" + std::to_string(i))));
  }
  return fields;
}

/// A statement that takes the arguments out of a pointer; empty if there are none.
static std::string unpackArguments(const std::string &kernel, ArrayRef<std::string> fields) {
  return fields.empty() ? "" : "  const auto *const a = static_cast<const " + kernel + "_arguments *>(argument);\n";
}

/// The struct that carries a kernel's arguments through kiln_task, and the task that takes them out again. One that may be called on other threads than that of
/// the run sets their mode.
static std::string printTask(func::FuncOp kernel, const std::string &name, bool flushes, bool parallel) {
  std::string members, values;
  std::vector<std::string> fields = nameFields(kernel);
  for (auto [i, field] : llvm::enumerate(fields)) {
    std::string type = parameterType(kernel, i);
    members += "  " + type + (type.back() == '*' ? "" : " ") + field + ";\n";
    values += "a->" + field + ", ";
  }
  std::string unpack = unpackArguments(name, fields);
  // The mode belongs to a thread. A profiler is called outside of it.
  if (flushes || parallel)
    unpack += "  const kiln::floating_mode<" + std::string(flushes ? "true" : "false") + "> mode;\n";
  return "struct " + name + "_arguments {\n" + members + "};\nvoid " + name + "_task(void *" + (values.empty() ? "" : "argument") +
         ", int64_t begin, int64_t end) {\n" + unpack + "  " + name + "(" + values + "begin, end);\n}\n\n";
}

/// A kiln::work_counter. The symbols of the work are the kernel's last arguments.
static std::string printCounter(func::FuncOp kernel, const std::string &name, AffineMap work, const std::string &counter) {
  std::vector<std::string> fields = nameFields(kernel), symbols;
  for (const std::string &field : ArrayRef(fields).take_back(work.getNumSymbols()))
    symbols.push_back("a->" + field);
  auto count = [&](unsigned result) { return "kiln::count_work(" + printReal(work.getResult(result), symbols) + ");\n"; };
  return "void " + counter + "(const void *" + (symbols.empty() ? "" : "argument") + ", kiln_kernel_info &info) {\n" + unpackArguments(name, symbols) +
         "  info.flops = " + count(0) + "  info.bytes = " + count(1) + "}\n\n";
}

std::string EntryBody::printTasks() const {
  std::string text;
  for (auto [kernel, counters] : launched) {
    const std::string &name = kernels.at(kernel.getSymName());
    text += printTask(kernel, name, signature.flushesSubnormals, parallel.contains(kernel));
    for (auto &[work, counter] : counters)
      text += printCounter(kernel, name, work, counter);
  }
  return text;
}

/// The linkage of a function that programs call; for one of several targets, of one that only the choice calls.
static std::string linkage(const Signature &signature) { return signature.isWhole() ? "extern \"C\" " : "KILN_KERNEL "; }

/// Dimensions outside of their bounds, or too large together, have no size.
static FailureOr<std::string> printWorkspaceSize(const Signature &signature) {
  std::string head = linkage(signature) + "size_t " + signature.workspaceFunction() + "(" + signature.dimsParameter() + ") {\n";
  if (!signature.hasDims())
    return head + "  return " + std::to_string(*signature.workspaceBytes) + ";\n}\n";
  head += "  if (!dims";
  std::vector<std::string> arguments;
  for (const SignatureSymbol &symbol : signature.givenSymbols()) {
    arguments.push_back("dims->" + symbol.field);
    head += " || " + outsideBounds(symbol, arguments.back());
  }
  head += ")\n    return SIZE_MAX;\n";
  if (!signature.workspaceSize)
    return head + "  return " + std::to_string(*signature.workspaceBytes) + ";\n}\n";
  auto function = printIndexFunction(signature.workspaceSize, "workspace_bytes");
  if (failed(function))
    return failure();
  return *function + "\n" + head + "  return kiln::as_size(workspace_bytes(" + llvm::join(arguments, ", ") + "));\n}\n";
}

size_t countLaunches(const Signature &signature) {
  size_t count = 0;
  signature.entry.walk([&](kernel::LaunchOp) { ++count; });
  return count;
}

FailureOr<std::string> printEntrySource(const Signature &signature, const KernelNames &kernels) {
  EntryBody body(signature, kernels);
  if (failed(body.print()))
    return failure();
  auto workspace = printWorkspaceSize(signature);
  if (failed(workspace))
    return failure();
  const std::string &name = signature.name;
  std::string whose = "'" + makeCommentText(name) + "'" + (signature.variant.empty() ? "" : " for " + makeCommentText(signature.target));
  std::string text = "// The entry of model " + whose + ": checks, then kernels in order.\n#include \"" + signature.header() + "\"\n#include \"" +
                     signature.kernelHeader() + "\"\n#include \"kiln/lanes.h\"\n#include \"kiln/mode.h\"\n#include \"kiln/wrap.h\"\n\n";
  if (!signature.externalWeights && signature.weightsBytes)
    text += "KILN_KERNEL const unsigned char " + signature.weightsSymbol() + "[" + std::to_string(signature.weightsBytes) + "];\n\n";
  text += "namespace {\n\n";
  text += body.printTasks();
  text += body.printLaunches();
  if (signature.isWhole())
    text += printInfoTables(signature, countLaunches(signature));
  text += "\n} // namespace\n\n";
  if (signature.isWhole())
    text += "extern \"C\" const kiln_model_info " + name + "_info = description;\n\nextern \"C\" const char *" + name + "_target(void) { return " +
            makeStringLiteral(signature.target) + "; }\n\n";
  return text + *workspace + "\n" + printCall(linkage(signature) + "kiln_status " + signature.runFunction(), signature.runParameters()) + " {\n" +
         body.body() + "}\n";
}

} // namespace kiln
