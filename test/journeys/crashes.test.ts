/** After a service is killed, all acknowledged writes exist and no message is sent twice. */
import { expect, test } from "vitest";
import { contacts } from "../../tools/contacts.ts";
import { messages } from "../../tools/messages/index.ts";
import { ownerKey, startTestApp } from "../support/app.ts";
import { iterations } from "../support/iterations.ts";
import { openProcesses, waitUntil } from "../support/served-process.ts";

const minute = 60_000;

test("kill -9 while messages are queued: none is lost or sent twice", async () => {
  await using processes = await openProcesses();
  const before = await processes.serve();
  const to = "+14155550211";
  const headers = { "x-api-key": ownerKey, "content-type": "application/json" };
  await fetch(`${before.address}/simulator/faults`, {
    method: "PUT",
    headers,
    body: JSON.stringify({ accept_delay_ms: 15 }),
  });
  const text = (number: number) => ({ to, type: "text", text: { body: `number ${number}` } }) as const;
  const accepted: string[] = [];
  const count = iterations(30, 60);
  const sending = Array.from({ length: count }, async (_, number) => {
    const { data } = await before.client.call(messages.send_message, text(number), { timeoutMs: 20_000 });
    accepted.push(data.id);
  });
  const readShown = async (address: string) => {
    const path = `/simulator/phones/${encodeURIComponent(to)}/messages?limit=200`;
    const answer = await fetch(address + path, { headers });
    return ((await answer.json()) as { data: { token: string; status: string }[] }).data;
  };
  await Promise.race([Promise.all(sending), waitUntil(() => accepted.length >= (2 * count) / 3)]);
  // Some were sent before, so that a second sending would be seen.
  await waitUntil(async () => (await readShown(before.address)).length > 2);
  await before.process.end("SIGKILL");
  await Promise.allSettled(sending);

  // Its clock is ahead, so that no claim of the dead process still holds: not even on a message
  // that was being sent.
  const startsAt = new Date(Date.now() + 10 * minute);
  await using after = await startTestApp({ database: processes.database, startsAt });
  for (let minutes = 0; minutes < 10; minutes += 1) {
    await after.advanceTime(minute);
  }
  const tokens = (await readShown(after.address)).map(({ token }) => token);
  expect(accepted.filter((id) => !tokens.includes(id))).toEqual([]);
  expect(new Set(tokens).size).toBe(tokens.length);
});

test("kill -9 while writes are acknowledged: all of them are stored", async () => {
  await using processes = await openProcesses();
  const before = await processes.serve();
  const count = iterations(100, 400);
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
  const writing = Promise.allSettled(Array.from({ length: count }, (_, number) => write(number)));
  await waitUntil(() => acknowledged.length >= count / 2);
  await before.process.end("SIGKILL");
  await writing;

  await using after = await startTestApp({ database: processes.database });
  for (const id of acknowledged) {
    await after.call(contacts.get_contact, { id });
  }
});
