/** Plans are released from the console by a person who signed in there by password. */
import { expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { openBrowser } from "./support/console.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { createToken, localKey, openLink } from "./support/sign-in-links.ts";
import { createUserWithRole, testPassword, trustedProxyEnv } from "./support/users.ts";

const hour = 3_600_000;

const app = useTestApp({ env: trustedProxyEnv, localKey });
const { createKey, decide, send } = createApprovalHelpers(app);
const { read } = createPlanHelpers(app);

async function createPlan(number: string) {
  const { key } = await createKey({ mode: "approve" });
  const { body } = await send(number, "Your order is here.", { key });
  return read(body.data.plan.id);
}

test("a session that began with a password releases plans for 12 hours", async () => {
  const { email } = await createUserWithRole(app, "admin");
  const browser = openBrowser(app);
  const { access_token } = await browser.signIn(email, testPassword);
  expect(await decide("approve", await createPlan("+14155554001"), access_token)).toMatchObject({
    status: 200,
    body: { data: { plan: { status: "run", decided_by: { type: "user" } } } },
  });
  await app.advanceTime(11 * hour);
  await browser.send("POST /console/session");
  await app.advanceTime(hour + 1);
  const { body } = await browser.send("POST /console/session");
  expect(await decide("approve", await createPlan("+14155554002"), body.data.access_token)).toMatchObject({
    status: 403,
    body: { error: { code: "sign_in_again" } },
  });
});

test("a session that began with a link releases and declines no plan, also right after it", async () => {
  const { email } = await createUserWithRole(app, "owner");
  const browser = openBrowser(app);
  const linked = await openLink(browser, await createToken(app, email));
  const plan = await createPlan("+14155554003");
  const tokens = [linked.body, (await browser.send("POST /console/session")).body];
  for (const { data } of tokens) {
    for (const decision of ["approve", "decline"] as const) {
      expect(await decide(decision, plan, data.access_token)).toMatchObject({
        status: 403,
        body: { error: { code: "sign_in_again" } },
      });
    }
  }
  expect(await read(plan.id)).toMatchObject({ status: "awaiting_approval" });
  // With the password, the same browser can.
  const { access_token } = await browser.signIn(email, testPassword);
  expect(await decide("approve", plan, access_token)).toMatchObject({ status: 200 });
});
