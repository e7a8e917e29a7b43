//===- Page.h - A report as a page, and read back ----------------------------===//
#ifndef KILN_COMPILER_REPORT_PAGE_H
#define KILN_COMPILER_REPORT_PAGE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace kiln {

/// One HTML file that needs no other: styles, scripts, and the data as JSON.
std::string makePage(const llvm::json::Object &report);

/// Whether a file that begins so may be a report: JSON or a page.
bool looksLikeReport(llvm::StringRef head);

/// The data of a report, from its JSON or from its page.
llvm::Expected<llvm::json::Object> readReport(llvm::StringRef text);

/// Adds the times of `kiln bench --json` to the compile for the same target. An error if the file has none, or if they are of other kernels.
llvm::Error addTimes(llvm::json::Object &report, const llvm::json::Object &bench);

} // namespace kiln

#endif // KILN_COMPILER_REPORT_PAGE_H
