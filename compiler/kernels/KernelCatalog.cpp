//===- KernelCatalog.cpp - The kernels that need no model ----------------------===//
#include "compiler/kernels/KernelCatalog.h"
#include "compiler/definitions/Library.h"
#include "compiler/kernels/DefinitionKernel.h"
#include "compiler/run/Tensor.h"
#include "dialects/nn/RealNumber.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace kiln {

using definitions::Definition;

namespace {
struct Row {
  StringLiteral name, parameters, summary, text;
};
} // namespace

static constexpr Row rows[] = {
#define KILN_KERNEL_ROW(NAME, PARAMETERS, SUMMARY, TEXT) {NAME, PARAMETERS, SUMMARY, TEXT},
#include "compiler/kernels/Kernels.def"
};

struct KernelCatalog::File {
  std::string path;
  std::unique_ptr<definitions::Library> library;
};

KernelCatalog::KernelCatalog() = default;
KernelCatalog::~KernelCatalog() = default;

bool KernelCatalog::addDefinitions(const std::string &path, std::vector<std::string> &errors) {
  std::unique_ptr<definitions::Library> library = definitions::Library::read(path, errors);
  if (library)
    files.push_back(std::make_unique<File>(File{path, std::move(library)}));
  return library || errors.empty();
}

/// `type=f32 epsilon=1e-5 causal=0..1 block=32/16`.
static std::vector<KernelParameter> readParameters(StringRef text) {
  std::vector<KernelParameter> parameters;
  for (StringRef part : llvm::split(text, ' ')) {
    auto [name, value] = part.split('=');
    if (name.empty())
      continue;
    auto [start, most] = value.split("..");
    auto [standard, step] = start.split('/');
    KernelParameter &parameter = parameters.emplace_back(KernelParameter{name.str(), standard.str()});
    most.getAsInteger(10, parameter.most);
    step.getAsInteger(10, parameter.step);
  }
  return parameters;
}

static std::string listNames(ArrayRef<KernelParameter> parameters) {
  if (parameters.empty())
    return "none";
  return join(map_range(parameters, [](const KernelParameter &parameter) { return parameter.name; }), ", ");
}

/// What is wrong with a value for a parameter of the table: a number for a word is not, but a word for a number is, and so are a size of nothing and a
/// negative number. The root of a variance less an epsilon is none.
static std::string findValueFault(StringRef given, const KernelParameter &parameter) {
  StringRef standard = parameter.value;
  double real;
  int64_t integer = 0, other = 0;
  if (!parseReal(standard, real))
    return "";
  if (!parseReal(given, real))
    return "a number";
  if (standard.getAsInteger(10, other))
    return std::isfinite(real) && real >= 0 ? "" : "a number that is not negative";
  if (given.getAsInteger(10, integer) || integer < 0)
    return "an integer that is not negative";
  if (integer == 0 && other > 0)
    return "a positive integer";
  if (integer % parameter.step != 0)
    return "a multiple of " + std::to_string(parameter.step);
  return integer <= parameter.most ? "" : "an integer from 0 to " + std::to_string(parameter.most);
}

/// Replaces defaults by what is given. Values go into the kernel's text, so they are words and numbers only.
static Error setParameters(ArrayRef<KernelParameter> given, KernelForm &form) {
  for (const KernelParameter &parameter : given) {
    auto found = find_if(form.parameters, [&](const KernelParameter &other) { return other.name == parameter.name; });
    std::string what = parameter.name + "=" + parameter.value;
    if (found == form.parameters.end())
      return makeError("kernel '" + form.kernel + "' has no parameter '" + parameter.name + "'; it has: " + listNames(form.parameters));
    bool isWord = all_of(parameter.value, [](char c) { return isAlnum(c) || c == '_' || c == '.' || c == '-' || c == '+'; });
    if (!isWord || parameter.value.empty())
      return makeError("kernel '" + form.kernel + "': " + what + ": expected a word or a number");
    double after;
    if (std::string fault = form.definitions.empty() ? findValueFault(parameter.value, *found) : ""; !fault.empty())
      return makeError("kernel '" + form.kernel + "': " + what + ": expected " + fault);
    // A real number keeps its point, by which the text knows it.
    bool needsPoint = found->value.find_first_of(".e") != std::string::npos && isAlnum(parameter.value.back()) &&
                      StringRef(parameter.value).find_first_of(".e") == StringRef::npos && parseReal(parameter.value, after);
    found->value = parameter.value + (needsPoint ? ".0" : "");
  }
  return Error::success();
}

Expected<KernelForm> KernelCatalog::makeKernel(StringRef name, ArrayRef<KernelParameter> given) const {
  KernelForm form;
  form.name = form.kernel = name.str();
  for (const std::unique_ptr<File> &file : files)
    for (const Definition &definition : reverse(file->library->getDefinitions())) {
      if (definition.name != name)
        continue;
      form.summary = "operator '" + definition.name + "' of " + definition.domain + ", version " + std::to_string(definition.version);
      form.definitions = file->path;
      form.parameters = listParameters(definition);
      if (Error error = setParameters(given, form))
        return std::move(error);
      if (Error error = readDefinition(definition, form))
        return std::move(error);
      return form;
    }
  const auto *row = find_if(rows, [&](const Row &row) { return row.name == name; });
  if (row == std::end(rows))
    return describeUnknown(name);
  form.summary = row->summary.str();
  form.parameters = readParameters(row->parameters);
  if (Error error = setParameters(given, form))
    return std::move(error);
  if (Error error = readKernelText(row->text, form))
    return std::move(error);
  return form;
}

Error KernelCatalog::describeUnknown(StringRef name) const {
  std::vector<StringRef> names;
  for (const Row &row : rows)
    names.push_back(row.name);
  for (const std::unique_ptr<File> &file : files) {
    for (const Definition &definition : file->library->getDefinitions())
      names.push_back(definition.name);
    for (const definitions::Extern &external : file->library->getExterns())
      if (external.name == name)
        return makeError("'" + name + "' is a function that the program provides (extern), no kernel");
  }
  if (name.empty())
    return makeError("a kernel has no name: expected [AS=]KERNEL[:PARAMETER=VALUE]...,...");
  auto distance = [&](StringRef other) { return other.starts_with(name) || name.starts_with(other) ? 1 : name.edit_distance(other); };
  StringRef nearest = *min_element(names, [&](StringRef a, StringRef b) { return distance(a) < distance(b); });
  std::string hint = distance(nearest) <= 3 ? "; did you mean '" + nearest.str() + "'?" : "; kiln kernels --list prints all";
  return makeError("there is no kernel '" + name + "'" + hint);
}

Expected<std::vector<KernelForm>> KernelCatalog::list() const {
  std::vector<KernelForm> forms;
  std::vector<StringRef> names;
  for (const Row &row : rows)
    names.push_back(row.name);
  for (const std::unique_ptr<File> &file : files)
    for (const Definition &definition : file->library->getDefinitions())
      if (!is_contained(names, definition.name))
        names.push_back(definition.name);
  for (StringRef name : names) {
    Expected<KernelForm> form = makeKernel(name, {});
    if (!form)
      return form.takeError();
    forms.push_back(std::move(*form));
  }
  return forms;
}

Expected<KernelForm> KernelCatalog::make(StringRef request) const {
  SmallVector<StringRef> parts;
  request.split(parts, ':');
  auto [first, second] = parts.front().split('=');
  StringRef kernel = parts.front().contains('=') ? second : first;
  std::vector<KernelParameter> given;
  for (StringRef part : drop_begin(parts)) {
    auto [name, value] = part.split('=');
    if (name.empty() || !part.contains('='))
      return makeError("'" + request + "': expected [AS=]KERNEL[:PARAMETER=VALUE]...");
    given.push_back({name.str(), value.str()});
  }
  Expected<KernelForm> form = makeKernel(kernel, given);
  if (form)
    form->name = first.str();
  return form;
}

} // namespace kiln
