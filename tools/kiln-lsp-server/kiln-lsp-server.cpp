//===- kiln-lsp-server.cpp - The language server for Kiln's IR -------------===//
#include "tools/kiln-lsp-server/Serve.h"
#include "llvm/ADT/StringRef.h"

int main(int argc, char **argv) {
  bool servesDefinitions = argc > 1 && llvm::StringRef(argv[1]) == "--definitions";
  return servesDefinitions ? kiln::serveDefinitions() : kiln::serve(argc, argv);
}
