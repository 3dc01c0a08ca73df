// The stock client of the MCP TypeScript SDK 2.x; with the argument `retry`, what is usually put around it.

import { Client, ProtocolError, SdkError, SdkErrorCode, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { walk } from "../_driver/walk.mjs";

async function connect(server) {
  const client = new Client({ name: "mcp-typescript-2", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  const transport =
    server.transport === "stdio"
      ? new StdioClientTransport({ command: server.command, args: server.args })
      : new StreamableHTTPClientTransport(new URL(server.url));
  await client.connect(transport);
  await client.listTools();
  return {
    call: (name, args, timeout) => client.callTool({ name, arguments: args }, { timeout }),
    isGone: (error) => !(error instanceof ProtocolError || (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)),
    close: () => client.close(),
  };
}

await walk(connect, process.argv.includes("retry") ? 2 : 1);
