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
#include "clang/Frontend/TextDiagnosticPrinter.h"
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

/// The files of a compile: the unit and the model's headers in /model, the kernel headers in /include, the stand-ins in /builtin.
static IntrusiveRefCntPtr<vfs::FileSystem> makeFileSystem(const SourceFile &unit, ArrayRef<SourceFile> headers) {
  auto files = makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  auto add = [&](const Twine &path, StringRef text) { files->addFile(path, 0, MemoryBuffer::getMemBuffer(text, "", true)); };
  add("/model/" + unit.name, unit.text);
  for (const SourceFile &header : headers)
    add("/model/" + header.name, header.text);
  for (const EmbeddedFile &file : embeddedFiles()) {
    if (file.path.starts_with("kiln/"))
      add("/include/" + file.path, file.text);
    else if (file.path.starts_with("builtin/"))
      add("/" + file.path, file.text);
  }
  files->setCurrentWorkingDirectory("/model");
  return files;
}

Expected<SmallVector<char, 0>> compileInProcess(const SourceFile &unit, ArrayRef<SourceFile> headers, kernel::TargetAttr target) {
  initializeTargets();
  std::vector<std::string> arguments = frontendArguments(target);
  for (StringRef extra : {"-main-file-name", unit.name.c_str(), "-I", "/include", "-internal-isystem", "/builtin"})
    arguments.push_back(extra.str());
  arguments.push_back(unit.name);
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());

  std::string log;
  raw_string_ostream logStream(log);
  clang::DiagnosticOptions options;
  auto files = makeFileSystem(unit, headers);
  auto printer = std::make_unique<clang::TextDiagnosticPrinter>(logStream, options);
  auto diagnostics = clang::CompilerInstance::createDiagnostics(*files, options, printer.get(), false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  auto fail = [&] { return createStringError(inconvertibleErrorCode(), "the emitted C++ does not compile:\n" + log); };
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *diagnostics))
    return fail();

  SmallVector<char, 0> object;
  clang::CompilerInstance compiler(invocation);
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(printer.get(), false);
  compiler.setOutputStream(std::make_unique<raw_svector_ostream>(object));
  clang::EmitObjAction action;
  if (!compiler.ExecuteAction(action) || object.empty())
    return fail();
  return object;
}

TranslationUnit printRunner(const Signature &signature, kernel::TargetAttr target) {
  auto define = [](StringRef macro, const std::string &value) { return ("#define " + macro + " " + value + "\n").str(); };
  std::string text = define("KILN_MODEL", "\"" + makeAssemblerName(signature.name) + "\"") + define("KILN_DIMS", std::to_string(signature.hasDims())) +
                     define("KILN_WEIGHTS", std::to_string(signature.externalWeights)) + embeddedFile("builtin/runner.cpp").str();
  return {{"runner.cpp", text}, makeBaseline(target), {}};
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
