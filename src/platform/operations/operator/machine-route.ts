/**
 * The route of the commands that the operator runs on the machine of the service, such as `tidings orgs
 * create`.
 *
 * The route accepts only the key of a data folder. Anyone who can read this key can read the configuration
 * too, so the route needs no operator's key. It also works while the first organization, to which the key
 * belongs, is suspended.
 */
import { parseFields } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { hashSecret } from "../../account/identity/index.ts";
import type { ModuleRoute, World } from "../../foundation/kernel/index.ts";
import { machineCommands } from "./machine-commands.ts";

const path = "/data-folder/commands/{command}";

export const machineRoute: ModuleRoute = {
  methods: ["POST"],
  path,
  credential: "none",
  body: "json",
  async handle({ params: { command: name = "" }, headers, body }, world) {
    await requireLocalKey(world, headers["x-api-key"] ?? "");
    const command = machineCommands.get(name);
    if (!command) {
      throw fail("route_not_found", { method: "POST", path });
    }
    const data = await command.run(parseFields(command.input, body ?? {}), world);
    return { status: 200, headers: { "cache-control": "no-store" }, body: { data } };
  },
};

/**
 * With any other key the route does not exist.
 * @throws Failure `route_not_found`; `credential_invalid` for a key of a data folder that was revoked.
 */
async function requireLocalKey({ database: { queries } }: World, key: string): Promise<void> {
  const hash = hashSecret(key);
  const local = await queries
    .selectFrom("settings")
    .select("name")
    .where("name", "=", `local_key:${hash}`)
    .executeTakeFirst();
  if (!local) {
    throw fail("route_not_found", { method: "POST", path });
  }
  const live = await queries.selectFrom("api_keys").select("id").where("hash", "=", hash).executeTakeFirst();
  if (!live) {
    throw fail("credential_invalid");
  }
}
