/** Fairness: the requests of one organization don't keep those of another waiting, and a busy database says so. */
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { FairQueue, NoFreeConnectionError, runFor } from "../src/database/fair-queue.ts";
import { ReadTimeoutError } from "../src/database/query/index.ts";
import { createAuthenticator } from "../src/http/admission/index.ts";
import { hashPassword } from "../src/platform/identity/index.ts";
import { modules, type Platform } from "../src/platform/index.ts";
import { implement } from "../src/platform/kernel/module.ts";
import { contacts } from "../tools/contacts.ts";
import { one, operation } from "../tools/contract/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { sendRaw } from "./support/raw-http.ts";

const problems: Record<string, () => Error> = {
  busy: () => new NoFreeConnectionError("No connection"),
  slow: () => new ReadTimeoutError("Too slow"),
};

const contract = {
  read_problem: operation({
    method: "GET",
    path: "/v1/test-problems/{name}",
    scope: "inbox:read",
    title: "Read problem",
    description: "Read a problem.",
    input: z.object({ name: z.string() }),
    output: one(z.object({})),
  }),
};

const problemModule = implement(contract, {
  operations: {
    async read_problem({ name }) {
      throw problems[name]?.() ?? new Error("unknown");
    },
  },
});

const app = useTestApp({ enabledModules: { ...modules, problems: problemModule } });

const acquireFor = (queue: FairQueue, organization: string, served: string[]) =>
  runFor(organization, async () => {
    await queue.acquire();
    served.push(organization);
  });

test("waiting requests are served round-robin by organization, and in order within one", async () => {
  const queue = new FairQueue(1, 60_000);
  await queue.acquire();
  const served: string[] = [];
  const waiting = ["a", "a", "a", "b", "c", "b"].map((organization) =>
    acquireFor(queue, organization, served),
  );
  expect(queue.waiting).toBe(6);
  for (let count = 1; count <= 6; count += 1) {
    queue.release();
    await expect.poll(() => served).toHaveLength(count);
  }
  await Promise.all(waiting);
  expect(served).toEqual(["a", "b", "c", "a", "b", "a"]);
});

test("nothing is limited while nothing else waits", async () => {
  const queue = new FairQueue(3, 60_000);
  const served: string[] = [];
  await Promise.all(["a", "a", "a"].map((organization) => acquireFor(queue, organization, served)));
  expect({ served, waiting: queue.waiting }).toEqual({ served: ["a", "a", "a"], waiting: 0 });
});

test("a request that has waited too long fails, leaves the queue, and costs no place", async () => {
  const queue = new FairQueue(1, 20);
  await queue.acquire();
  await expect(runFor("a", () => queue.acquire())).rejects.toThrow(NoFreeConnectionError);
  expect(queue.waiting).toBe(0);
  queue.release();
  await queue.acquire();
  await expect(queue.acquire()).rejects.toThrow("No database connection became free in 20 ms");
});

test("passwords are hashed round-robin by organization, few at once", async () => {
  const ended: string[] = [];
  const hash = (organization: string) =>
    runFor(organization, async () => {
      await hashPassword("correct horse");
      ended.push(organization);
    });
  await Promise.all([...Array.from({ length: 16 }, () => hash("a")), hash("b")]);
  expect(ended.indexOf("b")).toBeLessThan(6);
});

test("a known credential is looked up in the queue of its organization", async () => {
  const owners: string[] = [];
  // The only member that is read.
  const caller = { organization_id: "org_one" } as Awaited<ReturnType<Platform["authenticate"]>>;
  const authenticate = createAuthenticator({
    authenticate: async () => caller,
    runFor: (owner, work) => {
      owners.push(String(owner));
      return work();
    },
  });
  await authenticate("first");
  expect(owners).toEqual([]);
  await authenticate("first");
  await authenticate("second");
  expect(owners).toEqual(["org_one"]);
});

test("readiness is checked once for all requests that wait for it", async () => {
  const { queries } = app.server.database;
  const select = vi.spyOn(queries, "selectFrom");
  const { port } = new URL(app.server.address);
  const request = (connection: string) => [
    "GET /readyz HTTP/1.1",
    "Host: localhost",
    `Connection: ${connection}`,
    "",
  ];
  const answer = await sendRaw(Number(port), [
    ...Array(9).fill(request("keep-alive")).flat(),
    ...request("close"),
  ]);
  expect(answer.body.match(/"ready"/g)).toHaveLength(10);
  expect(select.mock.calls.filter(([table]) => table === "settings").length).toBeLessThan(10);
});

test("a busy database answers 503 with Retry-After, and a slow search says what to do", async () => {
  const busy = await app.fetch("/v1/test-problems/busy");
  expect({ status: busy.status, after: busy.headers.get("retry-after") }).toEqual({
    status: 503,
    after: "1",
  });
  const slow = await app.fetch("/v1/test-problems/slow");
  expect(slow.status).toBe(422);
  expect(await slow.json()).toMatchObject({ error: { code: "query_too_slow" } });
});

test("a search counts each word once, and has at most eight", async () => {
  await app.call(contacts.create_contact, { phone_number: "+14155550135", name: "Ada Lovelace" });
  const found = async (search: string) => (await app.call(contacts.list_contacts, { search })).data.length;
  expect(await found("a ".repeat(120))).toBe(1);
  expect(await found("a d a l o v e c")).toBe(1);
  const failure = await expectFailure(app.call(contacts.list_contacts, { search: "a b c d e f g h i" }));
  expect(failure).toMatchObject({
    status: 400,
    code: "too_many_words",
    error: { param: "search", count: 9 },
  });
});

test("a cursor that has seen more transactions than the database had is rejected", async () => {
  const { cursor } = (await app.call(webhooks.list_events, {})).data;
  expect((await app.call(webhooks.list_events, { after: cursor })).data.events).toEqual([]);
  const far = "1:999999999999999:";
  expect(await expectFailure(app.call(webhooks.list_events, { after: far }))).toMatchObject({
    status: 400,
    code: "invalid_cursor",
  });
});
