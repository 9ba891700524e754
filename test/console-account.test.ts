/** The page of the person's own account: name, e-mail address and password. */
import { expect, test } from "vitest";
import { users } from "../tools/users.ts";
import { ownerEmail, useTestApp } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { consoleFolder, signInByKeyboard, useConsolePages } from "./support/console-pages.ts";
import { expectAccessible, pageWidths } from "./support/expect-accessible.ts";

const password = "a long enough password";
/** After it, five more passwords can be tried from the same address. */
const windowMs = 5 * 60_000;

describePages(() => {
  const app = useTestApp({ consoleFolder });
  const { open, openSignedIn } = useConsolePages(() => app.address);

  const addAgent = async (email: string, name: string) => {
    await app.advanceTime(windowMs);
    await app.call(users.create_user, { email, name, password, role: "agent" });
    return { email, password };
  };

  test("a person of any role changes the own name and e-mail address", async () => {
    const person = await addAgent("noor@example.com", "Noor");
    const page = await openSignedIn("", {}, person);
    await page.getByRole("button", { name: "You and your preferences" }).click();
    await page.getByRole("button", { name: "Your account" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Noor <b>Haddad</b>");
    await page.getByRole("button", { name: "Save the name" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("banner").getByText("Noor <b>Haddad</b>").waitFor();

    const email = page.getByRole("region", { name: "E-mail address" });
    await email.getByLabel("E-mail address").fill("haddad@example.com");
    await email.getByLabel("Your password").fill("wrong");
    await email.getByRole("button", { name: "Change the e-mail address" }).click();
    await email.getByText("This is not your password.").waitFor();
    await email.getByLabel("Your password").fill(password);
    await email.getByLabel("E-mail address").fill(ownerEmail);
    await email.getByRole("button", { name: "Change the e-mail address" }).click();
    await email.getByText("Somebody with this e-mail address is here already").waitFor();
    await email.getByLabel("E-mail address").fill("haddad@example.com");
    await email.getByRole("button", { name: "Change the e-mail address" }).click();
    await page.getByText("sign in with the new address from now on").waitFor();
    await page.context().close();
  });

  test("a new password needs the present one, ends the other sessions, and keeps the page open", async () => {
    const person = await addAgent("sam@example.com", "Sam");
    const page = await openSignedIn("settings/account", {}, person);
    const other = await open("");
    await signInByKeyboard(other, person);
    const fields = page.getByRole("region", { name: "Password" });
    const fill = async (present: string, next: string, again: string) => {
      await fields.getByLabel("Current password").fill(present);
      await fields.getByLabel("New password", { exact: true }).fill(next);
      await fields.getByLabel("New password again").fill(again);
      await fields.getByRole("button", { name: "Change the password" }).click();
    };
    const next = "another long password";
    await fill(password, next, "a different password");
    await fields.getByText("The two new passwords are different.").waitFor();
    await fill("wrong", next, next);
    await fields.getByText("This is not your password.").waitFor();
    await fill(password, next, next);
    await page.getByText("Your sessions in other browsers have ended.").waitFor();
    expect(await fields.getByLabel("Current password").inputValue()).toBe("");
    // The page goes on with a new session.
    await page.getByRole("button", { name: "Show my sessions" }).click();
    await page.getByRole("dialog").getByText("This browser").waitFor();
    expect(await page.getByRole("dialog").getByRole("listitem").count()).toBe(1);
    await app.advanceTime(windowMs);
    await other.goto(`${app.address}/console/`);
    await signInByKeyboard(other, { ...person, password: next });
    await Promise.all([page.context().close(), other.context().close()]);
  });

  test("axe finds nothing on the page, and nothing is too wide", async () => {
    await app.advanceTime(windowMs);
    for (const width of pageWidths) {
      const page = await openSignedIn("settings/account", { width });
      await page.getByRole("button", { name: "Change the password" }).waitFor();
      await expectAccessible(page, "account");
      await page.context().close();
    }
  });
});
