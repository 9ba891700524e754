/** `tidings logs --follow`: while the service restarts, and when the reader of its output ends. */
import { once } from "node:events";
import { expect, test } from "vitest";
import { messages } from "../tools/messages/index.ts";
import { ownPort } from "./support/own-port.ts";
import { openProcesses, waitUntil } from "./support/served-process.ts";

test("goes on after a restart of the service, with each event once", async () => {
  await using processes = await openProcesses();
  const port = { PORT: String(ownPort) };
  const first = await processes.serve(port);
  const following = processes.start(["logs", "--follow", "--events", "message.sent", "--json"], port);
  const send = async ({ client }: typeof first, body: string) =>
    (await client.call(messages.send_message, { to: "+14155550191", type: "text", text: { body } })).data.id;
  const printed = () =>
    following
      .stdout()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line).data.message_id);
  const before = await send(first, "Before");
  await following.waitForOutput(new RegExp(before));
  await first.process.end("SIGTERM");
  await waitUntil(() => following.stderr() !== "");
  const second = await processes.serve(port);
  const after = [await send(second, "One"), await send(second, "Two")];
  await waitUntil(() => printed().length >= 3);
  expect(printed()).toEqual([before, ...after]);
  expect(following.stderr()).toBe("tidings: The service does not answer. Waiting for it.\n");
  await following.end("SIGTERM");
});

test("ends without an error when nothing reads its output any more", async () => {
  await using processes = await openProcesses();
  const service = await processes.serve({ PORT: String(ownPort) });
  const following = processes.start(["logs", "--follow"], { PORT: String(ownPort) });
  const send = () =>
    service.client.call(messages.send_message, { to: "+14155550192", type: "text", text: { body: "Hi" } });
  await send();
  await following.waitForOutput(/message\.sent/);
  following.child.stdout?.destroy();
  await Promise.all([once(following.child, "close"), send()]);
  expect({ code: following.child.exitCode, stderr: following.stderr() }).toEqual({ code: 0, stderr: "" });
});
