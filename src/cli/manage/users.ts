/** `tidings users create` and `tidings users reset-password`. */
import { z } from "zod";
import { type CommandOptions, requireOptions } from "../commands/options.ts";
import { describeValues, print } from "../commands/print.ts";
import { withService } from "./send.ts";

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

export async function runResetPassword(options: CommandOptions): Promise<void> {
  const input = requireOptions(options, ["email"]);
  const user = WithPassword.parse(await withService(options, (send) => send("reset-password", input)));
  print(options.json, user, () => [
    "The password is shown only now. The user's sessions have ended.",
    "",
    ...describeValues({ "E-mail": user.email, Password: user.password, Organization: user.organization_id }),
  ]);
}
