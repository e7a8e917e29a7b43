//===- StageFlags.cpp - A model as a pipeline, on the command line ---------===//
#include "tools/kiln/StageFlags.h"
#include "compiler/files/Printable.h"
#include "compiler/run/Tensor.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

static cl::opt<unsigned> stages("stages",
    cl::desc("Cut the model into N stages of about the same estimated time, each with a run function of its own, for threads or processes that work on "
             "different micro-batches (docs/Pipelines.md)"),
    cl::value_desc("N"), cl::init(0), cl::sub(compileCommand), cl::sub(runCommand), cl::sub(verifyCommand));
static cl::list<std::string> cut("cut", cl::CommaSeparated,
    cl::desc("Cut the model behind the kernels of these ONNX nodes, instead of where the estimates say"), cl::value_desc("NODE,..."), cl::sub(compileCommand),
    cl::sub(runCommand), cl::sub(verifyCommand));
static cl::opt<std::string> stageMemory("stage-memory",
    cl::desc("The most bytes, such as 64M, of weights and of values at one time in a stage"), cl::value_desc("SIZE"), cl::sub(compileCommand),
    cl::sub(runCommand), cl::sub(verifyCommand));
static cl::opt<int> stage("stage",
    cl::desc("Make a library of stage K alone, counted from 0, with its own weights only"), cl::value_desc("K"), cl::init(-1), cl::sub(compileCommand));

Expected<StageRequest> getStageRequest() {
  StageRequest request;
  request.count = stages;
  request.cutBehind.assign(cut.begin(), cut.end());
  request.only = stage;
  if (stages.getNumOccurrences() && stages == 0)
    return makeError("--stages=0: expected a number from 1");
  if (!cut.empty() && !stages.getNumOccurrences())
    request.count = cut.size() + 1;
  if (!cut.empty() && request.count != cut.size() + 1)
    return makeError("--cut: " + Twine(cut.size()) + " cuts make " + Twine(cut.size() + 1) + " stages, and --stages asks for " + Twine(request.count));
  if (stageMemory.getNumOccurrences()) {
    std::optional<int64_t> bytes = parseBytes(stageMemory);
    if (!bytes)
      return makeError("--stage-memory=" + stageMemory + ": expected a number of bytes, such as 65536, 64K or 2M");
    request.mostBytes = *bytes;
  }
  if (stage.getNumOccurrences() && (stage < 0 || unsigned(stage) >= std::max(request.count, 1u)))
    return makeError("--stage=" + Twine(int(stage)) + ": expected a number below that of --stages");
  bool needsCount = stage.getNumOccurrences() || stageMemory.getNumOccurrences();
  if (!request.count && needsCount)
    return makeError((stage.getNumOccurrences() ? "--stage" : "--stage-memory") + Twine(": give --stages=N, too"));
  return request;
}

static std::string joinNumbers(ArrayRef<unsigned> numbers) {
  return join(map_range(numbers, [](unsigned number) { return std::to_string(number); }), " and ");
}

void printStages(ArrayRef<StageSummary> stages) {
  for (auto [i, stage] : enumerate(stages)) {
    if (i)
      printLine(errs(), "cut behind " + stage.cutBehind + ": " + Twine(stage.crossingBytes) + " bytes cross");
    std::string share = formatv("{0:f1}", stage.share * 100).str();
    printLine(errs(), "stage " + Twine(i) + ": " + Twine(stage.kernels) + (stage.kernels == 1 ? " kernel, " : " kernels, ") + share +
                          " % of the estimated time, " + Twine(stage.weightsBytes) + " bytes of weights, at most " + Twine(stage.valueBytes) +
                          " bytes of values");
    for (const StageSummary::Border &border : stage.gives)
      printLine(errs(), "  '" + border.name + "' " + border.type + ", " + Twine(border.bytes) + " bytes" +
                            (border.isPart ? ", a part on each rank" : "") + ", to stage " + joinNumbers(border.to));
  }
}

json::Array stagesToJson(ArrayRef<StageSummary> stages) {
  json::Array list;
  for (const StageSummary &stage : stages) {
    json::Array gives;
    for (const StageSummary::Border &border : stage.gives)
      gives.push_back(json::Object{
          {"name", jsonText(border.name)}, {"type", border.type}, {"bytes", border.bytes}, {"part", border.isPart}, {"to", json::Array(border.to)}});
    list.push_back(json::Object{{"name", stage.name},
                                {"kernels", stage.kernels},
                                {"share", stage.share},
                                {"weights_bytes", stage.weightsBytes},
                                {"value_bytes", stage.valueBytes},
                                {"cut_behind", jsonText(stage.cutBehind)},
                                {"crossing_bytes", stage.crossingBytes},
                                {"gives", std::move(gives)}});
  }
  return list;
}

} // namespace kiln
