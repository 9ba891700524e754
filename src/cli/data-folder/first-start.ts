/** Formats the credentials that the first start created; they are printed once. */
import type { BootstrapResult } from "../../platform/operations/bootstrap.ts";

export function describeFirstStart({ email, password, key, isProvided }: BootstrapResult): string {
  return [
    "Tidings was started for the first time. Keep these: they are shown only now.",
    "",
    `  API key   ${isProvided.key ? "as TIDINGS_BOOTSTRAP_KEY says" : key}`,
    `  Owner     ${email}, password ${isProvided.password ? "as TIDINGS_OWNER_PASSWORD says" : password}`,
    "",
  ].join("\n");
}
