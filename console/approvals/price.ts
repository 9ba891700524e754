/** The price of a plan in words, which say whether simulated money pays: that of a simulated inbox. */
import { type ReadonlySignal, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Answer, call } from "../service/call.ts";
import { kindOf } from "../service/record-names.ts";
import { texts } from "../texts.ts";
import type { Plan } from "./plan-list.ts";

const inboxes = signal<Answer<"list_inboxes">["data"]>([]);

/** Reads the inboxes; a person who may not read them sees prices alone. */
export async function readInboxes(): Promise<void> {
  try {
    inboxes.value = (await call("list_inboxes", {})).data;
  } catch {
    inboxes.value = [];
  }
}

/** @param inbox the inbox of the messages; null: it is not known */
export function describePrice({ price }: Pick<Plan, "price">, inbox: string | null): string | null {
  if (price === null) {
    return null;
  }
  const amount = texts.approvals.money(price);
  const senders = inboxes.value.filter(({ id }) => inbox === null || id === inbox);
  const isSimulated = senders.length > 0 && senders.every(({ simulated }) => simulated);
  return isSimulated ? texts.approvals.simulated(amount) : amount;
}

/** The inbox that sends the messages of the plan; null until it is known, and if the call names none. */
export function usePlanInbox({ input }: Plan): ReadonlySignal<string | null> {
  const found = useSignal<string | null>(null);
  const { id, to, inbox_id } = input;
  useEffect(() => {
    findInboxOf([inbox_id, id, to]).then(
      (inbox) => (found.value = inbox),
      () => undefined,
    );
  }, [id, to, inbox_id]);
  return found;
}

const readers: Readonly<Record<string, (id: string) => Promise<string | null>>> = {
  inb: async (id) => id,
  bc: async (id) => (await call("get_broadcast", { id })).data.inbox_id,
  conv: async (id) => (await call("get_conversation", { id })).data.inbox_id,
};

async function findInboxOf(values: readonly unknown[]): Promise<string | null> {
  for (const value of values) {
    const read = typeof value === "string" ? readers[kindOf(value)] : undefined;
    if (read && typeof value === "string") {
      return read(value);
    }
  }
  return null;
}
