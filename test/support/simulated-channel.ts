/** An inbox on the simulated channel for journeys. */
import { inboxes } from "../../tools/inboxes.ts";
import { startTestApp, type TestApp } from "./app.ts";
import {
  type ChannelControls,
  type Customer,
  type CustomerPhone,
  createReports,
  type ShownMessage,
} from "./channel-controls.ts";
import { openPhone, setFaults } from "./simulator.ts";
import { setReview } from "./templates.ts";

export async function startSimulatedChannel(): Promise<ChannelControls> {
  const app = await startTestApp();
  const { data } = await app.call(inboxes.list_inboxes, {});
  return {
    app,
    inbox_id: data[0]?.id ?? "",
    open: (customer) => openSimulatedPhone(app, customer),
    advance: (ms) => app.advanceTime(ms),
    review: (settings) => setReview(app, settings),
    failWith: (code) => setFaults(app, code === null ? {} : { failures: [{ code }] }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

interface SimulatedMessage {
  readonly id: string;
  readonly direction: string;
  readonly type: string;
  readonly status: string;
  readonly reply_to?: string;
  readonly text?: { readonly body: string };
  readonly media?: { readonly url: string; readonly caption: string | null };
  readonly interactive?: Interactive;
  readonly template?: { readonly body: string; readonly buttons: readonly { readonly text: string }[] };
}

interface Interactive {
  readonly body: string;
  readonly buttons?: readonly { readonly title: string }[];
  readonly list?: { readonly sections: readonly { readonly rows: readonly { readonly title: string }[] }[] };
}

function openSimulatedPhone(app: TestApp, { address, hidesNumber }: Customer): CustomerPhone {
  const phone = openPhone(app, address);
  const write = async (content: object) => {
    const from = hidesNumber ? { user_id: address } : { from: address };
    const answer = await app.fetch("/simulator/inbound", { method: "POST", json: { ...from, ...content } });
    if (!answer.ok) {
      throw new Error(await answer.text());
    }
    await app.advanceTime(2_000);
  };
  /** The channel's id of the newest message in a direction. */
  const newest = async (wanted: string) =>
    (await phone.listMessages()).findLast(({ direction }) => direction === wanted)?.id;
  return {
    ...createReports(write, newest),
    choose: (button) => write({ button }),
    sendFile: ({ type, url, caption }) => write({ media: { type, url, caption } }),
    read: () => phone.read(),
    async shown() {
      // The simulator lists the contents of outbound messages as its port has them.
      const listed = (await phone.listMessages()) as readonly SimulatedMessage[];
      const outbound = listed.filter(
        ({ direction, status }) => direction === "outbound" && status !== "failed",
      );
      const quoted = (id: string | undefined) => listed.find((one) => one.id === id)?.text?.body ?? null;
      return Promise.all(
        outbound.map(async (one) => ({ ...(await showSimulated(one)), quotes: quoted(one.reply_to) })),
      );
    },
  };
}

async function showSimulated(message: SimulatedMessage): Promise<Omit<ShownMessage, "quotes">> {
  const { type, status, text, media, interactive, template } = message;
  const rows = interactive?.list?.sections.flatMap((section) => section.rows) ?? [];
  const labels = [...(interactive?.buttons ?? []), ...rows].map(({ title }) => title);
  const file = media === undefined ? null : Buffer.from(await (await fetch(media.url)).arrayBuffer());
  return {
    type,
    status,
    file,
    text: text?.body ?? interactive?.body ?? template?.body ?? media?.caption ?? null,
    choices: [...labels, ...(template?.buttons ?? []).map((button) => button.text)],
  };
}
