// OpenAI's Agents SDK for JavaScript: an agent with an MCP server, one session in memory.

import { Agent, MCPServerStdio, MCPServerStreamableHttp, MemorySession, OpenAIChatCompletionsModel, run, setTracingDisabled } from "@openai/agents";
import OpenAI from "openai";
import { turns } from "../_driver/turns.mjs";

setTracingDisabled(true);

await turns(async ({ model, server, timeouts, workflow_id: sessionId }) => {
  const how = { timeout: timeouts.tool_call_s * 1000 };
  const tools =
    server.transport === "stdio"
      ? new MCPServerStdio({ command: server.command, args: server.args, ...how })
      : new MCPServerStreamableHttp({ url: server.url, ...how });
  await tools.connect();
  const client = new OpenAI({ baseURL: model.base_url, apiKey: model.api_key, maxRetries: 0 });
  const agent = new Agent({ name: "agent", model: new OpenAIChatCompletionsModel(client, model.name), mcpServers: [tools] });
  const session = new MemorySession({ sessionId });
  return { say: (text) => run(agent, text, { session }), close: () => tools.close() };
});
