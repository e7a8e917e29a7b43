//===- Serve.cpp - The language server for Kiln's IR -----------------------===//
#include "tools/kiln-lsp-server/Serve.h"
#include "compiler/Recursion.h"
#include "dialects/nn/NN.h"
#include "passes/Passes.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include <thread>
#include <unistd.h>

namespace kiln {

/// Writes all bytes; false if the reader is gone.
static bool forward(int to, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(to, bytes.data(), bytes.size());
    if (written <= 0)
      return false;
    bytes = bytes.drop_front(written);
  }
  return true;
}

namespace {
/// Follows a stream of messages, each behind a header with its length, or behind a line `// -----` as tests write them.
struct MessageDepth {
  /// False when brackets nest too deep; each message begins anew.
  bool add(char c) {
    bool fits = depth.add(c);
    if (remaining > 0) {
      if (--remaining == 0)
        depth = {};
      return fits;
    }
    if (c != '\n') {
      line += line.size() < mostHeader ? std::string(1, c) : "";
      return fits;
    }
    llvm::StringRef text = llvm::StringRef(line).trim();
    if (text.consume_front("Content-Length:"))
      (void)text.trim().getAsInteger(10, length);
    else if (text.empty())
      remaining = std::exchange(length, 0);
    if (remaining > 0 || text == "// -----")
      depth = {};
    line.clear();
    return fits;
  }

private:
  static constexpr size_t mostHeader = 256;
  JsonDepth depth;
  std::string line;
  uint64_t length = 0, remaining = 0;
};
} // namespace

/// Passes messages on from an editor. The server's parser calls itself for each bracket of a message, and its lexer has no room for a fraction without end, so
/// that a message with either ends the program.
static void checkMessages(int from, int to) {
  MessageDepth depth;
  FractionLength fraction;
  char bytes[4096];
  for (ssize_t count; (count = read(from, bytes, sizeof(bytes))) > 0;) {
    for (char c : llvm::StringRef(bytes, count)) {
      bool isFlat = depth.add(c);
      if (isFlat && fraction.add(c))
        continue;
      llvm::errs() << (isFlat ? "error: a message has a number of too many digits\n" : "error: a message has brackets that are nested too deep\n");
      _exit(1);
    }
    if (!forward(to, llvm::StringRef(bytes, count)))
      break;
  }
  close(to);
}

int serve(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<nn::NNDialect, kernel::KernelDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  int editor = dup(STDIN_FILENO), ends[2];
  if (editor < 0 || pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0)
    return 1;
  close(ends[0]);
  std::thread(checkMessages, editor, ends[1]).detach();
  return runOnLargeStack([&] { return failed(mlir::MlirLspServerMain(argc, argv, registry)); });
}

} // namespace kiln
