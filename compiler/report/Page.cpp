//===- Page.cpp - A report as a page, and read back --------------------------===//
#include "compiler/report/Page.h"
#include "compiler/Recursion.h"
#include "compiler/emit/BuildText.h"
#include "compiler/files/Printable.h"
#include "compiler/report/Collector.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

namespace {
/// A file of compiler/report/web.
struct WebFile {
  StringRef path, text;
};
} // namespace

static constexpr WebFile files[] = {
#include "compiler/report/WebFiles.inc"
};

/// Where the page has its data.
static constexpr StringLiteral dataStart = "<script type=\"application/json\" id=\"kiln-report\">", dataEnd = "</script>";

/// All files that end so, in the order of their names.
static std::string joinFiles(StringRef suffix) {
  std::string text;
  for (const WebFile &file : files)
    if (file.path.ends_with(suffix))
      text += file.text;
  return text;
}

/// JSON that no HTML parser takes for the end of its script.
static std::string embedJson(const json::Object &report) {
  std::string text;
  for (char c : formatv("{0}", json::Value(json::Object(report))).str())
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

/// A title in HTML.
static std::string escapeHtml(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

std::string makePage(const json::Object &report) {
  const json::Object *model = report.getObject("model");
  return fillIn(joinFiles(".html"), {{"@TITLE@", escapeHtml(model ? model->getString("name").value_or("") : "")},
                                     {"@STYLE@", joinFiles(".css")},
                                     {"@SCRIPT@", joinFiles(".js")},
                                     {"@DATA@", embedJson(report)}});
}

bool looksLikeReport(StringRef head) {
  head = head.ltrim();
  return head.starts_with("{") || head.starts_with_insensitive("<!doctype html");
}

Expected<json::Object> readReport(StringRef text) {
  auto fail = [](const Twine &reason) { return createStringError(inconvertibleErrorCode(), reason); };
  if (!text.ltrim().starts_with("{")) {
    size_t at = text.find(dataStart);
    if (at == StringRef::npos)
      return fail("expected a report of kiln report, a page or JSON");
    text = text.substr(at + dataStart.size());
    text = text.take_front(text.find(dataEnd));
  }
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return fail("expected a report of kiln report: " + toString(value.takeError()));
  json::Object *report = value->getAsObject();
  if (!report || !report->getInteger("kiln_report") || !report->getArray("compiles"))
    return fail("expected a report of kiln report, a page or JSON");
  if (int64_t version = *report->getInteger("kiln_report"); version != reportVersion)
    return fail("the report has version " + Twine(version) + ", expected " + Twine(reportVersion));
  return std::move(*report);
}

/// A row's kernel and nodes, as `kiln bench` names them.
static std::string nameLaunch(const json::Object &report, const json::Object &compile, const json::Object &launch) {
  const json::Array *kernels = compile.getArray("kernels"), *numbers = launch.getArray("nodes");
  const json::Object *graph = report.getObject("graph");
  const json::Array *nodes = graph ? graph->getArray("nodes") : nullptr;
  size_t kernel = size_t(launch.getInteger("kernel").value_or(-1));
  if (!kernels || !numbers || !nodes || kernel >= kernels->size())
    return "";
  const json::Object *row = (*kernels)[kernel].getAsObject();
  std::string text = row ? row->getString("launched_as").value_or("").str() : "";
  for (const json::Value &number : *numbers)
    if (size_t i = size_t(number.getAsInteger().value_or(-1)); i < nodes->size())
      if (const json::Object *node = (*nodes)[i].getAsObject())
        text += " " + node->getString("name").value_or("").str();
  return text;
}

/// Of a row of a benchmark. Names of constants are no nodes.
static std::string nameMeasured(const json::Object &row) {
  std::string text = row.getString("name").value_or("").str();
  SmallVector<StringRef> nodes;
  row.getString("nodes").value_or("").split(nodes, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef node : nodes)
    if (node.ends_with(")"))
      text += " " + node.str();
  return text;
}

/// Calls a function for each object of an array in place; anything else counts as an empty array.
static void forEachRow(json::Object &object, StringRef key, function_ref<void(json::Object &)> visit) {
  if (json::Array *list = object.getArray(key))
    for (json::Value &row : *list)
      if (json::Object *fields = row.getAsObject())
        visit(*fields);
}

/// Gives the launches of a compile their times. Returns how many have one.
static size_t addTimes(const json::Object &report, json::Object &compile, const json::Array &measured) {
  // Launches of one name are in the order in which they run.
  std::map<std::string, std::vector<const json::Object *>> rows;
  for (const json::Value &value : measured)
    if (const json::Object *row = value.getAsObject())
      rows[nameMeasured(*row)].push_back(row);
  std::map<std::string, size_t> next;
  size_t found = 0;
  forEachRow(compile, "launches", [&](json::Object &launch) {
    std::string name = nameLaunch(report, compile, launch);
    auto row = rows.find(name);
    if (row == rows.end() || next[name] >= row->second.size())
      return;
    const json::Object &times = *row->second[next[name]++];
    json::Object own;
    for (StringRef key : {"ms", "calls", "flops", "bytes", "roofline"})
      own[key] = times.getNumber(key).value_or(0);
    launch["measured"] = std::move(own);
    ++found;
  });
  return found;
}

Error addTimes(json::Object &report, const json::Object &bench) {
  auto fail = [](const Twine &reason) { return createStringError(inconvertibleErrorCode(), reason); };
  const json::Array *measured = bench.getArray("kernels");
  if (!measured || !bench.getNumber("median_ms"))
    return fail("expected the output of kiln bench --json");
  json::Object summary(bench);
  summary.erase("kernels");
  // Times say nothing of the compile that a compiler on another day would make.
  summary.erase("compile_s");
  std::string target = bench.getString("target").value_or("").str();
  size_t found = 0;
  forEachRow(report, "compiles", [&](json::Object &compile) {
    size_t own = compile.getString("target").value_or("") == target ? addTimes(report, compile, *measured) : 0;
    if (own)
      compile["bench"] = json::Object(summary);
    found += own;
  });
  if (!found)
    return fail("the times are of other kernels than those of this compile; they are for the target '" + target + "'");
  return Error::success();
}

} // namespace kiln
