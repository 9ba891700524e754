/** The rules of all assistants and of the organization. */
import { type Answer, call, type Input } from "../../service/call.ts";
import type { SaveParts } from "../save-parts.ts";

export type RuleSettings = Answer<"get_rules">["data"];
export type SaveRules = SaveParts<Input<"set_rules">>;

export async function readRules(): Promise<RuleSettings> {
  return (await call("get_rules", {})).data;
}

export async function writeRules(part: Input<"set_rules">): Promise<RuleSettings> {
  return (await call("set_rules", part)).data;
}
