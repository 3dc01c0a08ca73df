// A small MCP client: JSON-RPC over the stdio of a child process, or over Streamable HTTP; revisions 2026-07-28 and 2025-11-25.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const CLIENT = { name: "node-blind-retry", version: "1" };
const CONNECT_MS = 6000;
const CLOSE_MS = 2000;

/** Why a call failed; `gone`: the connection is of no further use. */
class Failure extends Error {
  constructor(message, gone = false) {
    super(message);
    this.gone = gone;
  }
}

/** Opens a connection and settles the revision: `server/discover` first, `initialize` where that is refused. */
export async function connect(server) {
  const transport = server.transport === "stdio" ? new Stdio(server) : new Http(server);
  const session = new Session(transport);
  try {
    await session.negotiate();
  } catch (error) {
    await transport.close();
    throw new Failure(`no connection: ${error.message}`, true);
  }
  return session;
}

class Session {
  constructor(transport) {
    this.transport = transport;
    this.nextId = 1;
  }

  async negotiate() {
    this.transport.revision = MODERN;
    try {
      const offer = await this.request("server/discover", {}, CONNECT_MS);
      if (offer.supportedVersions.includes(MODERN)) return;
    } catch (error) {
      if (error.gone) throw error;
    }
    this.transport.revision = null;
    const hello = { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT };
    const { protocolVersion } = await this.request("initialize", hello, CONNECT_MS);
    this.transport.revision = protocolVersion;
    await this.transport.notify({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  callTool(name, args, timeoutMs) {
    return this.request("tools/call", { name, arguments: args }, timeoutMs);
  }

  async request(method, params, timeoutMs) {
    const id = this.nextId++;
    const message = { jsonrpc: "2.0", id, method, params: this.stamped(params) };
    const answer = await this.transport.exchange(message, timeoutMs);
    if (answer.error) throw new Failure(`${answer.error.message} (${answer.error.code})`);
    if (answer.result?.resultType !== undefined && answer.result.resultType !== "complete") {
      throw new Failure(`the server wants ${answer.result.resultType}, which this client does not do`);
    }
    if (answer.result === undefined || answer.result === null) throw new Failure("an answer without a result");
    return answer.result;
  }

  /** In 2026-07-28 every request says who sends it and in which revision. */
  stamped(params) {
    if (this.transport.revision !== MODERN) return params;
    const meta = {
      "io.modelcontextprotocol/protocolVersion": MODERN,
      "io.modelcontextprotocol/clientInfo": CLIENT,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    return { ...params, _meta: meta };
  }

  close() {
    return this.transport.close();
  }
}

class Stdio {
  constructor({ command, args }) {
    this.revision = null;
    this.waiting = new Map();
    this.child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => this.child.once("close", resolve));
    this.child.once("error", (error) => this.fail(error.message));
    this.child.stdin.on("error", (error) => this.fail(error.message));
    const lines = createInterface({ input: this.child.stdout });
    lines.on("line", (line) => this.receive(line));
    lines.once("close", () => this.fail("the server closed its output"));
  }

  fail(why) {
    this.dead ??= new Failure(`connection closed: ${why}`, true);
    for (const { reject } of this.waiting.values()) reject(this.dead);
    this.waiting.clear();
  }

  receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (message.method !== undefined) {
      if (message.id !== undefined) this.refuse(message);
      return;
    }
    this.waiting.get(message.id)?.resolve(message);
    this.waiting.delete(message.id);
  }

  refuse({ id, method }) {
    const answer = method === "ping" ? { result: {} } : { error: { code: -32601, message: "Method not found" } };
    this.write({ jsonrpc: "2.0", id, ...answer });
  }

  write(message) {
    if (this.dead === undefined) this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async notify(message) {
    this.write(message);
  }

  exchange(message, timeoutMs) {
    if (this.dead !== undefined) return Promise.reject(this.dead);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(message.id);
        if (message.method === "tools/call") this.write(cancelled(message.id));
        reject(new Failure(`timed out after ${timeoutMs} ms`));
      }, timeoutMs);
      const once = (end) => (value) => {
        clearTimeout(timer);
        end(value);
      };
      this.waiting.set(message.id, { resolve: once(resolve), reject: once(reject) });
      this.write(message);
    });
  }

  async close() {
    this.child.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"]) {
      if (await this.endedWithin(CLOSE_MS)) return;
      this.child.kill(signal);
    }
    await this.endedWithin(CLOSE_MS);
  }

  async endedWithin(ms) {
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, ms, false)));
    const ended = await Promise.race([this.ended.then(() => true), late]);
    clearTimeout(timer);
    return ended;
  }
}

class Http {
  constructor({ url }) {
    this.url = url;
    this.revision = null;
    this.session = null;
  }

  headers(message) {
    const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    if (this.session !== null) headers["mcp-session-id"] = this.session;
    if (this.revision !== null) headers["mcp-protocol-version"] = this.revision;
    if (this.revision === MODERN && message !== undefined) {
      headers["mcp-method"] = message.method;
      if (message.method === "tools/call") headers["mcp-name"] = message.params.name;
    }
    return headers;
  }

  /** One POST; a timeout closes its stream, which in 2026-07-28 is the cancel. */
  async exchange(message, timeoutMs) {
    const aborter = new AbortController();
    const timer = setTimeout(() => aborter.abort(), timeoutMs);
    try {
      const body = JSON.stringify(message);
      const response = await fetch(this.url, { method: "POST", headers: this.headers(message), body, signal: aborter.signal });
      return await this.read(response, message);
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (!aborter.signal.aborted) throw new Failure(`connection broken: ${error.cause?.code ?? error.message}`, true);
      if (message.method === "tools/call" && this.revision !== MODERN) await this.notify(cancelled(message.id));
      throw new Failure(`timed out after ${timeoutMs} ms`);
    } finally {
      clearTimeout(timer);
      aborter.abort();
    }
  }

  async read(response, message) {
    const type = response.headers.get("content-type") ?? "";
    if (response.ok && message.method === "initialize") this.session = response.headers.get("mcp-session-id");
    if (response.ok && type.startsWith("text/event-stream")) return await firstAnswer(response.body, message.id);
    if (type.startsWith("application/json")) {
      const answer = parsed(await response.text());
      if (answer?.result !== undefined || answer?.error !== undefined) return answer;
    }
    throw new Failure(`HTTP status ${response.status}`, response.status === 404 && this.session !== null);
  }

  /** Notifications have no answer; one that cannot be sent is lost. */
  async notify(message) {
    const options = { method: "POST", headers: this.headers(message), body: JSON.stringify(message) };
    await this.quietly(options);
  }

  async close() {
    if (this.session !== null) await this.quietly({ method: "DELETE", headers: this.headers() });
  }

  async quietly(options) {
    try {
      const response = await fetch(this.url, { ...options, signal: AbortSignal.timeout(CLOSE_MS) });
      await response.body?.cancel();
    } catch {
      // The other side is gone or silent; there is nobody to tell.
    }
  }
}

/** The answer to request `id` in an event stream; a stream that ends before is a lost answer. */
async function firstAnswer(stream, id) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const events = (rest + decoder.decode(chunk, { stream: true })).replaceAll("\r\n", "\n").split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const lines = event.split("\n").filter((line) => line.startsWith("data:"));
      const message = parsed(lines.map((line) => line.slice(5)).join("\n"));
      if (message?.id === id && message.method === undefined) return message;
    }
  }
  throw new Failure("the stream ended without an answer", true);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function cancelled(requestId) {
  return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "timed out" } };
}
