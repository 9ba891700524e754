/** `tidings users create`, `tidings users list` and `tidings users reset-password`. */
import { z } from "zod";
import { users } from "../../../tools/users.ts";
import { type CommandOptions, requireOptions } from "../commands/options.ts";
import { describeTable, describeValues, print } from "../commands/print.ts";
import { sendPages, withService } from "./send.ts";

/** The response of the service. */
const WithPassword = z.object({
  id: z.string(),
  organization_id: z.string(),
  email: z.string(),
  password: z.string(),
});

const CreatedUser = WithPassword.extend({ name: z.string(), role: z.string() });

export async function runCreateUser(options: CommandOptions): Promise<void> {
  const { json, organization, role } = options;
  const input = { ...requireOptions(options, ["email", "name"]), organization, role };
  const user = CreatedUser.parse(await withService(options, (send) => send("create-user", input)));
  print(json, user, () => [
    "The password is shown only now.",
    "",
    ...describeValues({
      Id: user.id,
      "E-mail": user.email,
      Password: user.password,
      Role: user.role,
      Organization: user.organization_id,
    }),
  ]);
}

export async function runListUsers(options: CommandOptions): Promise<void> {
  const { json, search, role, organization } = options;
  const found = await withService(options, (send) =>
    sendPages(async (paging) =>
      users.list_users.output.parse(await send("list-users", { search, role, organization, ...paging })),
    ),
  );
  print(json, found, () =>
    describeTable(
      ["ID", "ROLE", "ACTIVE", "E-MAIL", "NAME"],
      found.map(({ id, role: has, is_active, email, name }) => [
        id,
        has,
        is_active ? "yes" : "no",
        email,
        name,
      ]),
    ),
  );
}

export async function runResetPassword(options: CommandOptions): Promise<void> {
  const input = requireOptions(options, ["email"]);
  const user = WithPassword.parse(await withService(options, (send) => send("reset-password", input)));
  print(options.json, user, () => [
    "The password is shown only now. The user's sessions have ended.",
    "",
    ...describeValues({ "E-mail": user.email, Password: user.password, Organization: user.organization_id }),
  ]);
}
