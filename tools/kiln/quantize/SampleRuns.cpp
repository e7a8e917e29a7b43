//===- SampleRuns.cpp - Forms of a model run on its samples ----------------===//
#include "tools/kiln/quantize/SampleRuns.h"
#include "compiler/emit/Temporary.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace kiln {

/// Fails with the first value that no range can hold.
static Error checkFinite(const SampleCase &sample, const LoadedModel &model, ArrayRef<Tensor> inputs) {
  for (auto [info, tensor] : zip_equal(model.getInputs(), inputs))
    for (int64_t i = 0; isFloat(tensor.getType()) && i < tensor.getNumElements(); ++i)
      if (double value = tensor.getValue(i); !std::isfinite(value))
        return makeError(sample.name + ": input '" + info.name + "' is " + (std::isnan(value) ? "NaN" : "infinite") + " at " + Twine(i));
  return Error::success();
}

Error SampleRuns::noteSizes(ArrayRef<Tensor> inputs) {
  const kiln_model_info &info = reference.loaded->getInfo();
  Expected<std::vector<int64_t>> dims = reference.loaded->inferDims(inputs);
  if (!dims)
    return dims.takeError();
  for (int i = 0; i < info.num_symbols - info.num_computed; ++i) {
    auto [known, isNew] = sizes.try_emplace(info.symbols[i].name, (*dims)[size_t(i)]);
    if (!isNew && known->second != (*dims)[size_t(i)])
      known->second = std::nullopt;
  }
  return Error::success();
}

int SampleRuns::prepare(StringRef folder, size_t mostMeasured) {
  if (int status = loadOrReport(options, reference))
    return status;
  Expected<std::vector<SampleCase>> found = findCases(folder, *reference.loaded);
  if (!found)
    return report(found.takeError(), AtFault);
  cases = std::move(*found);
  for (const SampleCase &sample : cases) {
    Expected<std::vector<Tensor>> inputs = readCase(sample, *reference.loaded);
    Error error = inputs ? checkFinite(sample, *reference.loaded, *inputs) : inputs.takeError();
    if (!error && (error = noteSizes(*inputs)))
      error = makeError(sample.name + ": " + toString(std::move(error)));
    if (error)
      return report(std::move(error), AtFault);
  }
  exact.resize(std::min(mostMeasured, cases.size()));
  size_t at = 0;
  Error error = run(*reference.loaded, /*onlyMeasured=*/true, {}, [&](const LoadedModel &, ArrayRef<Tensor>, ArrayRef<Tensor> outputs) -> Error {
    for (const Tensor &output : outputs) {
      Expected<Tensor> copy = output.copy();
      if (!copy)
        return copy.takeError();
      exact[at].push_back(std::move(*copy));
    }
    ++at;
    return Error::success();
  });
  return error ? report(std::move(error), AtFault) : int(Done);
}

int SampleRuns::compile(quantize::ModelGraph &model, StringRef name, ArrayRef<std::string> values, RunnableModel &result) const {
  Expected<std::string> folder = makeTemporaryFolder("for a form of the model");
  if (!folder)
    return report(folder.takeError(), AtFault);
  scope_exit remove([&] { removeTemporaryFolder(*folder); });
  Expected<std::string> bytes = model.serialize();
  if (!bytes)
    return report(bytes.takeError(), AtFault);
  CompileOptions form = options;
  form.model = *folder + "/" + name.str() + ".onnx";
  form.name = ("kiln_quantize_" + name).str();
  for (const auto &[dimension, size] : sizes)
    if (size)
      form.dims.try_emplace(dimension, *size);
  form.observation.values.assign(values.begin(), values.end());
  std::error_code error;
  raw_fd_ostream os(form.model, error);
  os << *bytes;
  os.close();
  if (error || os.has_error())
    return report(makeError("cannot write " + form.model + ": " + (error ? error : os.error()).message()), AtFault);
  return loadOrReport(form, result);
}

Error SampleRuns::run(const LoadedModel &model, bool onlyMeasured, ArrayRef<Tensor> more, UseOutputs use) const {
  size_t count = onlyMeasured ? exact.size() : cases.size();
  for (size_t i = 0; i < count; ++i) {
    const SampleCase &sample = cases[onlyMeasured ? getMeasuredCase(i) : i];
    Expected<std::vector<Tensor>> inputs = readCase(sample, *reference.loaded);
    if (!inputs)
      return inputs.takeError();
    for (const Tensor &tensor : more) {
      Expected<Tensor> copy = tensor.copy();
      if (!copy)
        return copy.takeError();
      inputs->push_back(std::move(*copy));
    }
    Expected<Execution> execution = prepareRun(model, *inputs);
    Error error = execution ? execution->run(&context) : execution.takeError();
    if (!error)
      error = use(model, *inputs, execution->getOutputs());
    if (error)
      return makeError(sample.name + ": " + toString(std::move(error)));
  }
  return Error::success();
}

Expected<quantize::QualityMeter> SampleRuns::measure(const LoadedModel &model, ArrayRef<Tensor> more) const {
  quantize::QualityMeter meter;
  size_t at = 0;
  Error error = run(model, /*onlyMeasured=*/true, more, [&](const LoadedModel &, ArrayRef<Tensor>, ArrayRef<Tensor> outputs) {
    const std::vector<Tensor> &wanted = exact[at++];
    return meter.add(outputs.take_front(wanted.size()), wanted);
  });
  if (error)
    return std::move(error);
  return meter;
}

} // namespace kiln
