// LangGraph for JavaScript: createAgent with the tools of MultiServerMCPClient, one thread.

import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { turns } from "../_driver/turns.mjs";

await turns(async ({ model, server, timeouts, workflow_id: thread }) => {
  const connection =
    server.transport === "stdio"
      ? { transport: "stdio", command: server.command, args: server.args }
      : { transport: "http", url: server.url };
  const client = new MultiServerMCPClient({ mcpServers: { tools: connection }, defaultToolTimeout: timeouts.tool_call_s * 1000 });
  const llm = new ChatOpenAI({ model: model.name, apiKey: model.api_key, configuration: { baseURL: model.base_url }, maxRetries: 0 });
  const agent = createAgent({ model: llm, tools: await client.getTools(), checkpointer: new MemorySaver() });
  const say = (content) => agent.invoke({ messages: [{ role: "user", content }] }, { configurable: { thread_id: thread } });
  return { say, close: () => client.close() };
});
