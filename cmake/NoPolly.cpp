//===- NoPolly.cpp - What Debian's archives of LLVM ask for ------------------===//
//
// Debian builds LLVM's pipelines for objects with Polly in them, and ships no archive of Polly. Kiln has no use for its passes.
//
//===----------------------------------------------------------------------===//
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {LLVM_PLUGIN_API_VERSION, "no-polly", "", [](llvm::PassBuilder &) {}}; }
