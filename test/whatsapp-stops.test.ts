/** An inbox whose account can't send: which messages wait, and until when. */
import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { inboxes } from "../tools/inboxes.ts";
import type { TestApp } from "./support/app.ts";
import {
  credentials,
  deliver,
  type GraphApi,
  graphError,
  type Inbox,
  openWindow,
  sendText,
  useWhatsApp,
} from "./support/whatsapp.ts";

let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
let working: GraphApi["routes"];
useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
  working = { ...graph.routes };
});

/** Each test writes to persons of its own. */
let person = 1000;
beforeEach(() => {
  Object.assign(graph.routes, working);
  graph.requests.length = 0;
});

async function send() {
  person += 1;
  await openWindow(app, inbox, `1415555${person}`);
  return sendText(app, inbox, `+1415555${person}`);
}

const reject = () => {
  graph.routes["POST messages"] = () => graphError(190, {}, { status: 401 });
};
const sendCredentials = async () => {
  Object.assign(graph.routes, working);
  await app.call(inboxes.update_inbox, { id: inbox.id, credentials });
};

test("messages that waited before the stop was reported again go out when it ends", async () => {
  reject();
  const first = await send();
  await app.advanceTime(1_000);
  const value = { event: "DISABLED_UPDATE", ban_info: { waba_ban_state: "DISABLE" } };
  await deliver(app, inbox, { field: "account_update", value });
  const second = await send();
  await sendCredentials();
  await app.runDueJobs();
  expect([(await first.read()).status, (await second.read()).status]).toEqual(["sent", "sent"]);
});

test("a message that read the stop, but began to wait after its end, goes out within seconds", async () => {
  reject();
  const { read } = await send();
  const { queries } = app.server.database;
  const ofDelivery = queries
    .selectFrom("jobs")
    .select(["id", "run_at"])
    .where("name", "=", "message.deliver");
  const job = await ofDelivery.executeTakeFirstOrThrow();
  await sendCredentials();
  // As if its process wrote this only now.
  await sql`update jobs set run_at = ${job.run_at} where id = ${job.id}`.execute(queries);
  await app.advanceTime(4_999);
  expect((await read()).status).toBe("queued");
  await app.advanceTime(1);
  expect((await read()).status).toBe("sent");
});

test("a message that Meta asked to wait is not sent earlier because a stop ends", async () => {
  const limit = graphError(130429, {}, { status: 429, headers: { "retry-after": "120" } });
  graph.routes["POST messages"] = () => limit;
  const waiting = await send();
  reject();
  const stopped = await send();
  await sendCredentials();
  await app.advanceTime(119_999);
  expect([(await waiting.read()).status, (await stopped.read()).status]).toEqual(["queued", "sent"]);
  await app.advanceTime(1);
  expect((await waiting.read()).status).toBe("sent");
});

test("a message that is rejected after new credentials were sent stops nothing and is sent with those", async () => {
  const token = `${credentials.access_token}-2`;
  graph.routes["POST messages"] = async () => {
    Object.assign(graph.routes, working);
    await app.call(inboxes.update_inbox, {
      id: inbox.id,
      credentials: { ...credentials, access_token: token },
    });
    return graphError(190, {}, { status: 401 });
  };
  const { read } = await send();
  expect((await read()).status).toBe("sent");
  const tokens = graph.requests
    .filter(({ path, method }) => method === "POST" && path.endsWith("/messages"))
    .map(({ headers }) => headers.authorization);
  expect(tokens).toEqual([`Bearer ${credentials.access_token}`, `Bearer ${token}`]);
  const { data } = await app.call(inboxes.list_inboxes, {});
  expect(data.find(({ id }) => id === inbox.id)?.health.status).toBe("ok");
});

test("after another app secret at Meta, messages wait for it instead of failing", async () => {
  graph.routes["POST messages"] = () =>
    graphError(100, { message: "Invalid appsecret_proof provided in the API argument" });
  const { read } = await send();
  const { data } = await app.call(inboxes.list_inboxes, {});
  expect((await read()).waiting_for).toMatchObject({ reason: "stop" });
  expect(data.find(({ id }) => id === inbox.id)?.health).toMatchObject({ status: "stopped", code: 100 });
  await sendCredentials();
  await app.runDueJobs();
  expect((await read()).status).toBe("sent");
});
