/** The command that starts the MCP server: who gets it from the console, and where. */
import { describe, expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { openBrowser } from "./support/console.ts";
import { createUserWithRole, testPassword, trustedProxyEnv } from "./support/users.ts";

const command = { command: process.execPath, args: [process.argv[1], "mcp"] };

describe("where the service can be used on its machine alone", () => {
  const app = useTestApp();

  test.each([
    ["owner", command],
    ["admin", command],
    ["supervisor", null],
    ["agent", null],
  ] as const)("%s gets %j", async (role, expected) => {
    const { email } = await createUserWithRole(app, role);
    expect(await openBrowser(app).signIn(email, testPassword)).toMatchObject({ assistant_command: expected });
  });
});

describe.each<[string, Readonly<Record<string, string>>]>([
  ["behind a proxy", trustedProxyEnv],
  ["with a public address", { TIDINGS_PUBLIC_URL: "http://tidings.example.com" }],
])("%s", (_, env) => {
  const app = useTestApp({ env });

  test("not even an owner gets the paths of the machine", async () => {
    const { email } = await createUserWithRole(app, "owner");
    const browser = openBrowser(app);
    const { status, body } = await browser.send("POST /console/login", {
      json: { email, password: testPassword },
      headers: { origin: env.TIDINGS_PUBLIC_URL ?? app.address },
    });
    expect([status, body.data.assistant_command]).toEqual([200, null]);
  });
});
