/** `tidings orgs create` and `tidings orgs list`. */
import { operator } from "../../../tools/operator.ts";
import { type CommandOptions, requireOptions } from "../commands/options.ts";
import { describeTable, describeValues, print } from "../commands/print.ts";
import { withService } from "./send.ts";

const pageSize = 100;

export async function runCreateOrganization(options: CommandOptions): Promise<void> {
  const { json, "time-zone": time_zone, "default-country": default_country, currency } = options;
  const given = requireOptions(options, ["name", "owner-email", "owner-name"]);
  const owner = { email: given["owner-email"], name: given["owner-name"] };
  const input = { name: given.name, owner, time_zone, default_country, currency };
  const answer = await withService(options, (send) => send("create-organization", input));
  const { data } = operator.create_organization.output.parse({ data: answer });
  print(json, data, () => [
    "The password and the key are shown only now.",
    "",
    ...describeValues({
      Organization: `${data.organization.id}, ${data.organization.name}`,
      Owner: `${data.owner.email}, password ${data.owner.password}`,
      "API key": data.api_key.secret_key,
    }),
  ]);
}

export async function runListOrganizations(options: CommandOptions): Promise<void> {
  const { json, search, status } = options;
  const organizations = await withService(options, async (send) => {
    const found = [];
    for (let page = 1; ; page += 1) {
      const filters = { search, status, page, per_page: pageSize };
      const answer = operator.list_organizations.output.parse(await send("list-organizations", filters));
      found.push(...answer.data);
      if (answer.data.length < pageSize) {
        return found;
      }
    }
  });
  print(json, organizations, () =>
    describeTable(
      ["ID", "STATUS", "USERS", "INBOXES", "CREATED", "NAME"],
      organizations.map(({ id, status: state, users, inboxes, created_at, name }) => [
        id,
        state,
        String(users),
        String(inboxes),
        created_at,
        name,
      ]),
    ),
  );
}
