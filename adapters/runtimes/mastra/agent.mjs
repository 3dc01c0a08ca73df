// Mastra: an agent with the tools of MCPClient, one conversation.

import "./quiet.mjs";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { MCPClient } from "@mastra/mcp";
import { turns } from "../_driver/turns.mjs";

await turns(async ({ model, server, timeouts, workflow_id: id }) => {
  const connection = server.transport === "stdio" ? { command: server.command, args: server.args } : { url: new URL(server.url) };
  const client = new MCPClient({ id, servers: { bench: { ...connection, timeout: timeouts.tool_call_s * 1000 } } });
  const provider = createOpenAICompatible({ name: "endpoint", baseURL: model.base_url, apiKey: model.api_key });
  const agent = new Agent({
    id: "agent",
    name: "agent",
    instructions: "Use the tools.",
    model: provider(model.name),
    tools: await client.listTools(),
    maxRetries: 0,
  });
  const messages = [];
  const say = async (content) => {
    messages.push({ role: "user", content });
    const result = await agent.generate(messages, { maxSteps: 20 });
    if (result.error) throw result.error;
    messages.push(...result.response.messages);
  };
  return { say, close: () => client.disconnect() };
});
