// A driver's two ends in Node: the task file in, the outcome file out. No packages.

import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** The task file (runtime contract, version 1), as it is. */
export function load() {
  const task = JSON.parse(readFileSync(process.env.BENCH_TASK, "utf8"));
  if (task.contract !== 1) throw new Error(`the task file has contract ${task.contract}, this program reads contract 1`);
  return task;
}

/** Writes the outcome of a task whole: under another name, then renamed. */
export function finish({ outcome_path: place }, intents, statusFrom = "driver") {
  writeFileSync(`${place}.unfinished`, JSON.stringify({ contract: 1, status_from: statusFrom, intents }));
  renameSync(`${place}.unfinished`, place);
}
