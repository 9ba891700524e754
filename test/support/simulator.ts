/** The customer's side of a test: writes, reads and makes the simulated channel fail. */
import type { TestApp } from "./app.ts";

export interface SimulatedPhone {
  write(text: string, fields?: object): Promise<{ message_id: string; conversation_id: string }>;
  read(): Promise<void>;
  /** What the phone shows, oldest first. */
  listMessages(): Promise<PhoneMessage[]>;
}

interface PhoneMessage {
  readonly id: string;
  readonly direction: string;
  readonly status: string;
  readonly type: string;
  readonly text?: { readonly body: string };
  readonly template?: { readonly body: string };
  /** The id of an outbound message. */
  readonly token: string | null;
}

export function openPhone(app: TestApp, number: string, key?: string): SimulatedPhone {
  const as = key === undefined ? {} : { key };
  const path = `/simulator/phones/${encodeURIComponent(number)}`;
  return {
    async write(text, fields = {}) {
      const answer = await app.fetch("/simulator/inbound", {
        ...as,
        method: "POST",
        json: { from: number, text, ...fields },
      });
      const { data } = (await answer.json()) as { data: { message_id: string; conversation_id: string } };
      return data;
    },
    async read() {
      await app.fetch(`${path}/read`, { ...as, method: "POST", json: {} });
      await app.runDueJobs();
    },
    async listMessages() {
      const answer = await app.fetch(`${path}/messages`, as);
      const { data } = (await answer.json()) as { data: PhoneMessage[] };
      return data.reverse();
    },
  };
}

/**
 * Writes a second after what was written before, so that the order of lists is known.
 *
 * @returns the conversation's id
 */
export async function writeLater(app: TestApp, number: string, text: string): Promise<string> {
  await app.advanceTime(1_000);
  return (await openPhone(app, number).write(text)).conversation_id;
}

/** Replaces the channel's faults; `{}` removes them. */
export async function setFaults(app: TestApp, faults: object): Promise<void> {
  const answer = await app.fetch("/simulator/faults", { method: "PUT", json: faults });
  if (!answer.ok) {
    throw new Error(await answer.text());
  }
}
