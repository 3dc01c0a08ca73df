// Mastra's MCP client: the server dies once the effect is made. One call is asked for, by nobody again. How many effects?
//
//     npm install @mastra/core@1.71.0 @mastra/mcp@2.0.0 zod@4.6.7     (Node 22.19 or later)
//     node mastra_reconnect.mjs die-once    # the server dies at the first call; a second one would answer
//     node mastra_reconnect.mjs die         # every server dies

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MCPClient } from "@mastra/mcp";

const fault = process.argv[2] ?? "die-once";
const folder = mkdtempSync(join(tmpdir(), "ledger-"));
const ledger = join(folder, "ledger");
const args = [join(import.meta.dirname, "ledger_server.py"), ledger, fault];

const client = new MCPClient({ id: "payer", servers: { bank: { command: "python3", args } } });
const { bank_charge: charge } = await client.listTools();
let told;
try {
  told = `answered ${JSON.stringify(await charge.execute({ amount: 100 }))}`;
} catch (error) {
  told = `threw ${error.message}`;
}
const happened = readFileSync(ledger, "utf8").trim().split("\n").length;
console.log(`authorised: 1, happened: ${happened}; the caller was told: ${told.slice(0, 160)}`);
await client.disconnect();
rmSync(folder, { recursive: true });
process.exit(0);
