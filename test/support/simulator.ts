/** The customer's side of a test: writes, reads and makes the simulated channel fail. */
import type { House } from "./house.ts";

export interface Phone {
  write(text: string, more?: object): Promise<{ message_id: string; conversation_id: string }>;
  read(): Promise<void>;
  /** What the phone shows, oldest first. */
  shows(): Promise<{ direction: string; status: string; type: string; text?: { body: string } }[]>;
}

export function phone(house: House, number: string, key?: string): Phone {
  const as = key === undefined ? {} : { key };
  const path = `/simulator/phones/${encodeURIComponent(number)}`;
  return {
    async write(text, more = {}) {
      const answer = await house.fetch("/simulator/inbound", {
        ...as,
        method: "POST",
        json: { from: number, text, ...more },
      });
      const { data } = (await answer.json()) as { data: { message_id: string; conversation_id: string } };
      return data;
    },
    async read() {
      await house.fetch(`${path}/read`, { ...as, method: "POST", json: {} });
      await house.settle();
    },
    async shows() {
      const answer = await house.fetch(`${path}/messages`, as);
      const { data } = (await answer.json()) as { data: Awaited<ReturnType<Phone["shows"]>> };
      return data.reverse();
    },
  };
}

/** Replaces the channel's faults; `{}` heals it. */
export async function setFaults(house: House, faults: object): Promise<void> {
  const answer = await house.fetch("/simulator/faults", { method: "PUT", json: faults });
  if (!answer.ok) {
    throw new Error(await answer.text());
  }
}
