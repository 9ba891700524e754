/** Calls to third parties: made at most once for each idempotency key, whatever happens to the process. */
import { expect, test } from "vitest";
import { z } from "zod";
import { implement, outward } from "../src/platform/foundation/kernel/module.ts";
import { modules } from "../src/platform/index.ts";
import { one, operation } from "../tools/contract/index.ts";
import { fail } from "../tools/errors.ts";
import { uploads } from "../tools/uploads.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { startReceiver } from "./support/receiver.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

/** A third party: the test decides how each call ends, and what a look-up finds. */
const orders = {
  calls: [] as string[],
  call: async (name: string): Promise<{ id: string }> => ({ id: `order ${name}` }),
  found: new Map<string, { id: string }>(),
};

const contract = {
  create_order: operation({
    method: "POST",
    path: "/v1/test-orders",
    scope: "inbox:write",
    effect: "outward",
    title: "Create order",
    description: "Create an order.",
    input: z.object({ name: z.string() }),
    output: one(z.object({ id: z.string(), by: z.string() })),
  }),
};

const ordersModule = implement(contract, {
  operations: {
    create_order: outward({
      intent: z.object({ name: z.string() }),
      async begin({ name }: { readonly name: string }) {
        if (name === "") {
          throw fail("inbox_not_found");
        }
        return { name };
      },
      async call({ name }) {
        orders.calls.push(name);
        return orders.call(name);
      },
      async find({ name }) {
        return orders.found.get(name);
      },
      async record({ id }, _, { actor }) {
        return { data: { id, by: actor.name } };
      },
    }),
  },
});

const app = useTestApp({
  enabledModules: { ...modules, orders: ordersModule },
  env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true", TIDINGS_ALLOW_LOCAL_SOURCES: "true" },
});

const order = (name: string, key: string) =>
  app.fetch("/v1/test-orders", { method: "POST", json: { name }, headers: { "idempotency-key": key } });

/** The calls that are running have been cut off: their process is dead, and its lease has passed. */
async function passLeases(): Promise<void> {
  await app.server.database.queries
    .updateTable("outward_calls")
    .set({ running_until: new Date(app.now().getTime() - 1).toISOString() })
    .execute();
}

const intents = () => app.server.database.queries.selectFrom("outward_calls").selectAll().execute();

function defer() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Holds calls until they are released. */
function holdCalls() {
  const { promise, resolve } = defer();
  const began = orders.calls.length;
  orders.call = async (name) => {
    await promise;
    return { id: `order ${name}` };
  };
  return {
    release: () => resolve(),
    isRunning: () => expect.poll(() => orders.calls.length).toBe(began + 1),
  };
}

test("a repeated key gets the stored response, and the third party is called once", async () => {
  orders.call = async (name) => ({ id: `order ${name}` });
  const first = await order("a", "once");
  expect(await first.json()).toEqual({ data: { id: "order a", by: "First key" } });
  const again = await order("a", "once");
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(await again.json()).toEqual({ data: { id: "order a", by: "First key" } });
  expect(orders.calls.filter((name) => name === "a")).toHaveLength(1);
  expect((await order("other", "once")).status).toBe(422);
  expect(await intents()).toEqual([]);
});

test("the intent is committed before the call, and a second request meanwhile is rejected", async () => {
  const held = holdCalls();
  const first = await meanwhile(order("b", "twin"), async () => {
    await held.isRunning();
    expect(await intents()).toMatchObject([{ operation: "create_order", intent: { name: "b" } }]);
    const second = await order("b", "twin");
    expect({ status: second.status, after: second.headers.get("retry-after") }).toEqual({
      status: 409,
      after: "1",
    });
    expect(await second.json()).toMatchObject({ error: { code: "request_in_progress" } });
    held.release();
  });
  expect(first.status).toBe(200);
  expect((await order("b", "twin")).headers.get("idempotency-replayed")).toBe("true");
  expect(orders.calls.filter((name) => name === "b")).toHaveLength(1);
});

test("a call whose process died is looked up, and its result is the response", async () => {
  const held = holdCalls();
  await meanwhile(order("c", "found"), async () => {
    await held.isRunning();
    await passLeases();
    orders.found.set("c", { id: "order c" });
    const repeated = await order("c", "found");
    expect(await repeated.json()).toEqual({ data: { id: "order c", by: "First key" } });
    held.release();
  });
  expect(orders.calls.filter((name) => name === "c")).toHaveLength(1);
  expect(await intents()).toEqual([]);
});

test("a look-up that finds a caller's mistake answers it, for every request with the key", async () => {
  const held = holdCalls();
  await meanwhile(order("rejected", "rejected"), async () => {
    await held.isRunning();
    await passLeases();
    orders.found.get = () => {
      throw fail("inbox_not_found");
    };
    try {
      await app.advanceTime(60_000);
    } finally {
      orders.found = new Map();
    }
    const repeated = await order("rejected", "rejected");
    expect({ status: repeated.status, body: await repeated.json() }).toMatchObject({
      status: 404,
      body: { error: { code: "inbox_not_found" } },
    });
    expect(await intents()).toEqual([]);
    held.release();
  });
});

test("a call that can't be looked up has an unknown outcome, for every request with its key", async () => {
  const held = holdCalls();
  const slow = await meanwhile(order("d", "unknown"), async () => {
    await held.isRunning();
    await passLeases();
    const repeated = await order("d", "unknown");
    expect({ status: repeated.status, body: await repeated.json() }).toMatchObject({
      status: 409,
      body: { error: { code: "outcome_unknown" } },
    });
    held.release();
  });
  // The process was only slow: its own caller gets the response that was stored meanwhile.
  expect(await slow.json()).toMatchObject({ error: { code: "outcome_unknown" } });
  expect(await (await order("d", "unknown")).json()).toMatchObject({ error: { code: "outcome_unknown" } });
  expect(orders.calls.filter((name) => name === "d")).toHaveLength(1);
});

test("a call that is not repeated is ended by a job", async () => {
  const held = holdCalls();
  await meanwhile(order("e", "job"), async () => {
    await held.isRunning();
    await passLeases();
    orders.found.set("e", { id: "order e" });
    await app.advanceTime(60_000);
    expect(await intents()).toEqual([]);
    expect(await (await order("e", "job")).json()).toEqual({ data: { id: "order e", by: "First key" } });
    held.release();
  });
});

test("a failure that states that nothing happened is stored if it is permanent, and frees the key if not", async () => {
  orders.call = async () => {
    throw fail("media_not_sendable");
  };
  const refused = await order("f", "permanent");
  expect(refused.status).toBe(fail("media_not_sendable").status);
  orders.call = async (name) => ({ id: `order ${name}` });
  expect((await order("f", "permanent")).status).toBe(refused.status);
  orders.call = async () => {
    throw fail("unavailable", { reason: "the processor is down." });
  };
  expect((await order("g", "transient")).status).toBe(503);
  orders.call = async (name) => ({ id: `order ${name}` });
  expect((await order("g", "transient")).status).toBe(200);
});

test("an unexpected error leaves the outcome unknown", async () => {
  orders.call = async () => {
    throw new Error("The connection broke");
  };
  expect((await order("h", "broken")).status).toBe(500);
  orders.call = async (name) => ({ id: `order ${name}` });
  expect(await (await order("h", "broken")).json()).toMatchObject({ error: { code: "outcome_unknown" } });
  expect(orders.calls.filter((name) => name === "h")).toHaveLength(1);
});

test("a key may be used again after 24 hours", async () => {
  expect((await order("i", "day")).status).toBe(200);
  await app.server.database.queries
    .updateTable("idempotency")
    .set({ created_at: new Date(app.now().getTime() - 25 * 3_600_000).toISOString() })
    .where("key", "=", "day")
    .execute();
  expect(await (await order("j", "day")).json()).toMatchObject({ data: { id: "order j" } });
});

test("invalid input makes no call and leaves no intent", async () => {
  const before = orders.calls.length;
  expect((await order("", "invalid")).status).toBe(404);
  expect({ calls: orders.calls.length, intents: await intents() }).toEqual({ calls: before, intents: [] });
});

test("a webhook test that is repeated with its key is sent once", async () => {
  await using receiver = await startWebhookReceiver();
  const { data } = await app.call(webhooks.create_webhook, { url: receiver.url, events: ["message.sent"] });
  receiver.secret = data.signing_secret;
  const run = () => app.call(webhooks.test_webhook, { id: data.id }, { idempotencyKey: "test once" });
  expect(await run()).toEqual(await run());
  expect(receiver.received).toHaveLength(1);
  await app.call(webhooks.delete_webhook, { id: data.id });
});

test("an upload by address is fetched once, and rejected while it is fetched", async () => {
  let requests = 0;
  const { promise, resolve } = defer();
  await using receiver = await startReceiver(async (_, response) => {
    requests += 1;
    await promise;
    response.writeHead(200, { "content-type": "text/csv" }).end("phone\n+14155550100\n");
  });
  const url = `http://127.0.0.1:${receiver.port}/people.csv`;
  const upload = () => app.call(uploads.upload_file, { url }, { idempotencyKey: "by address" });
  const repeatMeanwhile = async () => {
    await expect.poll(() => requests).toBe(1);
    const headers = { "idempotency-key": "by address" };
    const twin = await app.fetch("/v1/uploads", { method: "POST", json: { url }, headers });
    expect(await twin.json()).toMatchObject({ error: { code: "request_in_progress" } });
    // The client repeats a request that is in progress until there is a response.
    const repeated = upload();
    resolve();
    return repeated;
  };
  const [first, repeated] = await Promise.all([upload(), repeatMeanwhile()]);
  expect(repeated.data.id).toBe(first.data.id);
  expect({ requests, intents: await intents() }).toEqual({ requests: 1, intents: [] });
});

test("an upload by address that failed may be repeated with its key", async () => {
  let status = 503;
  await using receiver = await startReceiver((_, response) => {
    response.writeHead(status, { "content-type": "text/csv" }).end("phone\n+14155550100\n");
  });
  const url = `http://127.0.0.1:${receiver.port}/people.csv`;
  const upload = () => app.call(uploads.upload_file, { url }, { idempotencyKey: "failed once" });
  expect(await expectFailure(upload())).toMatchObject({ code: "source_failed" });
  status = 200;
  expect((await upload()).data.content_type).toBe("text/csv");
});
