/** What the first start made, as a person is told once. */
import type { FirstStart } from "../platform/bootstrap.ts";

export function describeFirstStart({ email, password, key, isGiven }: FirstStart): string {
  return [
    "Tidings was started for the first time. Keep these: they are shown only now.",
    "",
    `  API key   ${isGiven.key ? "as TIDINGS_BOOTSTRAP_KEY says" : key}`,
    `  Owner     ${email}, password ${isGiven.password ? "as TIDINGS_OWNER_PASSWORD says" : password}`,
    "",
  ].join("\n");
}
