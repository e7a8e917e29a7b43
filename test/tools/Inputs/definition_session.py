"""A session of an editor with a file of definitions: a mistake is shown, and goes away when it is mended. Usage: definition_session.py"""

import json
import subprocess

URI = "file:///work/acme.kiln"


def message(method, number=None, **parameters):
    text = json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters, **({"id": number} if number else {})})
    return f"Content-Length: {len(text)}\r\n\r\n{text}"


session = [
    message("initialize", 1, processId=None, capabilities={}),
    message("initialized"),
    message("textDocument/didOpen", textDocument={"uri": URI, "languageId": "kiln", "version": 1, "text": "one(x)[n] = x[n]\ntwo(x)[n] = y[n]\n"}),
    message("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[{"text": "one(x)[n] = x[n]\n"}]),
    message("textDocument/hover", 2, textDocument={"uri": URI}, position={"line": 0, "character": 0}),
    message("shutdown", 3),
    message("exit"),
]
done = subprocess.run(["kiln-lsp-server", "--definitions"], input="".join(session), capture_output=True, text=True, check=True)
answers = [json.loads(part.split("\n\n")[1]) for part in done.stdout.split("Content-Length: ")[1:]]
shown = [answer["params"]["diagnostics"] for answer in answers if answer.get("method") == "textDocument/publishDiagnostics"]
assert len(shown) == 2 and shown[1] == [], shown
fault = shown[0][0]
assert fault["range"]["start"] == {"line": 1, "character": 12} and fault["message"] == "'y' is no parameter", fault
assert answers[0]["result"]["capabilities"] == {"textDocumentSync": 1}, answers[0]
assert [answer.get("id") for answer in answers if "id" in answer] == [1, 2, 3] and "error" in answers[3], answers
broken = subprocess.run(["kiln-lsp-server", "--definitions"], input="Content-Length: 3\r\n\r\n[[[", capture_output=True, text=True)
assert broken.returncode == 1 and "a message is no JSON" in broken.stderr, broken
print("mistakes shown and taken back")
