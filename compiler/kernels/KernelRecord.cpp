//===- KernelRecord.cpp - What a library of kernels says of itself --------------===//
#include "compiler/kernels/KernelRecord.h"
#include "compiler/files/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

static json::Array toJson(ArrayRef<KernelTensor> tensors) {
  json::Array list;
  for (const KernelTensor &tensor : tensors) {
    json::Object object{{"name", jsonText(tensor.name)}, {"type", tensor.element}, {"dims", json::Array(map_range(tensor.dims, jsonText))}};
    if (tensor.isPacked)
      object["packed"] = true;
    if (tensor.isScales)
      object["scales"] = true;
    if (!tensor.isSums)
      list.push_back(std::move(object));
  }
  return list;
}

json::Object toJson(const KernelForm &form) {
  json::Object parameters;
  for (const KernelParameter &parameter : form.parameters)
    parameters[jsonText(parameter.name)] = jsonText(parameter.value);
  return json::Object{{"name", jsonText(form.name)},
                      {"kernel", jsonText(form.kernel)},
                      {"signature", jsonText(form.signature())},
                      {"summary", jsonText(form.summary)},
                      {"parameters", std::move(parameters)},
                      {"sizes", json::Array(map_range(form.sizes, jsonText))},
                      {"inputs", toJson(form.inputs)},
                      {"outputs", toJson(form.outputs)}};
}

KernelForm setStaticSizes(KernelForm form, std::map<std::string, int64_t> dims) {
  for (const DerivedSize &size : form.derived)
    if (auto fixed = dims.find(size.of); fixed != dims.end())
      dims[size.name] = fixed->second / size.divisor;
  erase_if(form.sizes, [&](const std::string &size) { return dims.count(size) != 0; });
  for (std::vector<KernelTensor> *tensors : {&form.inputs, &form.outputs})
    for (KernelTensor &tensor : *tensors)
      for (std::string &dim : tensor.dims)
        if (auto fixed = dims.find(dim); fixed != dims.end())
          dim = std::to_string(fixed->second);
  return form;
}

std::string printRecord(StringRef name, StringRef target, ArrayRef<KernelForm> forms) {
  json::Array kernels;
  for (const KernelForm &form : forms)
    kernels.push_back(toJson(form));
  return formatv("{0}", json::Value(json::Object{{"name", jsonText(name)}, {"target", jsonText(target)}, {"kernels", std::move(kernels)}}));
}

std::optional<KernelRecord> readRecord(StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  json::Object *object = value->getAsObject();
  json::Array *kernels = object ? object->getArray("kernels") : nullptr;
  std::optional<StringRef> name = object ? object->getString("name") : std::nullopt, target = object ? object->getString("target") : std::nullopt;
  if (!kernels || !name || !target)
    return std::nullopt;
  KernelRecord record{name->str(), target->str(), {}, {}};
  for (const json::Value &kernel : *kernels) {
    const json::Object *one = kernel.getAsObject();
    std::optional<StringRef> function = one ? one->getString("name") : std::nullopt, signature = one ? one->getString("signature") : std::nullopt;
    if (!function || !signature)
      return std::nullopt;
    record.lines.push_back((record.name + "_" + *function + ": " + *signature).str());
  }
  record.kernels = std::move(*kernels);
  return record;
}

} // namespace kiln
