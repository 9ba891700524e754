/** What records are called, by their ids: an id says nothing to a person. */
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { session } from "../session/session.ts";
import { call } from "./call.ts";
import { listEverybody } from "./list-all.ts";

type Words = readonly (string | null | undefined)[];

/** The words for a record, the name first, by the start of its id. */
const readers: Readonly<Record<string, (id: string) => Promise<Words>>> = {
  con: async (id) => {
    const { data } = await call("get_contact", { id });
    return [data.name, data.phone_number];
  },
  conv: async (id) => {
    const { data } = await call("get_conversation", { id });
    return [data.contact_name, data.phone_number];
  },
  bc: async (id) => [(await call("get_broadcast", { id })).data.name],
  coh: async (id) => [(await call("get_cohort", { id })).data.name],
  doc: async (id) => [(await call("get_document", { id })).data.name],
  flow: async (id) => [(await call("get_flow", { id })).data.name],
  inb: async (id) => [(await call("list_inboxes", {})).data.find((one) => one.id === id)?.name],
  key: async (id) => [(await call("list_api_keys", {})).data.find((one) => one.id === id)?.name],
  plan: async (id) => [(await call("get_plan", { id, per_page: 1 })).data.summary],
  pol: async (id) => [(await call("get_routing_policy", { id })).data.name],
  qr: async (id) => [(await call("get_quick_reply", { id })).data.short_code],
  team: async (id) => [(await call("get_team", { id })).data.name],
  tpl: async (id) => [(await call("get_template", { id })).data.name],
  usr: async (id) => [(await listEverybody()).find((one) => one.id === id)?.name],
};

/** The kind of a record: what its id begins with. */
export function kindOf(id: string): string {
  return id.slice(0, id.indexOf("_"));
}

/** @returns the words for the record, the name first; none if there is no such record */
export async function readRecordWords(id: string): Promise<readonly string[]> {
  const words = (await readers[kindOf(id)]?.(id)) ?? [];
  return words.flatMap((word) => (word ? [word] : []));
}

/** How many names are read at once: a page shows many records. */
const mostAtOnce = 4;
const waiting: (() => Promise<void>)[] = [];
let running = 0;

/** The names that this page has read, of one person: another one may not read the same records. */
let names = new Map<string, Signal<string>>();
let owner: string | undefined;

/** The name of a record; empty until it is known, and if the person can't read it. It is read once. */
export function nameOfRecord(id: string): ReadonlySignal<string> {
  const user = session.peek()?.user.id;
  if (owner !== user) {
    owner = user;
    names = new Map();
  }
  const known = names.get(id);
  if (known !== undefined) {
    return known;
  }
  const name = signal("");
  names.set(id, name);
  waiting.push(async () => {
    const [first = ""] = await readRecordWords(id).catch(() => []);
    name.value = first;
  });
  void runWaiting();
  return name;
}

async function runWaiting(): Promise<void> {
  if (running === mostAtOnce) {
    return;
  }
  running += 1;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    await next();
  }
  running -= 1;
}
