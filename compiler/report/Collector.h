//===- Collector.h - The data of a report, collected during a compile --------===//
#ifndef KILN_COMPILER_REPORT_COLLECTOR_H
#define KILN_COMPILER_REPORT_COLLECTOR_H

#include "compiler/Compile.h"
#include "compiler/report/EntryRows.h"
#include "compiler/report/GraphRows.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// The version of the data, `kiln_report` in the JSON. docs/Report.md describes it.
inline constexpr int64_t reportVersion = 1;

/// Reads the IR after each stage. What a later stage no longer has, such as the operations of a group, is kept until `finish` joins it with the kernels.
class ReportCollector {
public:
  /// For CompileOptions::afterStage.
  void collect(llvm::StringRef stage, const Compilation &compilation);
  /// All data, when the kernel stage has run. `sizes` are those of dynamic dimensions for which work and memory are counted.
  llvm::Expected<llvm::json::Object> finish(const Compilation &compilation, const DimSizes &sizes);

private:
  /// A group after the target stage. Its location is that of its launch.
  struct Group {
    mlir::Location location;
    /// What its step multiplies: real, bytes or bf16.
    llvm::StringRef operands;
    llvm::json::Object row;
  };
  std::vector<Group> listGroups(mlir::ModuleOp module);
  llvm::Expected<llvm::json::Object> describeTarget(const Compilation &compilation, size_t target, const Signature &signature, const DimSizes &sizes);

  GraphRows graph;
  llvm::json::Array ranges;
  /// Of each target.
  std::vector<std::vector<Group>> groups;
};

} // namespace kiln

#endif // KILN_COMPILER_REPORT_COLLECTOR_H
