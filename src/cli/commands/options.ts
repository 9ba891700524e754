/** The options of all commands. */
import type { SettingTexts } from "../../config/index.ts";
import { UsageError } from "./command-error.ts";

/** The value that each option takes; a flag takes none. */
const optionValues = {
  "access-token": "text",
  "app-id": "id",
  "app-secret": "text",
  "callback-url": "address",
  channel: "flag",
  check: "flag",
  cohort: "id",
  currency: "code",
  "data-dir": "folder",
  deep: "flag",
  "default-country": "code",
  email: "address",
  erasures: "file",
  events: "types",
  "expires-in-days": "number",
  follow: "flag",
  "forward-to": "address",
  host: "address",
  identity: "file",
  inbox: "number",
  json: "flag",
  keys: "ids",
  "messages-per-second": "number",
  name: "text",
  "new-secret": "flag",
  on: "address",
  organization: "id",
  "owner-email": "address",
  "owner-name": "text",
  "passphrase-file": "file",
  "phone-number": "number",
  "phone-number-id": "id",
  plain: "flag",
  port: "number",
  "public-url": "address",
  reason: "text",
  recipient: "key",
  "replace-callback": "flag",
  role: "role",
  scopes: "scopes",
  search: "text",
  since: "time",
  status: "status",
  stdin: "flag",
  "stop-with-parent": "flag",
  "time-zone": "zone",
  user: "address",
  "verify-token": "text",
  "waba-id": "id",
} as const;

export type OptionName = keyof typeof optionValues;

/** The options that the user gave. */
export type CommandOptions = {
  readonly [Name in OptionName]?: ((typeof optionValues)[Name] extends "flag" ? boolean : string) | undefined;
};

type TextOption = {
  [Name in OptionName]: (typeof optionValues)[Name] extends "flag" ? never : Name;
}[OptionName];

/** The options in the form of `parseArgs`. */
export const optionTypes = Object.fromEntries(
  Object.entries(optionValues).map(([name, value]) => [
    name,
    { type: value === "flag" ? ("boolean" as const) : ("string" as const) },
  ]),
);

/** An option as help shows it. */
export function describeOption(name: OptionName): string {
  const value = optionValues[name];
  return value === "flag" ? `--${name}` : `--${name} <${value}>`;
}

/** The values of these options. @throws UsageError that names the missing options. */
export function requireOptions<Name extends TextOption>(
  options: CommandOptions,
  names: readonly Name[],
): Readonly<Record<Name, string>> {
  const missing = names.filter((name) => options[name] === undefined);
  if (missing.length > 0) {
    throw new UsageError(`${missing.map((name) => `--${name}`).join(" and ")} must be given. See --help.`);
  }
  // Every name has a value.
  return Object.fromEntries(names.map((name) => [name, options[name]])) as Record<Name, string>;
}

/** The settings that options give, which take the place of the environment's. */
export function settingsOf({ host, port, "data-dir": dataDir, on }: CommandOptions): SettingTexts {
  const given = Object.entries({ HOST: host, PORT: port, TIDINGS_DATA_DIR: dataDir, DATABASE_URL: on });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}
