/**
 * A process that was frozen: what it had begun, another one may have taken over, so it
 * sends nothing any more.
 */
import { expect, test, vi } from "vitest";
import { modules } from "../src/platform/index.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { openPhone } from "./support/simulator.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });

test("a message is sent once, by the process that has the claim when the request leaves", async () => {
  const to = "+14155550163";
  const { channels } = await readWorld(app);
  const channel = channels.simulator;
  if (!channel) {
    throw new Error("The simulated channel is missing.");
  }
  const { now } = performance;
  const { send } = channel;
  vi.spyOn(channel, "send").mockImplementationOnce((message, options) => {
    vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 16_000);
    return send(message, options);
  });
  const { data } = await app.call(messages.send_message, { to, type: "text", text: { body: "Hello" } });
  const read = async () =>
    (await app.call(messages.get_message, { message_id: data.id, conversation_id: data.conversation_id }))
      .data;
  await app.runDueJobs();
  expect(await read()).toMatchObject({ status: "queued" });
  expect(await openPhone(app, to).listMessages()).toEqual([]);
  await app.advanceTime(10_000);
  expect(await read()).toMatchObject({ status: "sent" });
  expect(await openPhone(app, to).listMessages()).toHaveLength(1);
});
