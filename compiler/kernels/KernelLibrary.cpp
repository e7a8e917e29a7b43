//===- KernelLibrary.cpp - Several kernels in one library -----------------------===//
#include "compiler/kernels/KernelLibrary.h"
#include "compiler/emit/ChoicePrinter.h"
#include "compiler/emit/DataObject.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/Objects.h"
#include "compiler/emit/Temporary.h"
#include "compiler/kernels/KernelRecord.h"
#include "compiler/kernels/PackFunctions.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace kiln {

/// The largest size that a caller may give to a kernel of so many sizes; nullopt for the default of models. Bounds may multiply to 2^60.
static std::optional<int64_t> mostSize(size_t sizes) {
  if (sizes > 2)
    return std::nullopt;
  return int64_t(1) << (sizes == 1 ? 40 : 30);
}

namespace {
class KernelLibraryBuilder {
public:
  KernelLibraryBuilder(const CompileOptions &options, Compilation &library, std::vector<std::string> &errors)
      : options(options), library(library), errors(errors) {}
  CompileStatus run(std::vector<KernelForm> forms);

private:
  bool checkNames(ArrayRef<KernelForm> forms);
  bool checkSizes(ArrayRef<KernelForm> forms);
  void checkKnownSize(ArrayRef<KernelForm> forms, StringRef option, const std::string &size, int64_t number);
  CompileStatus addKernel(KernelForm form, const std::string &folder);
  void takeResults(Compilation compilation);
  CompileStatus addFunctions();
  CompileOptions makeOptions(const KernelForm &form, const std::string &path) const;

  const CompileOptions &options;
  Compilation &library;
  std::vector<std::string> &errors;
  /// What the signatures of kernels refer to.
  std::vector<Compilation> kept;
  std::vector<CompiledKernel> kernels;
  std::vector<SourceFile> headers;
  kernel::TargetAttr baseline;
};
} // namespace

/// The functions of a kernel, without the library's name in front.
static SmallVector<std::string> listFunctions(const KernelForm &form) {
  SmallVector<std::string> names = {form.name, form.name + "_workspace_size"};
  if (any_of(form.inputs, [](const KernelTensor &input) { return input.isPacked; }))
    names.append({packFunctionOf(form.name), packFunctionOf(form.name) + "_size"});
  return names;
}

bool KernelLibraryBuilder::checkNames(ArrayRef<KernelForm> forms) {
  StringSet<> known;
  StringMap<StringRef> functions;
  for (const KernelForm &form : forms) {
    bool isUnique = known.insert(form.name).second;
    for (const std::string &name : listFunctions(form))
      if (auto [other, isNew] = functions.try_emplace(name, form.name); !isNew && isUnique)
        errors.push_back("kernels '" + other->second.str() + "' and '" + form.name + "' both have a function '" + name + "': give one another name, NAME=" +
                         form.kernel);
    for (const std::string &size : form.sizes)
      if (is_contained(ownParameters, size))
        errors.push_back("kernel '" + form.name + "': its function has a parameter '" + size + "' of its own; give the size another name");
    if (makeIdentifier(form.name) != form.name || form.name.empty())
      errors.push_back("'" + form.name + "' is no name of a C function");
    else if (!isUnique)
      errors.push_back("two kernels are called '" + form.name + "': give one another name, NAME=" + form.kernel);
  }
  return errors.empty();
}

/// Blocks and groups divide a size, and there is nothing to pack where one of a kernel's sizes is 0.
void KernelLibraryBuilder::checkKnownSize(ArrayRef<KernelForm> forms, StringRef option, const std::string &size, int64_t number) {
  for (const KernelForm &form : forms) {
    if (!is_contained(form.sizes, size))
      continue;
    std::string what = ("kernel '" + form.name + "': --" + option + ": " + size + "=" + Twine(number) + ": expected ").str();
    if (number == 0 && any_of(form.inputs, [](const KernelTensor &input) { return input.isPacked; }))
      errors.push_back(what + "at least 1, because the kernel has a packed operand");
    for (const DerivedSize &derived : form.derived)
      if (derived.of == size && number % derived.divisor != 0)
        errors.push_back(what + "a multiple of " + std::to_string(derived.divisor));
  }
}

/// Sizes that are named on the command line must be those of some kernel.
bool KernelLibraryBuilder::checkSizes(ArrayRef<KernelForm> forms) {
  auto check = [&](const std::string &size) {
    if (none_of(forms, [&](const KernelForm &form) { return is_contained(form.sizes, size); }))
      errors.push_back("no kernel has a size '" + size + "'");
  };
  for (const auto &entry : options.dims)
    check(entry.first);
  for (const auto &entry : options.dimBounds)
    check(entry.first);
  for (const auto &entry : options.specialize)
    check(entry.first);
  for (const auto &[size, number] : options.dims)
    checkKnownSize(forms, "dim", size, number);
  for (const auto &[size, numbers] : options.specialize)
    for (int64_t number : numbers)
      checkKnownSize(forms, "specialize", size, number);
  return errors.empty();
}

/// Drops what is said of sizes that the kernel does not have.
template <typename Value> static void keepSizes(const KernelForm &form, std::map<std::string, Value> &sizes) {
  for (auto at = sizes.begin(); at != sizes.end();)
    at = is_contained(form.sizes, at->first) ? std::next(at) : sizes.erase(at);
}

CompileOptions KernelLibraryBuilder::makeOptions(const KernelForm &form, const std::string &path) const {
  CompileOptions own = options;
  own.model = path;
  own.name = options.name + "_" + form.name + "_model";
  own.definitions.clear();
  if (!form.definitions.empty())
    own.definitions = {form.definitions};
  own.progress = nullptr;
  own.isInternal = true;
  for (const KernelTensor &input : form.inputs)
    if (input.isPacked || input.isScales)
      own.ioLayouts.push_back(input.name + "=packed");
  keepSizes(form, own.dims);
  keepSizes(form, own.dimBounds);
  keepSizes(form, own.specialize);
  for (const DerivedSize &size : form.derived)
    if (auto fixed = own.dims.find(size.of); fixed != own.dims.end())
      own.dims[size.name] = fixed->second / size.divisor;
  if (std::optional<int64_t> most = mostSize(form.sizes.size() + form.derived.size()))
    for (const std::string &size : form.sizes)
      if (!own.dims.count(size))
        own.dimBounds.try_emplace(size, 0, *most);
  return own;
}

/// The objects of a kernel's model join those of the library, which keeps the first kernel's modules for what describes its targets.
void KernelLibraryBuilder::takeResults(Compilation compilation) {
  std::vector<OutputFile> objects;
  for (OutputFile &object : compilation.objects) {
    OutputFile whole{object.path, "", nullptr};
    raw_string_ostream os(whole.contents);
    object.write(os);
    os.flush();
    objects.push_back(std::move(whole));
  }
  std::vector<OutputFile> all = std::move(library.objects);
  append_range(all, std::move(objects));
  std::vector<std::string> libraries = library.libraries, dependencies = library.dependencies;
  for (const std::string &name : compilation.libraries)
    if (!is_contained(libraries, name))
      libraries.push_back(name);
  for (const std::string &file : compilation.dependencies)
    if (!is_contained(dependencies, file))
      dependencies.push_back(file);
  unsigned units = library.units + compilation.units, cached = library.cachedUnits + compilation.cachedUnits;
  for (const std::string &warning : compilation.warnings)
    if (!is_contained(library.warnings, warning))
      library.warnings.push_back(warning);
  if (library.targets.empty()) {
    std::vector<std::string> warnings = std::move(library.warnings);
    library = std::move(compilation);
    library.warnings = std::move(warnings);
    library.notes.clear();
  } else {
    kept.push_back(std::move(compilation));
  }
  library.objects = std::move(all);
  library.libraries = std::move(libraries);
  library.dependencies = std::move(dependencies);
  library.units = units;
  library.cachedUnits = cached;
}

/// How each target's kernel wants the packed operand. Versions for special sizes want it alike.
static std::vector<PanelsOfTarget> listPanels(ArrayRef<Signature> signatures) {
  std::vector<PanelsOfTarget> all;
  for (const Signature &signature : signatures)
    for (const SignatureTensor &input : signature.inputs)
      if (auto panels = readPanels(input.layout);
          panels && none_of(all, [&](const PanelsOfTarget &other) { return other.target == signature.target; }))
        all.push_back({signature.target, panels->first, panels->second});
  return all;
}

CompileStatus KernelLibraryBuilder::addKernel(KernelForm form, const std::string &folder) {
  std::string path = folder + "/" + form.name + ".onnx";
  {
    std::error_code fault;
    raw_fd_ostream out(path, fault);
    out << form.model;
    out.close();
    if (!fault)
      fault = out.error();
    if (fault) {
      out.clear_error();
      errors.push_back("cannot write '" + path + "': " + fault.message());
      return CompileStatus::AtFault;
    }
  }
  Compilation compilation;
  size_t before = errors.size();
  CompileStatus status = compileModel(makeOptions(form, path), compilation, errors);
  // The model's file is of no concern to the user, but which kernel's sizes are wrong is.
  for (size_t i = before; i < errors.size(); ++i) {
    StringRef error = errors[i];
    bool ofModel = error.consume_front(path + ": ");
    if (ofModel || error.starts_with("--dim") || error.starts_with("--specialize"))
      errors[i] = "kernel '" + form.name + "': " + error.str();
  }
  if (status != CompileStatus::Done)
    return status;
  std::vector<Signature> signatures;
  for (const TargetModule &target : compilation.targets) {
    auto read = readSignature(*target.module, compilation.name);
    if (failed(read))
      return CompileStatus::Bug;
    // As the driver tells several targets apart.
    if (compilation.targets.size() > 1)
      read->variant = makeIdentifier(target.name);
    signatures.push_back(std::move(*read));
  }
  if (!baseline)
    baseline = baselineOf(signatures.front());
  headers.push_back({compilation.header.path, compilation.header.contents});
  kernels.push_back({std::move(form), mergeSignatures(signatures), listPanels(signatures)});
  takeResults(std::move(compilation));
  return CompileStatus::Done;
}

CompileStatus KernelLibraryBuilder::addFunctions() {
  ModelSources sources;
  sources.signature = kernels.front().model;
  sources.header = {options.name + ".h", printKernelHeader(options.name, kernels)};
  sources.kernelHeaders = headers;
  TranslationUnit unit{{options.name + "_functions.cpp", printKernelUnit(options.name, kernels)}, baseline, {sources.header.name}};
  for (const SourceFile &header : headers)
    unit.headers.push_back(header.name);
  sources.units.push_back(std::move(unit));
  auto objects = compileObjects(sources, {options.cxx, options.jobs, options.cache, nullptr});
  if (!objects) {
    errors.push_back(toString(objects.takeError()));
    return options.cxx.empty() ? CompileStatus::Bug : CompileStatus::AtFault;
  }
  for (ObjectFile &object : *objects)
    library.objects.push_back({object.name, std::string(object.bytes.begin(), object.bytes.end()), nullptr});
  library.name = options.name;
  library.header = {sources.header.name, sources.header.text, nullptr};
  // Not that of the first kernel's model.
  library.makeRecord = nullptr;
  if (std::string triple = baseline.getTriple().str(); canMakeDataObject(triple)) {
    std::vector<KernelForm> forms;
    for (const CompiledKernel &kernel : kernels)
      forms.push_back(setStaticSizes(kernel.form, options.dims));
    std::string record = printRecord(options.name, kernels.front().model.target, forms);
    library.makeRecord = [name = options.name + "_record.o", object = makeRecordObject(triple, kernelsSection, record)](ArrayRef<HashedFile>) {
      return OutputFile{name, object, nullptr};
    };
  }
  library.sources.clear();
  return CompileStatus::Done;
}

CompileStatus KernelLibraryBuilder::run(std::vector<KernelForm> forms) {
  if (!checkNames(forms) || !checkSizes(forms))
    return CompileStatus::AtFault;
  Expected<std::string> folder = makeTemporaryFolder("for the kernels");
  if (!folder) {
    errors.push_back(toString(folder.takeError()));
    return CompileStatus::AtFault;
  }
  auto remove = scope_exit([&] { removeTemporaryFolder(*folder); });
  for (auto [i, form] : enumerate(forms)) {
    if (options.progress)
      options.progress(form.name, i, forms.size());
    if (CompileStatus status = addKernel(std::move(form), *folder); status != CompileStatus::Done)
      return status;
  }
  return addFunctions();
}

CompileStatus compileKernels(std::vector<KernelForm> forms, const CompileOptions &options, Compilation &library, std::vector<std::string> &errors) {
  return KernelLibraryBuilder(options, library, errors).run(std::move(forms));
}

} // namespace kiln
