/** The jobs of the kernel itself. */
import { createResolveJob, deleteExpiredResponsesJob } from "./call/index.ts";
import type { ModuleJob } from "./job.ts";
import type { Module } from "./module.ts";
import { deleteDeadJobsJob } from "./retention.ts";

/** `modules` are the modules whose interrupted calls to third parties are ended. */
export function createKernelJobs(modules: readonly Module[]): readonly ModuleJob[] {
  return [deleteExpiredResponsesJob, deleteDeadJobsJob, createResolveJob(modules)];
}
