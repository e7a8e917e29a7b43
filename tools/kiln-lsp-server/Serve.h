//===- Serve.h - The language server for Kiln's IR -------------------------===//
#ifndef KILN_TOOLS_KILN_LSP_SERVER_SERVE_H
#define KILN_TOOLS_KILN_LSP_SERVER_SERVE_H

namespace kiln {

/// Answers messages from standard input until it ends. Once a process: the options are registered anew by each call. Returns the exit status.
int serve(int argc, char **argv);

/// The same for files of definitions (docs/Operators.md).
int serveDefinitions();

} // namespace kiln

#endif // KILN_TOOLS_KILN_LSP_SERVER_SERVE_H
