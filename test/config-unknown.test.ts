/** Unknown settings: an error near a known one, else a warning. */
import { expect, test } from "vitest";
import { readConfig } from "../src/config/index.ts";

const secret = "a secret value of a setting";

test.each([
  ["TIDINGS_READONLY", "TIDINGS_READ_ONLY"],
  ["TIDINGS_READ_ONLY_MODE", "TIDINGS_READ_ONLY"],
  ["TIDINGS_TOOL_DENY", "TIDINGS_TOOLS_DENY"],
  ["TIDINGS_DENY_TOOLS", "TIDINGS_TOOLS_DENY"],
  ["TIDINGS_DATADIR", "TIDINGS_DATA_DIR"],
  ["TIDINGS_SECRET_KEY", "TIDINGS_SECRET"],
])("%s is an error that names %s", (name, nearest) => {
  expect(() => readConfig({ [name]: secret })).toThrow(`Unknown setting ${name}. Did you mean ${nearest}?`);
});

test("an unknown setting near no other causes a warning, such as those of Kubernetes for a service", () => {
  const names = ["TIDINGS_PORT", "TIDINGS_SERVICE_HOST", "TIDINGS_PORT_3000_TCP_PROTO", "TIDINGS_VERSION"];
  const { warnings } = readConfig({ ...Object.fromEntries(names.map((name) => [name, "x"])), OTHER: "mine" });
  expect(warnings.map(({ message }) => message)).toEqual(
    names.map((name) => `Unknown setting ${name} is ignored.`),
  );
});
