//===- VerifyReport.cpp - What kiln verify prints --------------------------------===//
#include "tools/kiln/verify/VerifyReport.h"
#include "compiler/files/Printable.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/Reporting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

/// Of outputs that agree, and of kernels' results, the largest errors that are printed without -v.
static constexpr size_t mostLines = 5;

static bool agrees(const Verdict &verdict) { return verdict.comparison.agrees(); }
static bool agrees(const NodeVerdict &verdict) { return verdict.comparison.agrees(); }

static std::string formatErrors(const Comparison &comparison) {
  std::string text;
  raw_string_ostream os(text);
  os << format(": %lld values, relative error %.3g, %.3g ulp, absolute %.3g", (long long)comparison.elements, comparison.maxRelative, comparison.maxUlp,
               comparison.maxAbsolute)
     << (comparison.worstAt.empty() ? "" : " at " + formatIndex(comparison.worstAt)) << format(" (%.3g of the largest value)", comparison.scaledError);
  if (comparison.inSteps)
    os << format("; %.3g steps, %lld values off, rms %.3g", comparison.maxSteps, (long long)comparison.stepped, comparison.rmsSteps);
  if (!comparison.agrees())
    os << "; " << comparison.reason;
  return text;
}

static json::Object toJson(const Comparison &comparison) {
  json::Object row{{"agrees", comparison.agrees()},        {"reason", comparison.reason},
                   {"elements", comparison.elements},      {"wrong", comparison.wrong},
                   {"max_absolute", comparison.maxAbsolute}, {"max_relative", comparison.maxRelative},
                   {"max_ulp", comparison.maxUlp},         {"scaled_error", comparison.scaledError}};
  if (!comparison.worstAt.empty())
    row["worst_at"] = json::Array(comparison.worstAt);
  if (comparison.inSteps) {
    row["max_steps"] = comparison.maxSteps;
    row["stepped"] = comparison.stepped;
    row["rms_steps"] = comparison.rmsSteps;
  }
  return row;
}

static json::Object toJson(const Verdict &verdict) {
  json::Object row = toJson(verdict.comparison);
  row["set"] = jsonText(verdict.set);
  row["output"] = jsonText(verdict.output);
  return row;
}

static json::Object toJson(const NodeVerdict &verdict) {
  json::Object row = toJson(verdict.comparison);
  row["value"] = jsonText(verdict.value.name);
  row["node"] = jsonText(verdict.value.node);
  row["kernel"] = jsonText(verdict.algorithm);
  row["kernel_nodes"] = json::Array(map_range(verdict.kernelNodes, jsonText));
  return row;
}

template <typename Verdicts> static json::Array listJson(const Verdicts &verdicts) {
  json::Array list;
  for (const auto &verdict : verdicts)
    list.push_back(toJson(verdict));
  return list;
}

static std::string toLine(const Verdict &verdict) {
  return (agrees(verdict) ? "ok    " : "WRONG ") + verdict.set + " " + verdict.output + formatErrors(verdict.comparison);
}

static std::string toLine(const NodeVerdict &verdict) {
  return (agrees(verdict) ? "ok    " : "WRONG ") + verdict.value.name + " of " + (verdict.value.node.empty() ? "no node" : verdict.value.node) +
         (verdict.algorithm.empty() ? "" : ", " + verdict.algorithm) + formatErrors(verdict.comparison);
}

/// Where it goes wrong, in a sentence.
static std::string locateFault(const NodeReport &report) {
  auto isWrong = [](const NodeVerdict &verdict) { return !agrees(verdict); };
  auto first = find_if(report.verdicts, isWrong);
  if (first == report.verdicts.end())
    return "every kernel computes what the reference does from the same inputs";
  std::string text = "the first wrong value is '" + first->value.name + "' of node " + first->value.node;
  if (first->kernelNodes.size() > 1)
    text += ", computed by one kernel with " + join(make_filter_range(first->kernelNodes, [&](auto &node) { return node != first->value.node; }), ", ");
  if (report.inside.empty())
    return text;
  auto inside = find_if(report.inside, isWrong);
  return text + (inside == report.inside.end() ? "; its nodes are right in separate kernels: the fault is in their fusion"
                                               : "; in separate kernels the first wrong value is '" + inside->value.name + "' of node " +
                                                     inside->value.node);
}

static const NodeVerdict *findWorst(const NodeReport &nodes) {
  if (nodes.verdicts.empty())
    return nullptr;
  return &*std::max_element(nodes.verdicts.begin(), nodes.verdicts.end(),
                            [](const NodeVerdict &a, const NodeVerdict &b) { return a.comparison.scaledError < b.comparison.scaledError; });
}

namespace {
/// A line that is printed, with the error by which lines are sorted.
struct Line {
  double error;
  bool agrees;
  std::string text;
  size_t position = 0;
};
} // namespace

template <typename Verdicts> static std::vector<Line> listLines(const Verdicts &verdicts) {
  std::vector<Line> lines;
  for (const auto &verdict : verdicts)
    lines.push_back({verdict.comparison.scaledError, agrees(verdict), toLine(verdict), lines.size()});
  return lines;
}

static void printVerdict(size_t outputs, size_t wrong, size_t wrongNodes, const NodeReport *nodes) {
  if (wrong)
    printError(Twine(wrong) + " of " + Twine(outputs) + " outputs are wrong");
  if (wrongNodes)
    printError(Twine(wrongNodes) + " of " + Twine(nodes->verdicts.size()) + " values are wrong: " + locateFault(*nodes));
  else if (wrong && nodes)
    printLine(WithColor::note(errs()), locateFault(*nodes));
  errs().flush();
  if (verbosity() == 0)
    return;
  if (wrong + wrongNodes == 0)
    printLine(outs(), "right: " + (outputs ? std::to_string(outputs) + (outputs == 1 ? " output agrees" : " outputs agree") : "") +
                          (outputs && nodes ? ", and " : "") + (nodes ? locateFault(*nodes) : ""));
  if (const NodeVerdict *worst = nodes ? findWorst(*nodes) : nullptr)
    printLine(outs(), Twine(nodes->verdicts.size()) + " values compared, " + Twine(nodes->hidden.size()) + " stay inside a kernel; largest error: " +
                          llvm::to_string(format("%.3g of the largest value", worst->comparison.scaledError)) + " in " + worst->value.name + " of " +
                          worst->value.node);
}

/// The largest errors of what agrees; with -v all in the model's order.
static void printAgreeing(std::vector<Line> lines) {
  bool isWhole = verbosity() > 1;
  erase_if(lines, [](const Line &line) { return !line.agrees; });
  if (!isWhole)
    llvm::sort(lines, [](const Line &a, const Line &b) { return std::pair(b.error, a.position) < std::pair(a.error, b.position); });
  size_t shown = isWhole ? lines.size() : std::min(lines.size(), mostLines);
  for (const Line &line : ArrayRef(lines).take_front(shown))
    printLine(outs(), line.text);
  if (size_t left = lines.size() - shown)
    outs() << left << (left == 1 ? " more agrees" : " more agree") << " with smaller errors (-v lists all)\n";
}

/// What is wrong, and then the whole outputs and the kernels' results that are not.
static void printLines(ArrayRef<Verdict> outputs, const NodeReport *nodes) {
  std::vector<Line> ofOutputs = listLines(outputs), ofNodes = listLines(nodes ? ArrayRef(nodes->verdicts) : ArrayRef<NodeVerdict>());
  for (const std::vector<Line> *lines : {&ofOutputs, &ofNodes})
    for (const Line &line : *lines)
      if (!line.agrees)
        printLine(outs(), line.text);
  for (const NodeVerdict &verdict : nodes ? ArrayRef(nodes->inside) : ArrayRef<NodeVerdict>())
    if (verbosity() > 0 || !agrees(verdict))
      printLine(outs(), "  " + toLine(verdict));
  if (verbosity() == 0)
    return;
  printAgreeing(std::move(ofOutputs));
  printAgreeing(std::move(ofNodes));
}

static json::Object reportToJson(ArrayRef<Verdict> outputs, const NodeReport *nodes) {
  json::Object result{{"outputs", listJson(outputs)}};
  if (!nodes)
    return result;
  json::Array hidden;
  for (const ObservableValue &value : nodes->hidden)
    hidden.push_back(json::Object{{"value", jsonText(value.name)}, {"node", jsonText(value.node)}});
  const NodeVerdict *worst = findWorst(*nodes);
  result["nodes"] = listJson(nodes->verdicts);
  result["hidden"] = std::move(hidden);
  result["inside"] = listJson(nodes->inside);
  result["worst"] = worst ? jsonText(worst->value.name) : "";
  result["verdict"] = jsonText(locateFault(*nodes));
  return result;
}

int printReport(ArrayRef<Verdict> outputs, const NodeReport *nodes, bool isPlotted) {
  auto isWrong = [](const auto &verdict) { return !agrees(verdict); };
  size_t wrong = size_t(count_if(outputs, isWrong)), wrongNodes = nodes ? size_t(count_if(nodes->verdicts, isWrong)) : 0;
  int status = wrong + wrongNodes ? AtFault : Done;
  if (wantsJson()) {
    json::Object result = reportToJson(outputs, nodes);
    result["wrong"] = int64_t(wrong + wrongNodes);
    printJson(std::move(result));
    return status;
  }
  printVerdict(outputs.size(), wrong, wrongNodes, nodes);
  printLines(outputs, nodes);
  if (nodes && isPlotted)
    printErrorPlot(nodes->verdicts);
  return status;
}

} // namespace kiln
