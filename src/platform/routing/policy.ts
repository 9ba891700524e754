/** What a decision is about: a policy, and the conversation that somebody should have. */
import type { Selectable } from "kysely";
import type { Tables } from "../../database/schema/index.ts";
import { readSettings, type Settings } from "./settings.ts";

export type Thread = Selectable<Tables["conversations"]>;

type Row = Selectable<Tables["routing_policies"]>;

export interface Policy
  extends Pick<Row, "organization_id" | "name" | "strategy" | "target_type" | "target_id"> {
  /** Null for what a team without a policy goes by. */
  readonly id: string | null;
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly settings: Settings;
}

export function toPolicy(row: Row): Policy {
  return { ...row, settings: readSettings(row.settings) };
}

/** What a team goes by that has no policy: whoever has the most room. */
export function withoutPolicy(organization_id: string, { id, name }: { id: string; name: string }): Policy {
  return {
    organization_id,
    id: null,
    name,
    strategy: "load_balanced",
    target_type: "team",
    target_id: id,
    conditions: {},
    settings: readSettings({}),
  };
}
