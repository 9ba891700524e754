/** Runs journeys on each channel: the simulated one, and WhatsApp with the emulator of its API. */
import { afterAll, beforeAll } from "vitest";
import type { InputOf } from "../../tools/contract/index.ts";
import { messages } from "../../tools/messages/index.ts";
import { templates } from "../../tools/templates/index.ts";
import type { ChannelControls } from "./channel-controls.ts";
import { startSimulatedChannel } from "./simulated-channel.ts";
import { createTemplateHelpers } from "./templates.ts";
import { startWhatsAppChannel } from "./whatsapp-channel.ts";

export type ChannelName = "simulator" | "whatsapp";
export const channelNames: readonly ChannelName[] = ["simulator", "whatsapp"];

const starts: Readonly<Record<ChannelName, () => Promise<ChannelControls>>> = {
  simulator: startSimulatedChannel,
  whatsapp: startWhatsAppChannel,
};

export type TestChannel = ReturnType<typeof createTestChannel>;

/**
 * Starts an app with an inbox on the channel before the tests of a `describe`. Call the result during tests.
 */
export function useChannel(name: ChannelName): () => TestChannel {
  let started: ChannelControls | undefined;
  beforeAll(async () => {
    started = await starts[name]();
  });
  afterAll(() => started?.[Symbol.asyncDispose]());
  return () => {
    if (started === undefined) {
      throw new Error("the channel runs only during tests");
    }
    return createTestChannel(started);
  };
}

type Draft = Parameters<ReturnType<typeof createTemplateHelpers>["create"]>[0];

function createTestChannel(controls: ChannelControls) {
  const { app, inbox_id, advance } = controls;
  const settle = () => advance(2_000);
  const test = {
    ...controls,
    /** Enough for delivery, receipts and reviews. */
    settle,
    phone: (number: string) => controls.open({ address: number, hidesNumber: false }),
    hiddenPhone: (bsuid: string) => controls.open({ address: bsuid, hidesNumber: true }),
    /** An agent sends a message. */
    async send(to: string, content: Omit<InputOf<typeof messages.send_message>, "to" | "inbox_id">) {
      return (await app.call(messages.send_message, { to, inbox_id, ...content })).data;
    },
    sendText: (to: string, body: string) => test.send(to, { type: "text", text: { body } }),
    async read({ id: message_id, conversation_id }: { id: string; conversation_id: string }) {
      return (await app.call(messages.get_message, { conversation_id, message_id })).data;
    },
    /** The newest message of the app. */
    async newest() {
      const { queries } = app.server.database;
      const row = await queries
        .selectFrom("messages")
        .selectAll()
        .orderBy("id", "desc")
        .executeTakeFirstOrThrow();
      return test.read(row);
    },
    draft: (input: Draft) => createTemplateHelpers(app).create({ language: "en_US", inbox_id, ...input }),
    template: async (id: string) => (await app.call(templates.get_template, { id })).data,
    /** Submits a template and waits for its review. */
    async submit(id: string) {
      const { data } = await app.call(templates.submit_template, { id });
      await settle();
      return { submitted: data, reviewed: await test.template(id) };
    },
  };
  return test;
}
