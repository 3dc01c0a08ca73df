// How agents with a model are driven: the turns in order; what the framework raises is its own word and ends its turn.

import { finish, load } from "./task.mjs";

/** `open(task)` gives `say(text)`, which does one turn and throws what the framework throws, and `close()`. */
export async function turns(open) {
  const task = load();
  const raised = [];
  const tried = async (work) => {
    try {
      return await work();
    } catch (error) {
      console.error(error);
      raised.push(`${error?.name}: ${error?.message}`);
    }
  };
  const agent = await tried(() => open(task));
  if (agent) {
    for (const turn of task.turns) await tried(() => agent.say(turn.say));
    await tried(() => agent.close());
  }
  const detail = raised.join("; ").slice(0, 300);
  finish(task, raised.length ? task.intents.map(({ id }) => ({ id, status: "error", detail })) : [], raised.length ? "framework" : "driver");
  process.exit(0); // timers and sockets of a client may outlive it
}
