// Starts a language server for each of Kiln's two languages when a file of it is opened.
"use strict";
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

// Definitions of operators (docs/Operators.md) and IR are read by one program; an argument says which.
const languages = [
  { id: "kiln", name: "Kiln definitions", args: ["--definitions"] },
  { id: "kiln-ir", name: "Kiln IR", args: ["--log=error"] },
];
const clients = new Map();

function createClient(language) {
  const command = vscode.workspace.getConfiguration("kiln").get("server");
  return new LanguageClient(language.id, language.name, { command, args: language.args }, { documentSelector: [{ language: language.id }] });
}

async function open(document) {
  const language = languages.find((one) => one.id === document.languageId);
  if (!language || clients.has(language.id))
    return;
  const client = createClient(language);
  clients.set(language.id, client);
  try {
    await client.start();
  } catch (fault) {
    clients.delete(language.id);
    vscode.window.showErrorMessage(`Kiln: the language server does not start; the setting kiln.server names it: ${fault.message}`);
  }
}

async function deactivate() {
  const running = [...clients.values()];
  clients.clear();
  await Promise.all(running.map((client) => client.stop()));
}

async function openAll() {
  await Promise.all(vscode.workspace.textDocuments.map(open));
}

async function restart() {
  await deactivate();
  await openAll();
}

async function activate(context) {
  context.subscriptions.push(vscode.workspace.onDidOpenTextDocument(open), vscode.commands.registerCommand("kiln.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("kiln.server") && restart()));
  await openAll();
}

module.exports = { activate, deactivate };
