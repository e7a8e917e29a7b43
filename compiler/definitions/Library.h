//===- Library.h - A file of definitions, read and checked ------------------===//
#ifndef KILN_COMPILER_DEFINITIONS_LIBRARY_H
#define KILN_COMPILER_DEFINITIONS_LIBRARY_H

#include "compiler/definitions/SourceText.h"
#include "llvm/ADT/ArrayRef.h"
#include <deque>
#include <map>

namespace kiln::definitions {

/// The definitions of one file, in its order. Each may use those before it.
class Library {
public:
  /// Reads and checks a file. Null after a mistake, which `errors` then has as SourceText::describe says. Definitions without a `domain` before them belong
  /// to the domain that the file's name without its ending gives.
  static std::unique_ptr<Library> read(const std::string &path, std::vector<std::string> &errors);
  /// The same for a text; all mistakes that were found are added to `faults`.
  static std::unique_ptr<Library> parse(std::string path, std::string text, std::vector<Fault> &faults);

  const SourceText &getSource() const { return source; }
  const std::deque<Definition> &getDefinitions() const { return definitions; }
  const std::deque<Extern> &getExterns() const { return externs; }
  /// The definition for a model that imports that version of the domain: the newest one that is not newer. Null if there is none.
  const Definition *find(llvm::StringRef domain, llvm::StringRef name, int64_t version) const;
  const Extern *findExtern(llvm::StringRef domain, llvm::StringRef name, int64_t version) const;
  /// Whether some version of the domain has an operator of that name.
  bool hasName(llvm::StringRef domain, llvm::StringRef name) const;
  /// The definition of that very version.
  const Definition *findVersion(llvm::StringRef domain, llvm::StringRef name, int64_t version) const;

private:
  friend class Parser;
  void add(Definition definition);
  void add(Extern external);
  Library(std::string path, std::string text) : source(std::move(path), std::move(text)) {}

  SourceText source;
  // Definitions refer to each other, so they keep their places.
  std::deque<Definition> definitions;
  std::deque<Extern> externs;
  /// The entries of each domain and name by their versions.
  using Versions = std::map<int64_t, std::pair<const Definition *, const Extern *>>;
  std::map<std::pair<std::string, std::string>, Versions> names;
};

/// Completes and checks a definition, which may use those of the library: names, types, ranks, the sizes of its indices. False after a mistake.
bool checkDefinition(const Library &library, Definition &definition, Fault &fault);

} // namespace kiln::definitions

#endif // KILN_COMPILER_DEFINITIONS_LIBRARY_H
