/** After a service is killed, all acknowledged writes exist and no message is sent twice. */
import { expect, test } from "vitest";
import { contacts } from "../../tools/contacts.ts";
import { messages } from "../../tools/messages/index.ts";
import { ownerKey } from "../support/app.ts";
import { useProcesses, waitUntil } from "../support/served-process.ts";

const { serve } = useProcesses();

test("kill -9 while messages are queued: none is lost or sent twice", async () => {
  const before = await serve();
  const to = "+14155550211";
  const headers = { "x-api-key": ownerKey, "content-type": "application/json" };
  await fetch(`${before.address}/simulator/faults`, {
    method: "PUT",
    headers,
    body: JSON.stringify({ accept_delay_ms: 15 }),
  });
  const text = (number: number) => ({ to, type: "text", text: { body: `number ${number}` } }) as const;
  const accepted: string[] = [];
  const sending = Array.from({ length: 60 }, async (_, number) => {
    const { data } = await before.client.call(messages.send_message, text(number), { timeoutMs: 20_000 });
    accepted.push(data.id);
  });
  await Promise.race([Promise.all(sending), waitUntil(() => accepted.length >= 40)]);
  await before.process.end("SIGKILL");
  await Promise.allSettled(sending);

  const after = await serve();
  const shown = async () => {
    const path = `/simulator/phones/${encodeURIComponent(to)}/messages?limit=200`;
    const answer = await fetch(after.address + path, { headers });
    return ((await answer.json()) as { data: { token: string; status: string }[] }).data;
  };
  // The jobs of the dead process are taken over within seconds; a message that was being sent, 12 s after its claim.
  const areAllSent = async () => {
    const tokens = new Set((await shown()).map(({ token }) => token));
    return accepted.every((id) => tokens.has(id));
  };
  await waitUntil(areAllSent, 60_000);
  const tokens = (await shown()).map(({ token }) => token);
  expect(new Set(tokens).size).toBe(tokens.length);
  await after.client.close();
}, 150_000);

test("kill -9 while writes are acknowledged: all of them are stored", async () => {
  const before = await serve();
  const acknowledged: string[] = [];
  const write = async (number: number) => {
    const phone_number = `+1415555${String(number).padStart(4, "0")}`;
    const { data } = await before.client.call(
      contacts.create_contact,
      { phone_number },
      { timeoutMs: 20_000 },
    );
    acknowledged.push(data.id);
  };
  const writing = Promise.allSettled(Array.from({ length: 400 }, (_, number) => write(number)));
  await waitUntil(() => acknowledged.length >= 200);
  await before.process.end("SIGKILL");
  await writing;

  const after = await serve();
  for (const id of acknowledged) {
    await after.client.call(contacts.get_contact, { id });
  }
  await after.client.close();
}, 90_000);
