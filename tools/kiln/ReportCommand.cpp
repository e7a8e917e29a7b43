//===- ReportCommand.cpp - kiln report: a page that shows a compile --------===//
#include "compiler/files/InputFile.h"
#include "compiler/files/Printable.h"
#include "compiler/files/Suggestion.h"
#include "compiler/Recursion.h"
#include "compiler/report/Collector.h"
#include "compiler/report/Page.h"
#include "tools/kiln/Benchmark.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/GivenOptions.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static cl::opt<std::string> pageOutput("o", cl::desc("The page to write; a name that ends in .json: its data alone"), cl::value_desc("FILE.html"),
                                   cl::sub(reportCommand));
static cl::opt<bool> bench("bench", cl::desc("Also measure the time of each kernel, as kiln bench does"), cl::sub(reportCommand));
static cl::opt<std::string> times("times", cl::desc("Take the times of the kernels from the output of kiln bench --json for the same model and options"),
                                  cl::value_desc("FILE.json"), cl::sub(reportCommand));
static cl::list<std::string> comparedReports("compare", cl::desc("Another report, a page or its data, to show the differences to; may be given several times"),
                                     cl::value_desc("REPORT"), cl::sub(reportCommand));

static Error inFile(StringRef path, Error error) { return makeError(path + ": " + toString(std::move(error))); }

static Expected<json::Object> readReportFile(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostTextBytes);
  if (!file)
    return inFile(path, file.takeError());
  Expected<json::Object> report = readReport((*file)->getBuffer());
  return report ? std::move(report) : inFile(path, report.takeError());
}

static Expected<json::Object> readTimes(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostTextBytes);
  if (!file)
    return inFile(path, file.takeError());
  Expected<json::Value> value = parseJson((*file)->getBuffer());
  if (!value)
    return inFile(path, value.takeError());
  json::Object *object = value->getAsObject();
  return object ? Expected<json::Object>(std::move(*object)) : inFile(path, makeError("expected the output of kiln bench --json"));
}

/// Sizes of dimensions that the model does not have are refused.
static Error checkSizes(const NamedSizes &sizes, const json::Object &report) {
  std::set<std::string> names;
  for (const json::Value &compile : *report.getArray("compiles"))
    for (const auto &entry : *compile.getAsObject()->getObject("counted_for"))
      names.insert(entry.first.str());
  for (const auto &[name, size] : sizes)
    if (!names.count(name)) {
      std::vector<StringRef> known(names.begin(), names.end());
      return makeError("--run-dim=" + name + "=" + Twine(size) + ": the model has no dynamic dimension '" + name + "'" + suggest(name, known));
    }
  return Error::success();
}

/// Compiles the model up to its kernels and collects what a report shows.
static int makeReport(CompileOptions options, json::Object &report) {
  Expected<NamedSizes> sizes = readRunDims();
  if (!sizes)
    return kiln::report(sizes.takeError(), WrongUsage);
  ReportCollector collector;
  Compilation compilation;
  options.stopAfter = "kernel";
  options.explain = true;
  options.afterStage = [&](const std::string &stage, const Compilation &now) { collector.collect(stage, now); };
  if (int status = compileOrReport(options, compilation))
    return status;
  Expected<json::Object> collected = collector.finish(compilation, *sizes);
  if (!collected)
    return kiln::report(collected.takeError(), InternalError);
  report = std::move(*collected);
  if (Error error = checkSizes(*sizes, report))
    return kiln::report(std::move(error), WrongUsage);
  report["version"] = KILN_VERSION;
  report["file"] = jsonText(sys::path::filename(options.model));
  std::vector<std::string> given = getGivenOptions(reportCommand, {"o", "json", "q", "v", "bench", "times", "compare", "jobs", "no-cache", "min-time"});
  report["options"] = json::Array(map_range(given, jsonText));
  return Done;
}

static int addMeasurements(const CompileOptions &options, json::Object &report) {
  json::Object measured;
  if (bench) {
    if (int status = measureModel(options, measured))
      return status;
  } else {
    Expected<json::Object> read = readTimes(times);
    if (!read)
      return kiln::report(read.takeError(), AtFault);
    measured = std::move(*read);
  }
  if (Error error = addTimes(report, measured))
    return kiln::report(bench ? std::move(error) : inFile(times, std::move(error)), AtFault);
  return Done;
}

/// What only a compile can follow.
static Error refuseForReport() {
  std::vector<std::string> given;
  for (auto &entry : cl::getRegisteredOptions(reportCommand))
    if (entry.second->getNumOccurrences() && !entry.second->isPositional() && !is_contained({"json", "v", "q", "o", "compare", "times"}, entry.first))
      given.push_back(("--" + entry.first).str());
  llvm::sort(given);
  return given.empty() ? Error::success() : makeError(join(given, ", ") + " cannot change a report; it needs a model");
}

/// The report of a model, or one that is there already.
static int findReport(const CompileOptions &options, json::Object &report) {
  Expected<FileHead> head = readFileHead(options.model);
  if (!head)
    return kiln::report(inFile(options.model, head.takeError()), AtFault);
  if (looksLikeReport(head->first)) {
    if (Error error = refuseForReport())
      return kiln::report(std::move(error), WrongUsage);
    Expected<json::Object> read = readReportFile(options.model);
    if (!read)
      return kiln::report(read.takeError(), AtFault);
    report = std::move(*read);
  } else if (int status = makeReport(options, report)) {
    return status;
  }
  return bench || !times.empty() ? addMeasurements(options, report) : int(Done);
}

/// Adds the reports to compare with. A report that has some of its own does not bring them along.
static Error addOthers(json::Object &report) {
  json::Array others;
  for (const std::string &path : comparedReports) {
    Expected<json::Object> other = readReportFile(path);
    if (!other)
      return other.takeError();
    other->erase("others");
    other->insert({"from", jsonText(sys::path::filename(path))});
    others.push_back(std::move(*other));
  }
  if (!others.empty())
    report["others"] = std::move(others);
  return Error::success();
}

static Error writeReport(const json::Object &report) {
  bool isData = StringRef(pageOutput).ends_with(".json");
  OutputFile file{"", isData ? formatv("{0}\n", json::Value(json::Object(report))).str() : makePage(report), nullptr};
  if (Error error = writeFiles(PlacedFile{pageOutput, &file}))
    return error;
  if (verbosity() > 0 && !wantsJson())
    printLine(outs(), pageOutput + ": " + Twine(file.contents.size()) + " bytes");
  return Error::success();
}

int runReport() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  if (pageOutput.empty() && !wantsJson())
    return report(makeError("give -o FILE.html for a page, or --json for its data"), WrongUsage);
  if (bench && !times.empty())
    return report(makeError("--bench and --times: times are measured or read, not both"), WrongUsage);
  if (!pageOutput.empty())
    if (Error error = checkWritable(pageOutput))
      return report(std::move(error), AtFault);
  json::Object data;
  if (int status = findReport(*options, data))
    return status;
  if (Error error = addOthers(data))
    return report(std::move(error), AtFault);
  if (!pageOutput.empty())
    if (Error error = writeReport(data))
      return report(std::move(error), AtFault);
  if (wantsJson())
    printJson(std::move(data));
  return Done;
}

} // namespace kiln
