/**
 * Modules for tests of long simulated times: jobs that keep the tables tidy would take most of their time.
 */
import { type Modules, modules } from "../../src/platform/index.ts";

const weekly = "0 0 * * 0";

/**
 * Every module; but for those that are named, their scheduled jobs run once a week, not at every step of the
 * clock. With SOAK they keep their schedules.
 */
export function modulesWithRareUpkeep(...kept: readonly string[]): Modules {
  const entries = Object.entries(modules).map(([name, module]) => {
    const jobs = module.jobs.map((job) => (job.schedule === undefined ? job : { ...job, schedule: weekly }));
    return [name, kept.includes(name) ? module : { ...module, jobs }] as const;
  });
  return process.env.SOAK ? modules : Object.fromEntries(entries);
}
