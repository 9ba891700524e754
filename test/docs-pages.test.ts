/** The pages under /docs/: every one is served, its links lead somewhere, and people can use it. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { groups } from "../scripts/docs/pages/navigation.ts";
import { describePages, useBrowser } from "./support/browser.ts";
import { expectAccessible, pageWidths } from "./support/expect-accessible.ts";
import { iterations } from "./support/iterations.ts";
import { useService } from "./support/served-process.ts";

const serve = useService();
const paths = groups.flatMap(({ pages }) => pages.map(({ path }) => path));

const read = async (path: string) => fetch((await serve()).address + path);

test("/docs leads to the documentation, under a policy that allows nothing else", async () => {
  const answer = await read("/docs");
  expect(answer.url).toBe(`${(await serve()).address}/docs/`);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await answer.text()).toContain("<h1>Documentation</h1>");
});

test.each(["br", "gzip"])("a page is sent with %s, the same each time", async (encoding) => {
  const page = `${(await serve()).address}/docs/api`;
  const ask = (accepted: string) => fetch(page, { headers: { "accept-encoding": accepted } });
  const plain = await ask("identity");
  expect([plain.status, plain.headers.get("content-encoding")]).toEqual([200, null]);
  const text = await plain.text();
  for (const _ of [1, 2]) {
    const answer = await ask(encoding);
    expect(answer.headers.get("content-encoding")).toBe(encoding);
    expect(answer.headers.get("vary")).toBe("accept-encoding");
    expect(Number(answer.headers.get("content-length"))).toBeLessThan(text.length / 2);
    expect(await answer.text()).toBe(text);
  }
});

test("every link of every page leads to a page, and to a heading on it", async () => {
  const texts = new Map<string, string>();
  for (const path of ["", ...paths]) {
    const answer = await read(`/docs/${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    texts.set(`/docs/${path}`, await answer.text());
  }
  const broken = [...texts].flatMap(([page, text]) =>
    Array.from(text.matchAll(/(?:href|src)="([^"]+)"/g), ([, target = ""]) => target)
      .filter((target) => !/^(https?:|data:|\/v1\/|\/docs\/(docs\.|(drawings|images)\/))/.test(target))
      .filter((target) => {
        const [path, anchor] = target.split("#");
        const found = texts.get(path || page);
        return found === undefined || (anchor !== undefined && !found.includes(`id="${anchor}"`));
      })
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test.each(["/docs/docs.js", "/docs/docs.css", "/docs/search.json"])("%s is served", async (path) => {
  expect((await read(path)).status).toBe(200);
});

test("every picture of every page is served and has a description", async () => {
  const pictures: string[] = [];
  for (const path of ["", ...paths]) {
    const html = await (await read(`/docs/${path}`)).text();
    for (const [image] of html.matchAll(/<img [^>]+>/g)) {
      const [, address = ""] = /src="([^"]+)"/.exec(image) ?? [];
      expect([image, (await read(address)).status]).toEqual([image, 200]);
      expect(image).toMatch(/alt="[^"]{20,}"/);
      pictures.push(address);
    }
  }
  expect(pictures.length).toBeGreaterThanOrEqual(4);
});

test.each(["/docs/nothing", "/docs/reference/", "/docs/..%2ftidings.js", "/docs/.htaccess"])(
  "%s is not found",
  async (path) => {
    const answer = await read(path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: "route_not_found" } });
  },
);

test("a browser gets a page for an address without one, in which the address is text", async () => {
  const { address } = await serve();
  const answer = await fetch(`${address}/docs/a&b`, { headers: { accept: "text/html,*/*;q=0.8" } });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(await answer.text()).toContain("<h1>There is no route GET /docs/a&amp;b.</h1>");
});

describePages(() => {
  const browser = useBrowser();

  async function open(path: string, width = 1280): Promise<Page> {
    const page = await browser().newPage({ viewport: { width, height: 800 } });
    page.on("pageerror", (error) => {
      throw error;
    });
    await page.goto(`${(await serve()).address}/docs/${path}`);
    return page;
  }

  // The pages of the API are made by one template: two of them stand for all.
  const templated = paths.filter((path) => path.startsWith("reference/api/"));
  const written = paths.filter((path) => !templated.includes(path));
  const shown = ["", ...templated.slice(0, 2), ...written].slice(0, iterations(3, Number.POSITIVE_INFINITY));

  test.each(shown)("axe finds nothing on the page '%s', and nothing is too wide", async (path) => {
    for (const width of pageWidths) {
      const page = await open(path, width);
      await expectAccessible(page, path);
      await page.close();
    }
  });

  test("a search with the keyboard leads to the passage", async () => {
    const page = await open("");
    await page.keyboard.press("/");
    await page.keyboard.type("idempotency");
    await page.locator("#results a").first().waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/api#idempotency");
    await page.close();
  });

  test("a search finds the guide, although the reference repeats its words", async () => {
    const page = await open("");
    await page.keyboard.press("/");
    await page.keyboard.type("approve broadcast");
    await page.locator("#results a").first().waitFor();
    const links = await page
      .locator("#results a")
      .evaluateAll((all) => all.map((each) => each.getAttribute("href")));
    expect(links.slice(0, 6).some((link) => link?.startsWith("/docs/approvals"))).toBe(true);
    await page.close();
  });

  test("an example has the address of this service, and is copied", async () => {
    const { address } = await serve();
    const page = await open("start");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const example = page.locator(".example", { hasText: "/v1/messages" }).first();
    await example.getByRole("button", { name: "Copy" }).click();
    await example.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toContain(`${address}/v1/messages`);
    expect(copied).not.toContain("localhost:3000");
    await page.close();
  });
});
