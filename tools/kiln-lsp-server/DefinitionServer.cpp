//===- DefinitionServer.cpp - The language server for files of definitions --===//
//
// Answers what an editor needs to show mistakes while a file is written: each version of the text is read and checked as a whole.
//
//===----------------------------------------------------------------------===//
#include "compiler/Recursion.h"
#include "compiler/definitions/Library.h"
#include "tools/kiln-lsp-server/Serve.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <iostream>

using namespace llvm;

namespace kiln {

/// The largest message that is read.
static constexpr uint64_t mostMessageBytes = uint64_t(64) << 20;

/// Reads the message behind a header with its length; false at the end of the input, or if it is none.
static bool readMessage(std::istream &in, std::string &message) {
  uint64_t length = 0;
  for (std::string line; std::getline(in, line);) {
    StringRef text = StringRef(line).trim();
    if (text.empty() && length > 0) {
      message.resize(length);
      return bool(in.read(message.data(), static_cast<std::streamsize>(length)));
    }
    if (text.consume_front("Content-Length:") && (text.trim().getAsInteger(10, length) || length > mostMessageBytes))
      return false;
  }
  return false;
}

static void writeMessage(json::Object message) {
  message["jsonrpc"] = "2.0";
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(message));
  outs() << "Content-Length: " << text.size() << "\r\n\r\n" << text;
  outs().flush();
}

/// The faults of a text, as editors count: lines and columns from 0. A fault has the length of a character, from which editors go to the word.
static void publishFaults(StringRef uri, StringRef text) {
  std::vector<definitions::Fault> faults;
  definitions::Library::parse(sys::path::filename(uri).str(), text.str(), faults);
  json::Array list;
  for (const definitions::Fault &fault : faults) {
    unsigned line = fault.place.line - 1, column = fault.place.column - 1;
    json::Object start{{"line", line}, {"character", column}}, end{{"line", line}, {"character", column + 1}};
    list.push_back(json::Object{{"range", json::Object{{"start", std::move(start)}, {"end", std::move(end)}}},
                                {"severity", 1},
                                {"source", "kiln"},
                                {"message", json::fixUTF8(fault.message)}});
  }
  json::Object parameters{{"uri", uri}, {"diagnostics", std::move(list)}};
  writeMessage(json::Object{{"method", "textDocument/publishDiagnostics"}, {"params", std::move(parameters)}});
}

/// The text of a document that was opened or changed; editors send all of it, as the server asks for.
static std::optional<std::string> findText(StringRef method, const json::Object &parameters, const json::Object &document) {
  if (method == "textDocument/didOpen")
    return document.getString("text") ? std::optional(document.getString("text")->str()) : std::nullopt;
  const json::Array *changes = method == "textDocument/didChange" ? parameters.getArray("contentChanges") : nullptr;
  const json::Object *last = changes && !changes->empty() ? changes->back().getAsObject() : nullptr;
  return last && last->getString("text") ? std::optional(last->getString("text")->str()) : std::nullopt;
}

/// False after the message that ends the program.
static bool answer(const json::Object &message) {
  StringRef method = message.getString("method").value_or("");
  if (method == "exit")
    return false;
  if (const json::Value *id = message.get("id")) {
    json::Object reply{{"id", *id}};
    constexpr int whole = 1, unknownMethod = -32601;
    if (method == "initialize")
      reply["result"] = json::Object{{"capabilities", json::Object{{"textDocumentSync", whole}}}, {"serverInfo", json::Object{{"name", "kiln"}}}};
    else if (method == "shutdown")
      reply["result"] = nullptr;
    else
      reply["error"] = json::Object{{"code", unknownMethod}, {"message", "this server shows mistakes only"}};
    writeMessage(std::move(reply));
    return true;
  }
  const json::Object *parameters = message.getObject("params");
  const json::Object *document = parameters ? parameters->getObject("textDocument") : nullptr;
  std::optional<StringRef> uri = document ? document->getString("uri") : std::nullopt;
  if (!uri)
    return true;
  if (std::optional<std::string> text = findText(method, *parameters, *document))
    publishFaults(*uri, *text);
  return true;
}

int serveDefinitions() {
  std::string message;
  while (readMessage(std::cin, message)) {
    Expected<json::Value> value = parseJson(message);
    if (!value) {
      errs() << "error: a message is no JSON: " << toString(value.takeError()) << "\n";
      return 1;
    }
    if (const json::Object *object = value->getAsObject(); object && !answer(*object))
      return 0;
  }
  return 0;
}

} // namespace kiln
