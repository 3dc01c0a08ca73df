// How the TypeScript clients walk over the intents, and what is usually put around a client: try, catch, once more.

import { finish, load } from "./task.mjs";

/**
 * Intents in order, the calls of an intent in order; after a call that is not committed the rest of its intent is not sent.
 * `connect(server)` gives { call(tool, args, timeoutMs), isGone(error), close() }; it is asked again after a connection is gone.
 */
export async function walk(connect, attempts) {
  const task = load();
  const timeoutMs = task.timeouts.tool_call_s * 1000;
  let connection = null;

  async function close() {
    const old = connection;
    connection = null;
    // A connection that broke may say so once more when it is closed.
    await old?.close().catch(() => {});
  }

  async function settle(call, left) {
    try {
      connection ??= await connect(task.server);
      return settled(await connection.call(call.tool, call.arguments, timeoutMs));
    } catch (error) {
      if (connection !== null && connection.isGone(error)) await close();
      if (left > 1) return settle(call, left - 1);
      return { status: "error", receipts: [], detail: `${error.name}: ${error.message}`.slice(0, 300) };
    }
  }

  const outcomes = [];
  for (const intent of task.intents) {
    const calls = [];
    for (const [index, call] of intent.calls.entries()) {
      calls.push({ index, ...(await settle(call, attempts)) });
      if (calls.at(-1).status !== "committed") break;
    }
    const receipts = [...new Set(calls.flatMap((call) => call.receipts))];
    outcomes.push({ id: intent.id, status: calls.at(-1).status, receipts, calls });
  }
  await close();
  finish(task, outcomes);
  process.exit(0); // timers and sockets of a client may outlive it
}

/** The status of an answer: an error result is an answer too, and is not asked for again. */
export function settled(result) {
  const text = (result.content ?? []).map((block) => block.text ?? "").join(" ");
  if (result.isError) return { status: "error", receipts: [], detail: `isError: ${text}`.slice(0, 300) };
  const content = result.structuredContent ?? JSON.parse(text);
  const found = [content.receipt, ...(content.receipts ?? [])];
  return { status: "committed", receipts: found.filter((receipt) => typeof receipt === "string"), detail: "" };
}
