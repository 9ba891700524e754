/** The options of `tidings mcp`. */
import { UsageError } from "../commands/command-error.ts";
import type { CommandOptions } from "../commands/options.ts";

export const mcpOptions = {
  channel:
    "Also send the messages of contacts to the client as they arrive, in the form of Claude Code's channels. The key needs contacts:read and inbox:read.",
  cohort:
    "Whose messages: those of the contacts of this cohort. --channel needs it, because each of them can write into the session. create_cohort makes one, list_cohorts has the ids.",
} as const;

/** The cohort of the channel; undefined without a channel. @throws UsageError */
export function readChannelCohort({ channel = false, cohort }: CommandOptions): string | undefined {
  if (channel && !cohort) {
    throw new UsageError(
      "tidings mcp --channel needs --cohort <id>: the contacts whose messages the session gets. Find the id with list_cohorts, or create a cohort with create_cohort.",
    );
  }
  if (!channel && cohort !== undefined) {
    throw new UsageError("--cohort is for a channel: tidings mcp --channel --cohort <id>.");
  }
  return cohort;
}
