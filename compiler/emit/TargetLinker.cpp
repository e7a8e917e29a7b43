//===- TargetLinker.cpp - Linking for other machines and systems ----------------===//
#include "compiler/emit/TargetLinker.h"
#include "compiler/emit/ExternalCompiler.h"
#include "compiler/emit/Temporary.h"
#include "compiler/files/InputFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/COFF.h"
#include "llvm/Object/COFFImportFile.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace kiln {

static Error makeLinkError(const Twine &text) { return createStringError(inconvertibleErrorCode(), text); }

static COFF::MachineTypes coffMachine(const Triple &triple) {
  return triple.isAArch64() ? COFF::IMAGE_FILE_MACHINE_ARM64 : COFF::IMAGE_FILE_MACHINE_AMD64;
}

Expected<std::string> findTargetLinker(const Triple &triple, StringRef purpose) {
  std::string lld = triple.isWasm() ? "wasm-ld" : triple.isOSDarwin() ? "ld64.lld" : "ld.lld", ofGcc;
  // GCC's for Linux and mingw; it has none for macOS.
  if (triple.isOSLinux())
    ofGcc = (triple.getArchName() + "-linux-gnu-ld").str();
  if (triple.isOSWindows())
    ofGcc = (triple.getArchName() + "-w64-mingw32-ld").str();
  // The one of Kiln's own LLVM first: older ones do not know what its objects for Windows say about hidden symbols.
  for (const std::string &name : {lld + "-" + std::to_string(LLVM_VERSION_MAJOR), lld, ofGcc})
    if (ErrorOr<std::string> found = name.empty() ? std::make_error_code(std::errc::no_such_file_or_directory) : sys::findProgramByName(name))
      return *found;
  std::string missing = ofGcc.empty() ? lld + " is not installed" : "neither " + lld + " nor " + ofGcc + " is installed";
  return makeLinkError(purpose + " needs a linker: " + missing);
}

/// lld's ld.lld takes mingw's options where it is told this machine; GNU's linkers have the same names.
static std::string mingwMachine(const Triple &triple) { return triple.isAArch64() ? "arm64pe" : "i386pep"; }

std::vector<std::string> programOptions(const Triple &triple) {
  // WebAssembly's linker makes a stack of 64 KiB if it is not told.
  if (triple.isWasm())
    return {"--stack-first", "-z", "stack-size=1048576"};
  if (!triple.isOSWindows())
    return {"-static"};
  // As much stack as programs have under Linux.
  return {"-m", mingwMachine(triple), "-e", "kiln_start", "--subsystem", "console", "--stack", "8388608"};
}

/// Reads a file that a function writes into a temporary folder.
static Expected<std::string> captureFile(function_ref<Error(StringRef path)> write) {
  Expected<std::string> folder = makeTemporaryFolder("for a library of the system");
  if (!folder)
    return folder.takeError();
  SmallString<128> path(*folder);
  sys::path::append(path, "library");
  Error error = write(path);
  auto file = error ? Expected<std::unique_ptr<MemoryBuffer>>(std::move(error)) : readInputFile(path, mostDataBytes);
  removeTemporaryFolder(*folder);
  if (!file)
    return file.takeError();
  return (*file)->getBuffer().str();
}

static object::COFFShortExport makeExport(StringRef name, bool isData = false) {
  object::COFFShortExport symbol;
  symbol.Name = name.str();
  symbol.Data = isData;
  return symbol;
}

static Expected<std::string> writeImports(StringRef dll, ArrayRef<object::COFFShortExport> exports, COFF::MachineTypes machine) {
  return captureFile([&](StringRef path) { return object::writeImportLibrary(dll, path, exports, machine, /*MinGW=*/true); });
}

/// What compilers call on their own, and what kiln/choice.h and kiln/cpu.h ask.
static constexpr StringLiteral macSymbols[] = {"___bzero", "___stack_chk_fail", "___stack_chk_guard", "__tlv_bootstrap", "_bzero", "_getenv", "_memcmp",
                                               "_memcpy", "_memmove", "_memset", "_memset_pattern16", "_memset_pattern4", "_memset_pattern8", "_strlen",
                                               "_sysctlbyname", "dyld_stub_binder"};

Expected<SystemLibrary> makeSystemLibrary(const Triple &triple) {
  if (triple.isOSWindows()) {
    std::vector<object::COFFShortExport> exports;
    for (StringRef name : {"ExitProcess", "GetEnvironmentVariableA", "GetStdHandle", "IsProcessorFeaturePresent", "QueryPerformanceCounter",
                           "QueryPerformanceFrequency", "ReadFile", "VirtualAlloc", "WriteFile"})
      exports.push_back(makeExport(name));
    auto bytes = writeImports("KERNEL32.dll", exports, coffMachine(triple));
    if (!bytes)
      return bytes.takeError();
    return SystemLibrary{"kernel32.lib", std::move(*bytes)};
  }
  if (!triple.isOSDarwin())
    return SystemLibrary();
  return SystemLibrary{"libSystem.tbd", "--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\n"
                                        "install-name: '/usr/lib/libSystem.B.dylib'\nexports:\n  - targets: [ x86_64-macos, arm64-macos ]\n    symbols: [ " +
                                            join(ArrayRef(macSymbols), ", ") + " ]\n...\n"};
}

std::string sharedLibraryName(StringRef model, const Triple &triple) {
  if (triple.isOSWindows())
    return (model + ".dll").str();
  return ("lib" + model + (triple.isOSDarwin() ? ".dylib" : ".so")).str();
}

static std::vector<std::string> sharedOptions(StringRef model, const Triple &triple) {
  // A model has nothing to prepare, so its library needs no entry.
  if (triple.isOSWindows())
    return {"-m", mingwMachine(triple), "-shared", "-e", "", "--exclude-symbols", model.str() + "_weights,___chkstk_ms,__chkstk"};
  if (triple.isOSDarwin())
    return {"-arch", triple.isAArch64() ? "arm64" : "x86_64", "-platform_version", "macos", "11.0", "11.0", "-dylib", "-install_name",
            "@rpath/" + sharedLibraryName(model, triple)};
  return {"-shared"};
}

Expected<std::unique_ptr<MemoryBuffer>> linkForTarget(StringRef model, std::vector<ArchiveMember> objects, StringRef support, const Triple &triple) {
  Expected<std::string> linker = findTargetLinker(triple, "--emit=so for " + triple.str());
  Expected<SystemLibrary> system = linker ? makeSystemLibrary(triple) : linker.takeError();
  if (!system)
    return system.takeError();
  auto add = [&](StringRef name, StringRef bytes) { objects.push_back({name.str(), bytes.size(), {}, [bytes](raw_ostream &out) { out << bytes; }}); };
  if (!support.empty())
    add("support.o", support);
  if (!system->name.empty())
    add(system->name, system->bytes);
  return linkObjects(*linker, objects, sharedOptions(model, triple));
}

/// Whether an address of a DLL is that of data.
static bool isData(const object::COFFObjectFile &file, uint32_t address) {
  for (const object::SectionRef &section : file.sections()) {
    const object::coff_section *header = file.getCOFFSection(section);
    if (address >= header->VirtualAddress && address < header->VirtualAddress + header->VirtualSize)
      return !(header->Characteristics & COFF::IMAGE_SCN_MEM_EXECUTE);
  }
  return true;
}

Expected<std::string> makeImportLibrary(StringRef name, MemoryBufferRef dll) {
  auto file = object::COFFObjectFile::create(dll);
  if (!file)
    return file.takeError();
  std::vector<object::COFFShortExport> exports;
  for (const object::ExportDirectoryEntryRef &entry : (*file)->export_directories()) {
    StringRef symbol;
    uint32_t address = 0;
    if (Error error = joinErrors(entry.getSymbolName(symbol), entry.getExportRVA(address)))
      return std::move(error);
    exports.push_back(makeExport(symbol, isData(**file, address)));
  }
  return writeImports(name, exports, COFF::MachineTypes((*file)->getMachine()));
}

} // namespace kiln
