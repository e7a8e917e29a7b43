"""An editor that talks to kiln-lsp-server, and expects certain answers: editor.py SERVER"""

import json
import subprocess
import sys

RIGHT = """module {
  func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %shifted = nn.exp %x : tensor<2x4xf32>
    %scaled = nn.sqrt %shifted : tensor<2x4xf32>
    return %scaled : tensor<2x4xf32>
  }
}
"""
URI = "file:///model.mlir"


class Editor:
    def __init__(self, server):
        self.process = subprocess.Popen([server, "--log=error"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def notify(self, method, **parameters):
        self.send({"jsonrpc": "2.0", "method": method, "params": parameters})

    def send(self, message):
        text = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, **parameters):
        """The answer to a request; messages of other kinds before it are left out."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters})
        while (message := self.read()).get("id") != self.number:
            pass
        return message["result"]

    def diagnostics(self):
        while (message := self.read()).get("method") != "textDocument/publishDiagnostics":
            pass
        return [(one["range"]["start"]["line"], one["message"]) for one in message["params"]["diagnostics"]]


def place_of(text, word):
    """Line and column of the first place where the word stands."""
    line = next(number for number, line in enumerate(text.splitlines()) if word in line)
    return {"line": line, "character": text.splitlines()[line].index(word) + 1}


def expect(what, right):
    if not right:
        sys.exit(f"unexpected: {what}")


def main():
    editor = Editor(sys.argv[1])
    can = editor.ask("initialize", processId=None, rootUri=None, capabilities={})["capabilities"]
    expect(can, can["hoverProvider"] and can["definitionProvider"])
    editor.notify("initialized")

    editor.notify("textDocument/didOpen", textDocument={"uri": URI, "languageId": "mlir", "version": 1, "text": RIGHT})
    found = editor.diagnostics()
    expect(found, found == [])
    document = {"uri": URI}
    hover = editor.ask("textDocument/hover", textDocument=document, position=place_of(RIGHT, "nn.sqrt"))["contents"]["value"]
    expect(hover, "nn.sqrt" in hover and "tensor<2x4xf32>" in hover)
    place = editor.ask("textDocument/definition", textDocument=document, position=place_of(RIGHT, "%shifted : tensor"))
    expect(place, [one["range"]["start"]["line"] for one in place] == [2])

    # The verifier of the nn dialect speaks, at the line of its operation; what is mended is taken back.
    wrong = RIGHT.replace("nn.sqrt %shifted : tensor<2x4xf32>", "nn.softmax %shifted axis 7 : tensor<2x4xf32>")
    editor.notify("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[{"text": wrong}])
    found = editor.diagnostics()
    expect(found, len(found) == 1 and found[0][0] == 3 and "axis" in found[0][1])
    editor.notify("textDocument/didChange", textDocument={"uri": URI, "version": 3}, contentChanges=[{"text": RIGHT}])
    found = editor.diagnostics()
    expect(found, found == [])

    unknown = RIGHT.replace("nn.exp", "nn.nosuch")
    editor.notify("textDocument/didChange", textDocument={"uri": URI, "version": 4}, contentChanges=[{"text": unknown}])
    found = editor.diagnostics()
    expect(found, len(found) >= 1 and found[0][0] == 2 and "nn.nosuch" in found[0][1])

    expect("an answer to shutdown", editor.ask("shutdown") is None)
    editor.notify("exit")
    expect("the end of the server", editor.process.wait(20) == 0)
    print("diagnostics, hover and definition answered")


if __name__ == "__main__":
    main()
