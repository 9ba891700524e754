/** The queue: the conversations that wait for an agent, and what serves them. */
export { addMember } from "./members.ts";
export { serveQueueIfWaiting, serveQueueJob } from "./serve.ts";
export { sweepQueueJob } from "./sweep.ts";
