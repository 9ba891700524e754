/** The organization, as the section reads and writes it. */
import { type Answer, call, type Input } from "../../service/call.ts";
import type { SaveParts } from "../save-parts.ts";

export type Organization = Answer<"get_organization">["data"];
export type Hours = NonNullable<Organization["business_hours"]>;
export type SaveOrganization = SaveParts<Input<"update_organization">>;

export async function readOrganization(): Promise<Organization> {
  return (await call("get_organization", {})).data;
}

export async function writeOrganization(part: Input<"update_organization">): Promise<Organization> {
  return (await call("update_organization", part)).data;
}
