/** Reports calls that are rejected before they reach the service, which records them. */
import type { mcp } from "../../../../tools/mcp.ts";
import type { Client } from "../../../client/index.ts";
import { rejectedCallRoute } from "../../tool-list/index.ts";

/** The record is no reason to wait. */
const timeoutMs = 2_000;

/** Resolves when the call is recorded, or can't be. An earlier version of the service has no such route. */
export async function reportRejection(
  { client, key }: { readonly client: Client; readonly key?: string },
  { tool, code }: { readonly tool: string; readonly code: string },
): Promise<void> {
  // Method and path are all that the client needs; the full declaration is slow to load.
  const report = rejectedCallRoute as typeof mcp.report_rejected_call;
  const sent = { tool: tool.slice(0, 128) || "none", code };
  await client.call(report, sent, { ...(key !== undefined && { key }), timeoutMs }).catch(() => undefined);
}
