/**
 * Fairness: the requests of one organization don't keep those of another waiting, and a
 * busy database says so.
 */
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { ReadTimeoutError } from "../src/database/query/index.ts";
import {
  anonymousOwner,
  batchesOwner,
  FairQueue,
  NoFreePlaceError,
  recordOwner,
  runFor,
} from "../src/database/sharing/fair-queue.ts";
import { createAuthenticator } from "../src/http/admission/index.ts";
import { hashPassword } from "../src/platform/account/identity/index.ts";
import { implement } from "../src/platform/foundation/kernel/module.ts";
import { modules, type Platform } from "../src/platform/index.ts";
import { contacts } from "../tools/contacts.ts";
import { one, operation } from "../tools/contract/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { sendRaw } from "./support/raw-http.ts";

const problems: Record<string, () => Error> = {
  busy: () => new NoFreePlaceError("No connection"),
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

/**
 * A queue, its clock, and what it has served: places are given back in the order in which they were taken.
 */
function createQueue(size: number, timeoutMs = 60_000) {
  const clock = { ms: 0 };
  const queue = new FairQueue({ size, timeoutMs, place: "place", now: () => clock.ms });
  const served: string[] = [];
  const releases: (() => void)[] = [];
  return {
    queue,
    clock,
    served,
    ask: (organization: string) =>
      runFor(organization, async () => {
        releases.push(await queue.acquire());
        served.push(organization);
      }),
    release: () => releases.shift()?.(),
  };
}

test("waiting requests are served round-robin by organization, and in order within one", async () => {
  const { queue, served, ask, release } = createQueue(1);
  await ask("first");
  const waiting = Promise.all(["a", "a", "a", "b", "c", "b"].map(ask));
  expect(queue.waiting).toBe(6);
  await meanwhile(waiting, async () => {
    for (let count = 1; count <= 6; count += 1) {
      release();
      await expect.poll(() => served).toHaveLength(count + 1);
    }
  });
  expect(served).toEqual(["first", "a", "b", "c", "a", "b", "a"]);
});

test("an organization that is active alone may hold all places", async () => {
  const { queue, served, ask } = createQueue(10);
  await Promise.all(Array.from({ length: 10 }, () => ask("a")));
  expect({ served: served.length, waiting: queue.waiting }).toEqual({ served: 10, waiting: 0 });
});

test("an organization may hold all places while only requests of the service beside it are active", async () => {
  const { queue, served, ask, release } = createQueue(10);
  for (const owner of [batchesOwner, anonymousOwner, recordOwner]) {
    await ask(owner);
    release();
  }
  await Promise.all(Array.from({ length: 10 }, () => ask("a")));
  expect({ served: served.length, waiting: queue.waiting }).toEqual({ served: 13, waiting: 0 });
});

test("while two organizations are active, each may hold three of ten places", async () => {
  const { queue, clock, served, ask, release } = createQueue(10);
  await ask("b");
  release();
  const asked = Promise.all(Array.from({ length: 10 }, () => ask("a")));
  await meanwhile(asked, async () => {
    await expect.poll(() => served).toEqual(["b", "a", "a", "a"]);
    await ask("b");
    expect(served.at(-1)).toBe("b");
    // Queries of the service itself are not limited.
    const own = await Promise.all([queue.acquire(), queue.acquire(), queue.acquire(), queue.acquire()]);
    expect(queue.waiting).toBe(7);
    for (const giveBack of own) {
      giveBack();
    }
    expect(queue.waiting).toBe(7);
    clock.ms += 1_000;
    release();
  });
  expect({ served: served.length, waiting: queue.waiting }).toEqual({ served: 12, waiting: 0 });
});

test("a request that has waited too long fails, leaves the queue, and costs no place", async () => {
  const { queue, ask, release } = createQueue(1, 20);
  await ask("a");
  await expect(ask("a")).rejects.toThrow(NoFreePlaceError);
  expect(queue.waiting).toBe(0);
  release();
  await ask("a");
  await expect(queue.acquire()).rejects.toThrow("No place became free in 20 ms");
});

test("passwords are hashed round-robin by organization, few at once", async () => {
  const ended: string[] = [];
  const hash = (organization: string) =>
    runFor(organization, async () => {
      await hashPassword("correct horse");
      ended.push(organization);
    });
  await Promise.all([...Array.from({ length: 16 }, () => hash("a")), hash("b")]);
  // Third in turn; in the order of arrival it would be the last of 17.
  expect(ended.indexOf("b")).toBeLessThan(10);
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
  expect(select.mock.calls.filter(([table]) => table === "settings")).toHaveLength(1);
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
  const { cursor } = (await app.call(webhooks.list_events, {})).meta;
  expect((await app.call(webhooks.list_events, { after: cursor })).data).toEqual([]);
  const far = "1:999999999999999:";
  expect(await expectFailure(app.call(webhooks.list_events, { after: far }))).toMatchObject({
    status: 400,
    code: "invalid_cursor",
  });
});
