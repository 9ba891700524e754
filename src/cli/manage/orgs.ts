/** `tidings orgs create`, `list`, `show`, `suspend` and `resume`. */
import type { OutputOf } from "../../../tools/contract/index.ts";
import { operator } from "../../../tools/operator.ts";
import { type CommandOptions, requireOptions } from "../commands/options.ts";
import { describeTable, describeValues, print } from "../commands/print.ts";
import { sendPages, withService } from "./send.ts";

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
  const organizations = await withService(options, (send) =>
    sendPages(async (paging) =>
      operator.list_organizations.output.parse(
        await send("list-organizations", { search, status, ...paging }),
      ),
    ),
  );
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

type ManagedOrganization = OutputOf<typeof operator.find_organization>["data"];

export async function runShowOrganization(options: CommandOptions, id: string): Promise<void> {
  const organization = await sendOne(options, "find-organization", { id });
  print(options.json, organization, () => describeOrganization(organization));
}

export async function runSuspendOrganization(options: CommandOptions, id: string): Promise<void> {
  const { reason } = requireOptions(options, ["reason"]);
  const organization = await sendOne(options, "suspend-organization", { id, reason });
  print(options.json, organization, () => describeOrganization(organization));
}

export async function runResumeOrganization(options: CommandOptions, id: string): Promise<void> {
  const organization = await sendOne(options, "resume-organization", { id });
  print(options.json, organization, () => describeOrganization(organization));
}

async function sendOne(
  options: CommandOptions,
  command: string,
  input: object,
): Promise<ManagedOrganization> {
  const answer = await withService(options, (send) => send(command, input));
  return operator.find_organization.output.parse({ data: answer }).data;
}

function describeOrganization(organization: ManagedOrganization): string[] {
  const { id, name, status, suspended_at, suspension_reason, limits } = organization;
  const own = Object.entries(limits).map(([limit, value]) => `${limit} ${value}`);
  return describeValues({
    Id: id,
    Name: name,
    Status: suspended_at === null ? status : `${status} since ${suspended_at}: ${suspension_reason}`,
    Users: String(organization.users),
    Inboxes: String(organization.inboxes),
    Limits: own.length === 0 ? "those of the settings" : own.join(", "),
    "Time zone": organization.time_zone,
    Country: organization.default_country ?? "none",
    Currency: organization.currency,
    Created: organization.created_at,
  });
}
