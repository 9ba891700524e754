/** The options of `tidings mcp`. */
import { UsageError } from "../manage/usage-error.ts";

export const mcpOptionTypes = {
  channel: { type: "boolean" },
  cohort: { type: "string" },
} as const;

interface McpArguments {
  readonly channel?: boolean | undefined;
  readonly cohort?: string | undefined;
}

export const mcpHelp = `Serves MCP on stdin and stdout. With TIDINGS_BASE_URL and TIDINGS_API_KEY it forwards to that service;
without them it runs the embedded one and shares it with other processes.

Usage: tidings mcp [--channel --cohort <id>]

      --channel      Also send the messages of contacts to the client as they arrive, in the form of Claude
                     Code's channels. The key needs contacts:read and inbox:read.
      --cohort <id>  Whose messages: those of the contacts of this cohort. --channel needs it, because each
                     of them can write into the session. create_cohort makes one, list_cohorts has the ids.

docs/assistants.md describes channels and the settings, which are environment variables.`;

/** The cohort of the channel; undefined without a channel. @throws UsageError */
export function readChannelCohort({ channel = false, cohort }: McpArguments): string | undefined {
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
