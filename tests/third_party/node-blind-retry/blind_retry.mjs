// blind-retry in plain Node, written from the runtime contract, version 1: whatever went wrong, send the same call once more.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect } from "./mcp.mjs";

const task = JSON.parse(readFileSync(process.env.BENCH_TASK, "utf8"));
if (task.contract !== 1) throw new Error(`contract ${task.contract}, not 1`);
const timeoutMs = task.timeouts.tool_call_s * 1000;

let connection = null;

/** One attempt: { ok, receipts, detail }. Never throws. */
async function attempt(call) {
  try {
    connection ??= await connect(task.server);
    const result = await connection.callTool(call.tool, call.arguments, timeoutMs);
    if (result.isError) return { ok: false, receipts: [], detail: `isError: ${JSON.stringify(result.content)}` };
    return { ok: true, receipts: receiptsOf(result), detail: "" };
  } catch (error) {
    if (error.gone && connection !== null) {
      const dead = connection;
      connection = null;
      await dead.close();
    }
    return { ok: false, receipts: [], detail: String(error.message) };
  }
}

function receiptsOf(result) {
  let content = result.structuredContent;
  if (content === undefined) {
    try {
      content = JSON.parse(result.content[0].text);
    } catch {
      content = {};
    }
  }
  const found = [content?.receipt, ...(content?.receipts ?? [])];
  return [...new Set(found.filter((receipt) => typeof receipt === "string"))];
}

function claim(id, calls, planned) {
  const status = calls.every((call) => call.ok) ? "committed" : "error";
  const entry = { id, status, ...receiptFields(calls.flatMap((call) => call.receipts)) };
  entry.detail = calls.map((call) => call.detail).filter(Boolean).join("; ");
  if (planned > 1) {
    entry.calls = calls.map((call, index) => ({
      index,
      status: call.ok ? "committed" : "error",
      ...receiptFields(call.receipts),
    }));
  }
  return entry;
}

function receiptFields(receipts) {
  return receipts.length > 1 ? { receipt: null, receipts } : { receipt: receipts[0] ?? null };
}

const intents = [];
for (const intent of task.intents) {
  const calls = [];
  for (const call of intent.calls) {
    let reply = await attempt(call);
    if (!reply.ok) reply = await attempt(call);
    calls.push(reply);
    if (!reply.ok) break;
  }
  intents.push(claim(intent.id, calls, intent.calls.length));
}
if (connection !== null) await connection.close();

const unfinished = `${task.outcome_path}.unfinished`;
writeFileSync(unfinished, JSON.stringify({ contract: 1, status_from: "driver", intents }));
renameSync(unfinished, task.outcome_path);
process.exit(0);
