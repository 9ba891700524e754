/** What the first start made, as a person is told once. */
import type { FirstStart } from "../platform/bootstrap.ts";

export function describeFirstStart({ email, password, key, isGiven }: FirstStart): string[] {
  return [
    `  Key    ${isGiven.key ? "as TIDINGS_BOOTSTRAP_KEY says" : `${key} (shown only now)`}`,
    `  Owner  ${email}, password ${isGiven.password ? "as TIDINGS_OWNER_PASSWORD says" : `${password} (shown only now)`}`,
  ];
}
