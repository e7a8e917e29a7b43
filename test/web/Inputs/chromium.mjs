// A page in headless Chromium, by the DevTools protocol over two pipes. Collects what goes wrong in it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Removes the browser's folder. Its last processes may write into it after it has ended; rmSync() tries each folder again, but lists it only once.
export function removeProfile(profile) {
  for (let attempt = 0; ; ++attempt)
    try {
      return rmSync(profile, { recursive: true, force: true, maxRetries: 2, retryDelay: 100 });
    } catch (error) {
      if (attempt === 20) throw error;
    }
}

export async function openPage(url, { width = 1360, height = 860 } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "browser-"));
  const flags = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    `--user-data-dir=${profile}`,
  ];
  // It leaves the folder of a socket where temporary files are.
  const env = { ...process.env, TMPDIR: profile };
  const browser = spawn("chromium", flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env });
  const waiting = new Map(),
    faults = [],
    requests = [];
  let number = 0,
    text = "",
    session,
    onEvent = () => {};
  let hasEnded = false;
  const ended = new Promise((resolve) => browser.on("exit", resolve));
  // It ends by itself where it cannot write its profile; nobody is to wait for its answers then.
  ended.then(() => {
    hasEnded = true;
    removeProfile(profile);
    for (const { reject } of waiting.values()) reject(new Error("the browser has ended"));
  });
  browser.stdio[3].on("error", () => {});
  process.once("SIGTERM", () => ended.then(() => process.exit(143)) && browser.kill("SIGKILL"));
  browser.stdio[4].on("data", (data) => {
    text += data;
    for (let end; (end = text.indexOf("\0")) >= 0; text = text.slice(end + 1)) take(JSON.parse(text.slice(0, end)));
  });
  function take(message) {
    if (message.id) {
      const { resolve, reject } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
      return;
    }
    const { method, params } = message;
    if (method === "Runtime.exceptionThrown") faults.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type))
      faults.push(params.args.map(({ value }) => value).join(" "));
    if (method === "Log.entryAdded" && params.entry.level === "error") faults.push(params.entry.text);
    if (method === "Network.requestWillBeSent") requests.push(params.request.url);
    onEvent(method);
  }
  function send(method, params = {}) {
    if (hasEnded) return Promise.reject(new Error("the browser has ended"));
    const id = ++number;
    browser.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  }
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  ({ sessionId: session } = await send("Target.attachToTarget", { targetId, flatten: true }));
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });

  const page = {
    faults,
    /** What the page asked for, itself among it. */
    requests,
    send,
    async load(address) {
      const loaded = new Promise((resolve) => (onEvent = (method) => method === "Page.loadEventFired" && resolve()));
      await send("Page.navigate", { url: address });
      await loaded;
      await page.until("document.documentElement.dataset.ready");
    },
    async run(expression) {
      const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
      if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
      return result.value;
    },
    async until(expression, seconds = 30) {
      for (const end = Date.now() + 1000 * seconds; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
        // While a page makes room for the next one, there is nobody to ask.
        const value = await page.run(expression).catch((error) => {
          if (!/context|target/i.test(error.message)) throw error;
        });
        if (value) return value;
      }
      throw new Error(`never true: ${expression}`);
    },
    async key(key, modifiers = 0) {
      const codes = { Enter: 13, Tab: 9, Escape: 27, Home: 36, End: 35, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };
      const event = {
        key,
        code: key,
        windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0),
        modifiers,
        text: key === "Enter" ? "\r" : key.length === 1 ? key : undefined,
      };
      await send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
      await send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    },
    async click(x, y) {
      for (const type of ["mousePressed", "mouseReleased"])
        await send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    },
    /** Two frames later, all that was asked for is drawn. */
    settle: () => page.run("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 30))))"),
    async picture() {
      const { data } = await send("Page.captureScreenshot", { format: "png" });
      return Buffer.from(data, "base64");
    },
    async close() {
      await send("Browser.close").catch(() => {});
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())]);
      browser.kill("SIGKILL");
      removeProfile(profile);
    },
  };
  if (url) await page.load(url);
  return page;
}
