// FOLDER PAGE [isolated [SECONDS]]: serves the folder, opens the page in headless Chromium, and prints what the page posts to /said, which it has so long for. An
// isolated page may share memory with workers.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { removeProfile } from "./chromium.mjs";

const [folder, page, isolated, seconds = "60"] = process.argv.slice(2);
const isolation = isolated ? { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" } : {};
const types = { ".html": "text/html", ".mjs": "text/javascript", ".wasm": "application/wasm", ".bin": "application/octet-stream" };
const profile = mkdtempSync(join(tmpdir(), "browser-"));
let browser, result;

function leave() {
  removeProfile(profile);
  process.exit(result.status);
}

/** Prints what there is to say, the first time, and ends with the browser. */
function end(status, text) {
  if (result) return;
  result = { status };
  console.log(text);
  if (!browser?.kill()) leave();
}

const server = createServer(async (request, response) => {
  if (request.method === "POST") {
    let body = "";
    for await (const part of request) body += part;
    response.end();
    end(0, body);
    return;
  }
  const path = normalize(new URL(request.url, "http://localhost").pathname);
  try {
    const bytes = await readFile(join(folder, path));
    response.writeHead(200, { "content-type": types[extname(path)] ?? "text/plain", ...isolation }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}/${page}`;
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${profile}`, url];
  // It leaves the folder of a socket where temporary files are.
  browser = spawn("chromium", flags, { stdio: "ignore", env: { ...process.env, TMPDIR: profile } });
  // It ends by itself where it cannot write its profile.
  browser.on("exit", (status) => (result ? leave() : end(1, `the browser has ended with status ${status}`)));
});
process.on("SIGTERM", () => end(143, "ended by a signal"));
setTimeout(() => end(1, "no answer from the page"), 1000 * Number(seconds)).unref();
