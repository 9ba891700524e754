/** Records a command that the operator ran on the machine of the service. */
import { newId } from "../../../database/id.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";

interface MachineCommand {
  readonly organization_id: string;
  /** The name of the command, such as `create-key`. */
  readonly name: string;
  /** The ids of what it has changed. */
  readonly ids: readonly string[];
}

/** Records the command in the transaction of what it changes. */
export function recordCommand(
  tx: Transaction,
  { acts, now }: Pick<World, "acts" | "now">,
  { organization_id, name, ids }: MachineCommand,
): void {
  const at = now();
  acts.writeWith(tx, [
    {
      organization_id,
      id: newId("act", at),
      created_at: at.toISOString(),
      agent_type: "operator",
      agent_id: "machine",
      agent_name: "Command on the machine",
      session_id: null,
      operation: name,
      tool: null,
      arguments: {},
      status: 200,
      error: null,
      budget: null,
      duration_ms: 0,
      ids: [...new Set([organization_id, ...ids])],
    },
  ]);
}
