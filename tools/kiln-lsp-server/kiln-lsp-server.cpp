//===- kiln-lsp-server.cpp - The language server for Kiln's IR -------------===//
#include "tools/kiln-lsp-server/Serve.h"

int main(int argc, char **argv) { return kiln::serve(argc, argv); }
