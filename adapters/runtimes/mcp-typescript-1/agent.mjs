// The stock client of the MCP TypeScript SDK 1.x; with the argument `retry`, what is usually put around it.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { walk } from "../_driver/walk.mjs";

async function connect(server) {
  const client = new Client({ name: "mcp-typescript-1", version: "1.0.0" });
  const transport =
    server.transport === "stdio"
      ? new StdioClientTransport({ command: server.command, args: server.args })
      : new StreamableHTTPClientTransport(new URL(server.url));
  await client.connect(transport);
  await client.listTools();
  return {
    call: (name, args, timeout) => client.callTool({ name, arguments: args }, undefined, { timeout }),
    isGone: (error) => !(error instanceof McpError) || error.code === ErrorCode.ConnectionClosed,
    close: () => client.close(),
  };
}

await walk(connect, process.argv.includes("retry") ? 2 : 1);
