/** Links and sessions in a browser, in front of a service that runs as a process of its own. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { expect, test } from "vitest";
import { openDataFolder } from "../src/cli/data-folder/data-folder.ts";
import { users } from "../tools/users.ts";
import { ownerEmail, ownerPassword } from "./support/app.ts";
import { browserPath, describePages, useBrowser } from "./support/browser.ts";
import { expectAccessible, pageWidths } from "./support/expect-accessible.ts";
import { useService } from "./support/served-process.ts";
import { createToken } from "./support/sign-in-links.ts";
import { testPassword, trustedProxyEnv } from "./support/users.ts";

const serve = useService({
  ...trustedProxyEnv,
  TIDINGS_OWNER_EMAIL: ownerEmail,
  TIDINGS_OWNER_PASSWORD: ownerPassword,
});

/** The address of a new link, as `tidings console` prints it. */
async function createLink(user?: string): Promise<string> {
  const { address, processes } = await serve();
  const folder = await openDataFolder(processes.env.TIDINGS_DATA_DIR ?? "");
  const token = await createToken({ address, key: await folder.credential() }, user);
  return `${address}/console/#login=${token}`;
}

let people = 0;

/** A person beside the owner. */
async function createPerson() {
  people += 1;
  const person = { email: `bea.${people}@example.com`, name: `Bea ${people}`, role: "agent" as const };
  const { address, client } = await serve();
  const answer = await fetch(`${address}/v1/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": `203.0.113.${people}` },
    body: JSON.stringify({ email: ownerEmail, password: ownerPassword }),
  });
  const { data } = (await answer.json()) as { data: { access_token: string } };
  await client.call(users.create_user, { ...person, password: testPassword }, { key: data.access_token });
  return person;
}

describePages(() => {
  const browser = useBrowser();
  let contexts = 0;

  interface Form {
    readonly userAgent?: string;
    readonly width?: number;
  }

  /** A page of a browser of its own, which has an address of its own for the limits of sign-ins. */
  async function open(url: string, { width = 1280, ...form }: Form = {}): Promise<Page> {
    contexts += 1;
    const context = await browser().newContext({
      ...form,
      viewport: { width, height: 800 },
      extraHTTPHeaders: { "x-forwarded-for": `198.51.100.${contexts}` },
    });
    const page = await context.newPage();
    page.on("pageerror", (error) => {
      throw error;
    });
    await page.goto(url);
    return page;
  }

  /** Opens a link in the same tab, in which only the fragment of the address changes. */
  const follow = (page: Page, url: string) => page.evaluate(`location.href = ${JSON.stringify(url)}`);

  const signedInAs = (page: Page, name: string) =>
    page.getByRole("button", { name: "You and your preferences" }).getByText(name, { exact: true }).waitFor();

  const focused = (page: Page) => page.evaluate("document.activeElement.textContent");

  test("a link signs in, leaves the address, and says what to do when it was used", async () => {
    const link = await createLink();
    const page = await open(link);
    await signedInAs(page, "Owner");
    expect(page.url()).toBe(`${(await serve()).address}/console/`);
    await page.reload();
    await signedInAs(page, "Owner");
    const other = await open(link);
    const alert = other.getByRole("alert").getByText("This link was used or has expired");
    await alert.waitFor();
    expect(await alert.textContent()).toContain("Run tidings console on the machine of the service");
    expect(other.url()).toBe(`${(await serve()).address}/console/`);
    await page.context().close();
    await other.context().close();
  });

  test("a link that the service could not be asked about is tried again", async () => {
    const page = await open(`${(await serve()).address}/console/`);
    await page.getByLabel("Password").waitFor();
    await page.close();
    const again = await page.context().newPage();
    await again.route("**/console/link", (route) => route.abort());
    await again.goto(await createLink());
    await again.getByText("The service can't be reached.").waitFor();
    await again.unroute("**/console/link");
    await again.getByRole("button", { name: "Try again" }).click();
    await signedInAs(again, "Owner");
    await again.context().close();
  });

  test("a link asks before another person's session ends, by keyboard alone", async () => {
    const { email, name } = await createPerson();
    const page = await open(await createLink());
    await signedInAs(page, "Owner");
    const link = await createLink(email);
    await follow(page, link);
    const dialog = page.getByRole("dialog", { name: `Sign in as ${name}?` });
    await dialog.getByText(`You are signed in as Owner (${ownerEmail}).`).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.reload();
    await signedInAs(page, "Owner");
    await follow(page, link);
    await dialog.waitFor();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe(`Sign in as ${name}`);
    await page.keyboard.press("Enter");
    await signedInAs(page, name);
    await page.reload();
    await signedInAs(page, name);
    await page.context().close();
  });

  test("sessions are listed and ended by keyboard alone, and the other browser notices", async () => {
    const { email, name } = await createPerson();
    const page = await open(await createLink(email));
    const phone =
      "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36";
    const lost = await open(await createLink(email), { userAgent: phone });
    const third = await open(await createLink(email));
    // The list is read once.
    for (const other of [lost, third]) {
      await other.getByRole("heading", { name: "Inbox" }).waitFor({ state: "attached" });
    }
    await page.getByRole("button", { name: "You and your preferences" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("Sessions");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Sessions" });
    const rows = dialog.getByRole("listitem");
    await expect.poll(() => rows.count()).toBe(3);
    expect(await rows.filter({ hasText: "This browser" }).getByRole("button").count()).toBe(0);
    const end = dialog.getByRole("button", { name: "End the session of Chrome on Android that began on" });
    await end.focus();
    await page.keyboard.press("Enter");
    await dialog.getByRole("status").getByText("Ended").waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    expect(await page.evaluate("document.activeElement.tagName")).toBe("UL");
    await lost.getByLabel("Password").waitFor();
    await dialog.getByRole("button", { name: "End all other sessions" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => rows.count()).toBe(1);
    expect(await dialog.getByRole("button", { name: "End all other sessions" }).count()).toBe(0);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe(`${name}: you and your preferences`);
    await Promise.all(
      browser()
        .contexts()
        .map((context) => context.close()),
    );
  });

  test("axe finds nothing on the dialogs and the message, and nothing is too wide", async () => {
    const { email, name } = await createPerson();
    const used = await createLink(email);
    await (await open(used)).getByText(name).waitFor({ state: "attached" });
    const offered = await createLink(email);
    for (const width of pageWidths) {
      const page = await open(used, { width });
      await page.getByText("This link was used or has expired").waitFor();
      await expectAccessible(page, "used link");
      await follow(page, await createLink());
      await page.getByRole("button", { name: "You and your preferences" }).click();
      await page.getByRole("button", { name: "Sessions" }).click();
      await page.getByText("This browser").waitFor();
      await expectAccessible(page, "sessions");
      await page.keyboard.press("Escape");
      await follow(page, offered);
      await page.getByRole("dialog", { name: `Sign in as ${name}?` }).waitFor();
      await expectAccessible(page, "offer");
      await page.context().close();
    }
  });

  test("the browser can install it as an app", async () => {
    // In the contexts of the other tests, which are private windows, nothing can be installed.
    const profile = await mkdtemp(join(tmpdir(), "tidings-profile-"));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: browserPath,
      args: ["--no-sandbox"],
    });
    try {
      const page = await context.newPage();
      await page.goto(`${(await serve()).address}/console/`);
      await page.getByLabel("Password").waitFor();
      const devtools = await context.newCDPSession(page);
      const manifest = await devtools.send("Page.getAppManifest");
      const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
      expect({ errors: manifest.errors, installabilityErrors }).toEqual({
        errors: [],
        installabilityErrors: [],
      });
      const { icons } = JSON.parse(manifest.data ?? "{}") as { icons: { src: string; type: string }[] };
      for (const { src, type } of icons) {
        const icon = await fetch(new URL(src, manifest.url));
        expect([src, icon.status, icon.headers.get("content-type")]).toEqual([src, 200, type]);
      }
    } finally {
      await context.close();
      await rm(profile, { recursive: true });
    }
  });
});
