// How agents with a model are driven: the turns in order; what the framework raises is its own word and ends the run.

import { finish, load } from "./task.mjs";

/** `run(task)` says the turns; whatever it throws is the framework's end of the run. */
export async function turns(run) {
  const task = load();
  try {
    await run(task);
    finish(task, []);
  } catch (error) {
    const detail = `${error.name}: ${error.message}`.slice(0, 300);
    finish(task, task.intents.map(({ id }) => ({ id, status: "error", detail })), "framework");
  }
  process.exit(0); // timers and sockets of a client may outlive it
}
