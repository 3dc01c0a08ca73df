// The official TypeScript MCP client over stdio: an obvious retry around one call. How many effects?
//
//     npm install @modelcontextprotocol/sdk@1.32.2
//     node mcp_client_retry.mjs timeout    # the answer takes longer than the client's timeout; the client calls again
//     node mcp_client_retry.mjs kill       # the server dies after the effect; a new one is started; the client calls again

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const server = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "ledger_server.py");
const folder = mkdtempSync(join(tmpdir(), "ledger-"));
const ledger = join(folder, "ledger");

/** What each attempt brought, in one connection. */
async function call(fault, attempts) {
  const client = new Client({ name: "payer", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: "python3", args: [server, ledger, fault] }));
  const seen = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      await client.callTool({ name: "charge", arguments: { amount: 100 } }, undefined, { timeout: 1000 });
      seen.push("answered");
    } catch (error) {
      seen.push(`error ${error.code}`);
    }
  }
  await client.close();
  return seen;
}

const kind = process.argv[2] ?? "timeout";
const seen = kind === "timeout" ? await call("hang-once", 2) : [...(await call("die-once", 1)), ...(await call("die-once", 1))];
const happened = readFileSync(ledger, "utf8").trim().split("\n").length;
console.log(`authorised: 1, happened: ${happened}; the client saw: ${seen.join(", ")}`);
rmSync(folder, { recursive: true });
