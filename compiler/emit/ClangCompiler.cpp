//===- ClangCompiler.cpp - C++ text to an object, in process ---------------===//
#include "compiler/emit/ClangCompiler.h"
#include "compiler/emit/BuildText.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/FoldWasmOffsets.h"

#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/TargetInfo.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Serialization/ASTWriter.h"
#include "clang/Serialization/PCHContainerOperations.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;

namespace kiln {

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeAllTargetInfos();
    InitializeAllTargets();
    InitializeAllTargetMCs();
    InitializeAllAsmPrinters();
    InitializeAllAsmParsers();
    foldWasmOffsets();
  });
}

using Files = IntrusiveRefCntPtr<vfs::InMemoryFileSystem>;

/// The kernel headers in /include and the stand-ins in /builtin; whoever compiles adds his own.
static Files makeFileSystem() {
  auto files = makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  for (const EmbeddedFile &file : embeddedFiles()) {
    bool isKernelHeader = file.path.starts_with("kiln/");
    if (isKernelHeader || file.path.starts_with("builtin/"))
      files->addFile((isKernelHeader ? "/include/" : "/") + file.path, 0, MemoryBuffer::getMemBuffer(file.text, "", true));
  }
  files->setCurrentWorkingDirectory("/model");
  return files;
}

static void addText(const Files &files, const Twine &path, StringRef text) { files->addFile(path, 0, MemoryBuffer::getMemBuffer(text, "", true)); }

/// Where the headers of a PrecompiledHeaders are, as text and as Clang reads them.
static constexpr StringLiteral headersPath = "/precompiled/headers.h", astPath = "/precompiled/headers.ast";

/// Runs `clang -cc1` with the target's arguments and these. The object, if the action makes one, goes to `object`.
static Error runClang(clang::FrontendAction &action, const Files &files, kernel::TargetAttr target, ArrayRef<StringRef> further,
                      SmallVectorImpl<char> &object) {
  initializeTargets();
  std::vector<std::string> arguments = frontendArguments(target);
  for (StringRef argument : {"-I", "/include", "-internal-isystem", "/builtin"})
    arguments.push_back(argument.str());
  for (StringRef argument : further)
    arguments.push_back(argument.str());
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());

  std::string log;
  raw_string_ostream logStream(log);
  clang::DiagnosticOptions options;
  auto printer = std::make_unique<clang::TextDiagnosticPrinter>(logStream, options);
  auto diagnostics = clang::CompilerInstance::createDiagnostics(*files, options, printer.get(), false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  auto fail = [&] { return createStringError(inconvertibleErrorCode(), "the emitted C++ does not compile:\n" + log); };
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *diagnostics))
    return fail();
  clang::CompilerInstance compiler(invocation);
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(printer.get(), false);
  compiler.setOutputStream(std::make_unique<raw_svector_ostream>(object));
  return compiler.ExecuteAction(action) ? Error::success() : fail();
}

Expected<SmallVector<char, 0>> compileInProcess(const SourceFile &unit, ArrayRef<SourceFile> headers, kernel::TargetAttr target,
                                                const PrecompiledHeaders *precompiled) {
  Files files = makeFileSystem();
  addText(files, "/model/" + unit.name, unit.text);
  for (const SourceFile &header : headers)
    addText(files, "/model/" + header.name, header.text);
  SmallVector<StringRef> arguments = {"-main-file-name", unit.name};
  if (precompiled) {
    addText(files, headersPath, precompiled->includes);
    files->addFileNoOwn(astPath, 0, MemoryBufferRef(StringRef(precompiled->ast.data(), precompiled->ast.size()), ""));
    arguments.append({"-include-pch", astPath});
  }
  arguments.push_back(unit.name);
  SmallVector<char, 0> object;
  clang::EmitObjAction action;
  if (Error error = runClang(action, files, target, arguments, object))
    return std::move(error);
  if (object.empty())
    return createStringError(inconvertibleErrorCode(), "Clang made no object of " + unit.name);
  return object;
}

namespace {
/// Clang's -emit-pch, into memory.
class PrecompileAction : public clang::ASTFrontendAction {
public:
  const std::shared_ptr<clang::PCHBuffer> buffer = std::make_shared<clang::PCHBuffer>();

private:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler, StringRef) override {
    return std::make_unique<clang::PCHGenerator>(compiler.getPreprocessor(), compiler.getModuleCache(), /*OutputFile=*/"", /*isysroot=*/"", buffer,
                                                 compiler.getCodeGenOpts(), ArrayRef<std::shared_ptr<clang::ModuleFileExtension>>(),
                                                 /*AllowASTWithErrors=*/false, /*IncludeTimestamps=*/false);
  }
  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }
  bool hasASTFileSupport() const override { return false; }
};
} // namespace

Expected<PrecompiledHeaders> precompileHeaders(StringRef includes, kernel::TargetAttr target) {
  PrecompiledHeaders made{includes.str(), {}};
  Files files = makeFileSystem();
  addText(files, headersPath, made.includes);
  PrecompileAction action;
  SmallVector<char, 0> none;
  if (Error error = runClang(action, files, target, {"-x", "c++-header", headersPath}, none))
    return std::move(error);
  if (!action.buffer->IsComplete)
    return createStringError(inconvertibleErrorCode(), "Clang did not write the kernel headers");
  made.ast = std::move(action.buffer->Data);
  return made;
}

std::vector<TranslationUnit> printRunner(const Signature &signature, kernel::TargetAttr target) {
  auto define = [](StringRef macro, const std::string &value) { return ("#define " + macro + " " + value + "\n").str(); };
  std::string model = define("KILN_MODEL", "\"" + makeAssemblerName(signature.name) + "\"") + define("KILN_DIMS", std::to_string(signature.hasDims())) +
                      define("KILN_WEIGHTS", std::to_string(signature.externalWeights)) + embeddedFile("builtin/runner/model.cpp").str();
  kernel::TargetAttr baseline = makeBaseline(target);
  return {{{"runner.cpp", embeddedFile("builtin/runner.cpp").str()}, baseline, {}}, {{"runner_model.cpp", model}, baseline, {}}};
}

Expected<SmallVector<char, 0>> compileLibrarySupport(kernel::TargetAttr target) {
  if (!Triple(tripleOf(target)).isOSWindows())
    return SmallVector<char, 0>();
  return compileInProcess({"support.cpp", embeddedFile("builtin/runner/windows_library.cpp").str()}, {}, makeBaseline(target));
}

std::string findUnknown(kernel::TargetAttr target) {
  initializeTargets();
  std::string log;
  raw_string_ostream stream(log);
  clang::DiagnosticOptions options;
  clang::TextDiagnosticPrinter printer(stream, options);
  vfs::InMemoryFileSystem files;
  auto diagnostics = clang::CompilerInstance::createDiagnostics(files, options, &printer, /*ShouldOwnClient=*/false);
  clang::TargetOptions wanted;
  wanted.Triple = tripleOf(target);
  wanted.CPU = target ? target.getCpu().str() : "";
  IntrusiveRefCntPtr<clang::TargetInfo> known(clang::TargetInfo::CreateTargetInfo(*diagnostics, wanted));
  // Only the first line, because the following ones list all CPUs.
  if (!known)
    return StringRef(log).split('\n').first.split("error: ").second.str();
  // Weights are written in this byte order only, and the tables in the header assume one of these widths.
  uint64_t bits = known->getPointerWidth(clang::LangAS::Default);
  if (known->isBigEndian() || (bits != 32 && bits != 64))
    return "'" + wanted.Triple + "' is not little-endian with addresses of 32 or 64 bits";
  for (const std::string &name : target ? instructionSets(target) : std::vector<std::string>())
    if (!known->isValidFeatureName(name))
      return "unknown feature '" + name + "'";
  return "";
}

} // namespace kiln
