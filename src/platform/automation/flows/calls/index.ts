/** The calls of `http_request` nodes: checked when they are saved, and sent while the run waits. */
export { checkRequests } from "./check.ts";
export { callJob } from "./job.ts";
