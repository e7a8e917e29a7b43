//===- Products.cpp - Libraries and build files of a compile ----------------===//
#include "compiler/Compile.h"
#include "compiler/Description.h"
#include "compiler/emit/ArchiveWriter.h"
#include "compiler/emit/ClangCompiler.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/DarwinArchive.h"
#include "compiler/emit/ExternalCompiler.h"
#include "compiler/emit/Package.h"
#include "compiler/emit/TargetLinker.h"
#include "compiler/run/LibraryFolder.h"
#include "dialects/kernel/Libraries.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace kiln {

std::vector<const Compilation *> Compilation::models() const {
  std::vector<const Compilation *> all;
  for (const std::unique_ptr<Compilation> &graph : graphs)
    all.push_back(graph.get());
  return all.empty() ? std::vector{this} : all;
}

static llvm::Triple targetTriple(const Compilation &compilation) {
  return llvm::Triple(tripleOf(kernel::getTarget(*compilation.models().front()->targets.front().module)));
}

static std::vector<ArchiveMember> listMembers(const Compilation &compilation) {
  std::vector<ArchiveMember> members;
  // Names in C have an underscore more in objects of macOS.
  std::string weights = (targetTriple(compilation).isOSDarwin() ? "_" : "") + compilation.name + "_weights";
  for (const OutputFile &object : compilation.objects) {
    // Only the object of the weights is a stream.
    std::vector<std::string> symbols = object.stream ? std::vector{weights} : definedSymbols(object.contents);
    members.push_back({object.path, object.getSize(), std::move(symbols), [&object](llvm::raw_ostream &out) { object.write(out); }});
  }
  return members;
}

OutputFile makeRecord(const Compilation &compilation) {
  std::vector<HashedFile> hashes;
  for (const OutputFile &object : compilation.objects)
    hashes.push_back({object.path, hashOutput(object)});
  return compilation.makeRecord(hashes);
}

OutputFile makeArchive(const Compilation &compilation) {
  std::vector<ArchiveMember> members = listMembers(compilation);
  if (compilation.makeRecord) {
    auto record = std::make_shared<OutputFile>(makeRecord(compilation));
    members.push_back({record->path, record->getSize(), {}, [record](llvm::raw_ostream &out) { record->write(out); }});
  }
  bool isDarwin = targetTriple(compilation).isOSDarwin();
  uint64_t bytes = isDarwin ? darwinArchiveBytes(members) : archiveBytes(members);
  auto stream = [members = std::move(members), isDarwin](llvm::raw_ostream &out) {
    isDarwin ? writeDarwinArchive(out, members) : writeArchive(out, members);
  };
  return {"lib" + compilation.name + ".a", "", std::move(stream), bytes};
}

std::vector<OutputFile> makeBuildFiles(const Compilation &compilation) {
  std::vector<OutputFile> files;
  for (const SourceFile &file : makeBuildFiles(StringRef(compilation.name), compilation.libraries))
    files.push_back({file.name, file.text, nullptr});
  return files;
}

/// For another machine or system than this one, by that system's linker.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> linkElsewhere(const Compilation &compilation, const llvm::Triple &triple) {
  auto fail = [](const llvm::Twine &text) { return llvm::createStringError(llvm::inconvertibleErrorCode(), text); };
  if (!compilation.libraries.empty())
    return fail("--emit=so for " + triple.str() + ": the model calls " + llvm::join(compilation.libraries, ", ") + ", which is of this machine");
  // Its objects do not say what is hidden, and its programs link with its own linker.
  if (triple.isWindowsMSVCEnvironment())
    return fail("--emit=so for " + triple.str() + ": link the static library by Visual C++'s linker, or compile for --system=windows");
  auto support = compileLibrarySupport(kernel::getTarget(*compilation.models().front()->targets.front().module));
  if (!support)
    return support.takeError();
  return linkForTarget(compilation.name, listMembers(compilation), StringRef(support->data(), support->size()), triple);
}

OutputFile makeSharedLibrary(const Compilation &compilation, const CompileOptions &options, std::vector<std::string> &errors) {
  llvm::Triple triple = targetTriple(compilation), host(llvm::sys::getDefaultTargetTriple());
  OutputFile library = {sharedLibraryName(compilation.name, triple), "", nullptr};
  bool isHere = triple.getArch() == host.getArch() && triple.getOS() == host.getOS();
  std::vector<std::string> links;
  for (const std::string &name : isHere ? compilation.libraries : std::vector<std::string>()) {
    std::string archive = findLibraryFile("libkiln_" + name + ".a");
    if (archive.empty()) {
      errors.push_back("no libkiln_" + name + ".a in " + libraryFolder() + ": this Kiln is built without the library");
      return library;
    }
    // Threads that have run a model free their data when they end, which may be after dlclose().
    links.insert(links.end(), {archive, "-Wl,-z,nodelete"});
    for (StringRef link : kernel::findLibrary(name)->links)
      links.push_back("-l" + link.str());
  }
  // A compiler that the user gives knows its system.
  auto linked = isHere || !options.cxx.empty() ? linkSharedLibrary(options.cxx.empty() ? "cc" : options.cxx, listMembers(compilation), links)
                                               : linkElsewhere(compilation, triple);
  if (!linked) {
    errors.push_back(toString(linked.takeError()));
    return library;
  }
  std::shared_ptr<llvm::MemoryBuffer> bytes = std::move(*linked);
  // In pieces that go through the stream's buffer, which the whole would bypass.
  library.stream = [bytes](llvm::raw_ostream &out) {
    constexpr size_t piece = 1 << 20;
    for (StringRef rest = bytes->getBuffer(); !rest.empty(); rest = rest.drop_front(std::min(piece, rest.size())))
      out << rest.take_front(piece);
  };
  library.streamBytes = bytes->getBufferSize();
  return library;
}

} // namespace kiln
