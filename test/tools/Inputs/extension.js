// Loads the extension of VS Code with an editor that is played, and speaks with the servers that it starts as that editor would: extension.js FOLDER SERVER
"use strict";
const assert = require("node:assert");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");

const [folder, server] = process.argv.slice(2);

/** The client of a language server, in place of vscode-languageclient: starts what it is told to and waits for answers. */
class LanguageClient {
  static all = [];
  constructor(id, name, { command, args }, options) {
    Object.assign(this, { id, name, command, args, options, waiting: [], heard: [], number: 0 });
    LanguageClient.all.push(this);
  }
  async start() {
    this.process = spawn(this.command, this.args, { stdio: ["pipe", "pipe", "inherit"] });
    await new Promise((resolve, reject) => this.process.once("spawn", resolve).once("error", reject));
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    let bytes = Buffer.alloc(0);
    this.process.stdout.on("data", (more) => {
      bytes = Buffer.concat([bytes, more]);
      for (let end; (end = bytes.indexOf("\r\n\r\n")) >= 0;) {
        const length = Number(/Content-Length: (\d+)/i.exec(bytes.subarray(0, end))[1]);
        if (bytes.length < end + 4 + length)
          return;
        this.hear(JSON.parse(bytes.subarray(end + 4, end + 4 + length)));
        bytes = bytes.subarray(end + 4 + length);
      }
    });
    this.capabilities = (await this.ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} })).capabilities;
    this.send({ method: "initialized", params: {} });
  }
  hear(message) {
    const at = this.waiting.findIndex((one) => one.fits(message));
    at < 0 ? this.heard.push(message) : this.waiting.splice(at, 1)[0].resolve(message);
  }
  next(fits) {
    const at = this.heard.findIndex(fits);
    return at >= 0 ? Promise.resolve(this.heard.splice(at, 1)[0]) : new Promise((resolve) => this.waiting.push({ fits, resolve }));
  }
  send(message) {
    const text = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.process.stdin.write(`Content-Length: ${text.length}\r\n\r\n${text}`);
  }
  async ask(method, params) {
    const id = ++this.number;
    this.send({ id, method, params });
    const answer = await this.next((message) => message.id === id);
    assert.ok(!answer.error, JSON.stringify(answer.error));
    return answer.result;
  }
  /** Opens a text and gives the mistakes that the server shows. */
  async faults(uri, languageId, text) {
    this.send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId, version: 1, text } } });
    return (await this.next((message) => message.method === "textDocument/publishDiagnostics" && message.params.uri === uri)).params.diagnostics;
  }
  async stop() {
    await this.ask("shutdown");
    this.send({ method: "exit" });
    this.status = await this.ended;
  }
}

/** What the extension uses of the editor. */
const listeners = {}, commands = {}, errors = [], documents = [];
let setting = server;
const vscode = {
  commands: { registerCommand: (name, run) => (commands[name] = run) },
  window: { showErrorMessage: (text) => errors.push(text) },
  workspace: {
    get textDocuments() { return documents; },
    getConfiguration: (section) => ({ get: (name) => (assert.deepEqual([section, name], ["kiln", "server"]), setting) }),
    onDidOpenTextDocument: (run) => (listeners.open = run),
    onDidChangeConfiguration: (run) => (listeners.configuration = run),
  },
};
const resolve = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : resolve(name, ...rest);

/** What package.json says is there: files, languages, and grammars whose patterns are regular expressions of the names that they claim. */
function checkManifest() {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json")));
  const { languages, grammars, configuration } = manifest.contributes;
  assert.deepEqual(languages.map((one) => one.id), grammars.map((one) => one.language));
  languages.forEach((one) => JSON.parse(fs.readFileSync(path.join(folder, one.configuration))));
  for (const one of grammars) {
    const grammar = JSON.parse(fs.readFileSync(path.join(folder, one.path)));
    assert.equal(grammar.scopeName, one.scopeName);
    for (const { name, match, begin, end } of grammar.patterns) {
      assert.ok(name.endsWith(one.scopeName.replace("source", "")), name);
      [match, begin, end].filter(Boolean).forEach((pattern) => new RegExp(pattern));
    }
  }
  assert.equal(configuration.properties["kiln.server"].default, "kiln-lsp-server");
  return languages.map((one) => one.id);
}

/** The name that a grammar gives to the first place of a line where any of its patterns matches the word. */
function scopeOf(file, line, word) {
  const { patterns } = JSON.parse(fs.readFileSync(path.join(folder, file)));
  for (let at = 0; at < line.length;) {
    const found = patterns.map((one) => {
      const pattern = one.match || `${one.begin}.*?(?:${one.end})`, match = new RegExp(pattern, "g");
      match.lastIndex = at;
      const hit = match.exec(line);
      return { name: one.name, at: hit ? hit.index : Infinity, text: hit ? hit[0] : "" };
    }).reduce((best, one) => (one.at < best.at ? one : best));
    if (found.at === Infinity)
      return "";
    if (found.text.trim() === word)
      return found.name;
    at = found.at + Math.max(found.text.length, 1);
  }
  return "";
}

function checkColours() {
  const ir = "  %r = nn.softmax %x axis 1 : tensor<2x4xf32> // rows", definition = 'gate(x; alpha = 1.0)[...] = x[...] * sigmoid(alpha) # soft';
  assert.equal(scopeOf("ir.tmLanguage.json", ir, "nn.softmax"), "keyword.other.operation.kiln-ir");
  assert.equal(scopeOf("ir.tmLanguage.json", ir, "%r"), "variable.other.kiln-ir");
  assert.equal(scopeOf("ir.tmLanguage.json", ir, "tensor"), "storage.type.kiln-ir");
  assert.equal(scopeOf("ir.tmLanguage.json", ir, "// rows"), "comment.line.double-slash.kiln-ir");
  assert.equal(scopeOf("kiln.tmLanguage.json", definition, "gate"), "entity.name.function.kiln");
  assert.equal(scopeOf("kiln.tmLanguage.json", definition, "sigmoid"), "support.function.kiln");
  assert.equal(scopeOf("kiln.tmLanguage.json", definition, "1.0"), "constant.numeric.kiln");
}

async function checkDefinitions(client) {
  assert.deepEqual(client.options.documentSelector, [{ language: "kiln" }]);
  const faults = await client.faults("file:///acme.kiln", "kiln", "one(x)[n] = x[n]\ntwo(x)[n] = y[n]\n");
  assert.deepEqual(faults.map((one) => [one.range.start.line, one.message]), [[1, "'y' is no parameter"]]);
}

async function checkIR(client) {
  const text = "func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {\n  %exp = nn.exp %x : tensor<2x4xf32>\n  return %exp : tensor<2x4xf32>\n}\n";
  const uri = "file:///model.mlir", textDocument = { uri };
  assert.deepEqual(await client.faults(uri, "kiln-ir", text), []);
  const hover = await client.ask("textDocument/hover", { textDocument, position: { line: 1, character: 10 } });
  assert.match(hover.contents.value, /nn\.exp/);
  const place = await client.ask("textDocument/definition", { textDocument, position: { line: 2, character: 11 } });
  assert.deepEqual(place.map((one) => one.range.start.line), [1]);
  const offered = await client.ask("textDocument/completion", { textDocument, position: { line: 2, character: 10 } });
  assert.ok(offered.items.some((one) => one.label === "%exp" || one.label === "exp"), JSON.stringify(offered.items.slice(0, 5)));
  const [fault] = await client.faults("file:///wrong.mlir", "kiln-ir", text.replace("nn.exp", "nn.nosuch"));
  assert.equal(fault.range.start.line, 1);
  assert.match(fault.message, /nn\.nosuch/);
}

async function main() {
  assert.deepEqual(checkManifest(), ["kiln", "kiln-ir"]);
  checkColours();
  const extension = require(path.resolve(folder, "extension.js"));
  documents.push({ languageId: "kiln" }, { languageId: "python" });
  await extension.activate({ subscriptions: [] });
  assert.deepEqual(LanguageClient.all.map((one) => one.id), ["kiln"]);
  // A second file of a language has the server of the first.
  documents.push({ languageId: "kiln-ir" });
  await Promise.all([listeners.open({ languageId: "kiln" }), listeners.open({ languageId: "kiln-ir" })]);
  assert.deepEqual(LanguageClient.all.map((one) => one.id), ["kiln", "kiln-ir"]);
  await checkDefinitions(LanguageClient.all[0]);
  await checkIR(LanguageClient.all[1]);

  await commands["kiln.restart"]();
  assert.deepEqual(LanguageClient.all.map((one) => [one.id, one.status]), [["kiln", 0], ["kiln-ir", 0], ["kiln", undefined], ["kiln-ir", undefined]]);
  await extension.deactivate();
  assert.deepEqual(LanguageClient.all.map((one) => one.status), [0, 0, 0, 0]);

  setting = "/no/such/server";
  await listeners.configuration({ affectsConfiguration: (name) => name === "kiln.server" });
  assert.match(errors.join("\n"), /the setting kiln\.server names it: spawn \/no\/such\/server ENOENT/);
  console.log("both servers started, asked and stopped");
}

main().catch((fault) => {
  console.error(fault);
  process.exit(1);
});
