// CODE-SERVER VSIX LANGUAGE-SERVER FOLDER [PICTURE]: installs the extension into VS Code, opens a file of each language with a mistake in it, and looks at the page.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { openPage } from "../../web/Inputs/chromium.mjs";

const [program, extension, languageServer, folder] = process.argv.slice(2, 6).map((path) => resolve(path));
const picture = process.argv[6];
const files = {
  "acme.kiln": 'domain "com.acme" version 1\n# Two operators.\nrelu(x)[n, h, w, c] = max(0, x[n, h, w, c])\nhalf(x)[n] = 0.5 * y[n]\n',
  "net.mlir": "// IR with a mistake in it.\nfunc.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n  %0 = nn.relu %x : tensor<2x4xf32>\n  return %0 : tensor<2x3xf32>\n}\n",
};
const data = join(folder, "data"), workspace = join(folder, "work"), machine = join(data, "Machine");
for (const path of [machine, workspace]) mkdirSync(path, { recursive: true });
for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
writeFileSync(join(machine, "settings.json"), JSON.stringify({ "kiln.server": languageServer, "workbench.startupEditor": "none" }));

const folders = ["--user-data-dir", data, "--extensions-dir", join(folder, "extensions")];
const entry = join(program, "node_modules/code-server/out/node/entry.js");
const settings = { env: { ...process.env, HOME: folder }, encoding: "utf8" };
const installed = spawnSync(process.execPath, [entry, ...folders, "--install-extension", extension], settings);
if (!installed.stdout.includes("was successfully installed")) throw new Error(`${installed.stdout}\n${installed.stderr}`);
console.log("installed");

const quiet = ["--auth=none", "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", "--disable-getting-started-override"];
const server = spawn(process.execPath, [entry, ...folders, ...quiet, "--bind-addr=127.0.0.1:0"], { ...settings, stdio: ["ignore", "pipe", "pipe"] });
process.on("exit", () => server.kill());
let log = "";
for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => (log += text));
const address = await new Promise((found, failed) => {
  server.stdout.on("data", () => log.match(/listening on (http:\/\/127\.0\.0\.1:[1-9]\d*)/) && found(RegExp.$1));
  server.on("exit", () => failed(new Error(log)));
});

const page = await openPage(undefined, { width: 1100, height: 520 });
const look = (expression) => page.run(expression);
const colour = (word) =>
  look(`getComputedStyle([...document.querySelectorAll(".view-line span span")].find((span) => span.textContent.replaceAll("\u00a0", " ") === ${JSON.stringify(word)})).color`);

async function open(name) {
  const payload = JSON.stringify([["openFile", `vscode-remote://${new URL(address).host}${workspace}/${name}`]]);
  await page.send("Page.navigate", { url: `${address}/?folder=${workspace}&payload=${encodeURIComponent(payload)}` });
  await page.until(`document.querySelector('.tab.active[data-resource-name="${name}"]') && document.querySelector(".squiggly-error")`, 60);
  // The pointer on the mistake: its text appears.
  const [x, y] = await look(`(() => { const { left, top, width, height } = document.querySelector(".squiggly-error").getBoundingClientRect(); return [left + width / 2, top + height / 2]; })()`);
  for (const step of [0, 1]) await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: x + step, y });
  await page.until(`document.querySelector(".monaco-hover-content .marker")`, 20);
  await page.settle();
  return look(`document.querySelector(".monaco-hover-content .marker").innerText.trim()`);
}

try {
  const mistake = await open("acme.kiln");
  console.log(`acme.kiln: ${mistake}`);
  const colours = [await colour("domain"), await colour('"com.acme"'), await colour("# Two operators."), await colour("0.5")];
  if (new Set(colours).size !== colours.length) throw new Error(`colours ${colours}`);
  console.log(`${colours.length} colours`);
  if (picture) writeFileSync(picture, await page.picture());
  console.log(`net.mlir: ${await open("net.mlir")}`);
  console.log(`${await look(`document.querySelector(".statusbar").innerText`)}`.includes("Kiln IR") ? "Kiln IR" : "another language");
} catch (error) {
  writeFileSync(join(folder, "failed.png"), await page.picture());
  console.log(`${error.message}\n${page.faults.join("\n")}\n${log}`);
  process.exitCode = 1;
} finally {
  await page.close();
  server.kill();
}
