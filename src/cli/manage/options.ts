/** The options of the commands that manage organizations, keys and users. */
import { UsageError } from "./usage-error.ts";

/** The options of all commands, in the form of `parseArgs`. */
export const optionTypes = {
  name: { type: "string" },
  organization: { type: "string" },
  "owner-email": { type: "string" },
  "owner-name": { type: "string" },
  "time-zone": { type: "string" },
  "default-country": { type: "string" },
  currency: { type: "string" },
  search: { type: "string" },
  status: { type: "string" },
  scopes: { type: "string" },
  "expires-in-days": { type: "string" },
  email: { type: "string" },
  role: { type: "string" },
  json: { type: "boolean" },
} as const;

export type OptionName = keyof typeof optionTypes;

/** The options that the user gave. */
export type ManageOptions = {
  readonly [Name in OptionName]?:
    | ((typeof optionTypes)[Name]["type"] extends "boolean" ? boolean : string)
    | undefined;
};

/** The values of these options. @throws UsageError that names the missing options. */
export function requireOptions<Name extends Exclude<keyof ManageOptions, "json">>(
  options: ManageOptions,
  names: readonly Name[],
): Readonly<Record<Name, string>> {
  const missing = names.filter((name) => options[name] === undefined);
  if (missing.length > 0) {
    throw new UsageError(`${missing.map((name) => `--${name}`).join(" and ")} must be given. See --help.`);
  }
  // Every name has a value.
  return Object.fromEntries(names.map((name) => [name, options[name]])) as Record<Name, string>;
}
