/** `tidings keys create`, `tidings keys list` and `tidings keys revoke`. */
import { z } from "zod";
import { allScopes, nearestName, readScope, type Scope } from "../../../tools/contract/index.ts";
import { UsageError } from "../commands/command-error.ts";
import type { CommandOptions } from "../commands/options.ts";
import { describeTable, describeValues, print } from "../commands/print.ts";
import { withService } from "./send.ts";

const dayMs = 24 * 3_600_000;
const maxDays = 36_500;

/** The response of the service. */
const CreatedKey = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  secret_key: z.string(),
  scopes: z.array(z.string()),
  expires_at: z.string().nullable(),
});

const ListedKeys = z.array(
  CreatedKey.omit({ secret_key: true }).extend({
    prefix: z.string(),
    is_active: z.boolean(),
    last_used_at: z.string().nullable(),
    created_at: z.string(),
  }),
);

export async function runCreateKey(options: CommandOptions): Promise<void> {
  const input = { ...readOptions(options, new Date()), organization: options.organization };
  const key = CreatedKey.parse(await withService(options, (send) => send("create-key", input)));
  print(options.json, key, () => [
    "The key is shown only now.",
    "",
    ...describeValues({
      "API key": key.secret_key,
      Id: key.id,
      Name: key.name,
      Scopes: key.scopes.join(", "),
      Expires: key.expires_at ?? "never",
    }),
  ]);
}

export async function runListKeys(options: CommandOptions): Promise<void> {
  const { json, organization } = options;
  const keys = ListedKeys.parse(await withService(options, (send) => send("list-keys", { organization })));
  print(json, keys, () =>
    describeTable(
      ["ID", "BEGINS WITH", "ACTIVE", "LAST USED", "EXPIRES", "SCOPES", "NAME"],
      keys.map((key) => [
        key.id,
        key.prefix,
        key.is_active ? "yes" : "no",
        key.last_used_at ?? "never",
        key.expires_at ?? "never",
        String(key.scopes.length),
        key.name,
      ]),
    ),
  );
}

export async function runRevokeKey(options: CommandOptions, id: string): Promise<void> {
  const { json, organization } = options;
  const revoked = await withService(options, (send) => send("revoke-key", { id, organization }));
  print(json, revoked, () => [`The key ${id} is revoked.`]);
}

/** @throws UsageError if an option is invalid. */
function readOptions(options: CommandOptions, now: Date) {
  const name = z
    .string()
    .min(1)
    .max(255)
    .safeParse(options.name ?? "Made with tidings keys create");
  if (!name.success) {
    throw new UsageError("--name takes 1 to 255 characters.");
  }
  const days = z.coerce
    .number()
    .int()
    .min(1)
    .max(maxDays)
    .safeParse(options["expires-in-days"] ?? 1);
  if (!days.success) {
    throw new UsageError(`--expires-in-days takes a whole number from 1 to ${maxDays}.`);
  }
  const expiry = new Date(now.getTime() + days.data * dayMs).toISOString();
  const hasExpiry = options["expires-in-days"] !== undefined;
  return { name: name.data, scopes: readScopes(options.scopes), ...(hasExpiry && { expires_at: expiry }) };
}

function readScopes(list: string | undefined): readonly Scope[] {
  const names = list?.split(",").map((name) => name.trim()) ?? allScopes;
  return names.map((name) => {
    const scope = readScope(name);
    if (scope === undefined) {
      throw new UsageError(describeUnknownScope(name));
    }
    return scope;
  });
}

function describeUnknownScope(name: string): string {
  const nearest = nearestName(name, allScopes);
  const hint = nearest === undefined ? "" : `Did you mean ${nearest}? `;
  return `There is no scope ${JSON.stringify(name)}. ${hint}--scopes takes scopes separated by commas, of: ${allScopes.join(", ")}.`;
}
