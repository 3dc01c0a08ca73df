// Vercel's AI SDK: generateText with the tools of an MCP client, one conversation.

import { createMCPClient } from "@ai-sdk/mcp";
import { StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount } from "ai";
import { turns } from "../_driver/turns.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

await turns(async ({ model, server, timeouts }) => {
  const transport =
    server.transport === "stdio"
      ? new StdioMCPTransport({ command: server.command, args: server.args })
      : { type: "http", url: server.url };
  const client = await createMCPClient({ transport });
  const provider = createOpenAICompatible({ name: "endpoint", baseURL: model.base_url, apiKey: model.api_key });
  const messages = [];
  const say = async (content) => {
    messages.push({ role: "user", content });
    const result = await generateText({
      model: provider(model.name),
      tools: await client.tools(),
      messages,
      stopWhen: isStepCount(20),
      maxRetries: 0,
      timeout: { toolMs: timeouts.tool_call_s * 1000 },
    });
    messages.push(...result.response.messages);
  };
  return { say, close: () => client.close() };
});
