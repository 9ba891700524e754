/**
 * A customer of a WhatsApp inbox whose reports a test sends as webhooks: messages,
 * reactions, edits, deletions.
 */
import { afterAll, beforeAll, beforeEach } from "vitest";
import { messages } from "../../tools/messages/index.ts";
import { webhooks } from "../../tools/webhooks.ts";
import { silentLog, type TestApp } from "./app.ts";
import { jpeg } from "./files.ts";
import {
  type createWhatsAppInbox,
  deliver,
  type GraphApi,
  inboundText,
  messagesChange,
  sendText,
  startGraphApi,
  startWhatsAppApp,
} from "./whatsapp.ts";

interface StartedChannel {
  readonly graph: GraphApi;
  readonly app: TestApp;
  readonly inbox: Awaited<ReturnType<typeof createWhatsAppInbox>>;
  /** The fields of the warnings in the log. */
  readonly warnings: object[];
}

interface Person {
  readonly ids: object;
  /** The number, or the user id of one who hides it. */
  readonly to: string;
}

/** The events that this file's reports cause. */
const reported = ["message.received", "message.edited", "message.reaction"];

/** Call it at the top of a test file. Each test has its own person. The file 3001 can be fetched. */
export function useWhatsAppCustomer() {
  let started: StartedChannel | undefined;
  let last = 200;
  let person: Person = { ids: {}, to: "" };
  beforeAll(async () => {
    const graph = await startGraphApi();
    const warnings: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => warnings.push(fields) };
    started = { graph, warnings, ...(await startWhatsAppApp(graph, { log })) };
    graph.routes["GET 3001"] = () => ({ body: { url: `${graph.url}/file/content` } });
    graph.routes["GET content"] = () => ({ body: jpeg, headers: { "content-type": "image/jpeg" } });
  });
  afterAll(async () => {
    await started?.app[Symbol.asyncDispose]();
    await started?.graph[Symbol.asyncDispose]();
  });
  const next = () => {
    last += 1;
    person = { ids: { from: `14155551${last}` }, to: `+14155551${last}` };
  };
  beforeEach(next);
  return () => {
    if (started === undefined) {
      throw new Error("the app runs only during tests");
    }
    const customer = createCustomer(started, () => person);
    return {
      ...customer,
      /** Another person takes the place of the former one. */
      next,
      hideNumber() {
        const from_user_id = `US.77000${last}`;
        person = { ids: { from: undefined, from_user_id }, to: from_user_id };
      },
    };
  };
}

let reports = 0;

function createCustomer({ graph, app, inbox, warnings }: StartedChannel, person: () => Person) {
  const { queries } = app.server.database;
  /** Now or some seconds later, in the form of webhooks. */
  const seconds = (offset: number) => String(Math.floor(app.now().getTime() / 1000) + offset);
  /** The message with this id at WhatsApp, as the API shows it. */
  const shown = async (wamid: string) => {
    const { conversation_id, id: message_id } = await queries
      .selectFrom("messages")
      .select(["conversation_id", "id"])
      .where("channel_message_id", "=", wamid)
      .executeTakeFirstOrThrow();
    return (await app.call(messages.get_message, { conversation_id, message_id })).data;
  };
  /** What the person does with a message, as Meta reports it. */
  const report = (type: "reaction" | "edit" | "revoke", content: object, timestamp = seconds(0)) => {
    reports += 1;
    return { ...person().ids, id: `wamid.report${reports}`, timestamp, type, [type]: content };
  };
  return {
    graph,
    app,
    inbox,
    warnings,
    person,
    seconds,
    shown,
    report,
    /** The person writes. */
    async write(body: string, more: object = {}) {
      const timestamp = seconds(0);
      const message = inboundText(body, { timestamp, ...person().ids, ...more });
      await deliver(app, inbox, messagesChange({ messages: [message] }));
      return { wamid: message.id, ...(await shown(message.id)) };
    },
    /** We answer. `wamid` is the answer's id at WhatsApp. */
    async answer() {
      const sent = await sendText(app, inbox, person().to);
      const row = queries.selectFrom("messages").select("channel_message_id").where("id", "=", sent.id);
      return { ...sent, wamid: (await row.executeTakeFirstOrThrow()).channel_message_id ?? "" };
    },
    reaction: (message_id: string, emoji?: string, timestamp?: string) =>
      report("reaction", { message_id, ...(emoji === undefined ? {} : { emoji }) }, timestamp),
    receive: (...all: readonly object[]) => deliver(app, inbox, messagesChange({ messages: all })),
    /** The events that something causes. */
    async eventsOf(act: () => Promise<unknown>) {
      const { meta: start } = await app.call(webhooks.list_events, {});
      await act();
      const { data } = await app.call(webhooks.list_events, {
        after: start.cursor,
        types: reported.join(","),
      });
      return data.filter(({ type }) => reported.includes(type)).map(({ type, data: body }) => [type, body]);
    },
  };
}

/** A time of a webhook in the form of the API. */
export const isoOf = (timestamp: string) => new Date(Number(timestamp) * 1000).toISOString();
