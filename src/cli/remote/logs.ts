/** `tidings logs`: prints the recent events of the organization and, with --follow, those that come. */
import { setTimeout as sleep } from "node:timers/promises";
import { webhooks } from "../../../tools/webhooks.ts";
import type { Client } from "../../client/index.ts";
import { UsageError } from "../commands/command-error.ts";
import type { CommandOptions } from "../commands/options.ts";
import { withClient } from "./connect.ts";
import {
  type EventPage,
  endWithReader,
  type Position,
  pollEvents,
  pollMs,
  readEventsOption,
} from "./events.ts";

/** The number of events in a full page of `list_events`. */
const pageSize = 100;
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

type Event = EventPage["data"][number];

export async function runLogs(options: CommandOptions): Promise<void> {
  const { json = false, follow = false } = options;
  const types = readEventsOption(options.events);
  const since = readSince(options.since ?? "1h", Date.now());
  endWithReader();
  await withClient(options, "logs", async (client) => {
    let position: Position = { since };
    for (;;) {
      const { data, meta } = await readEvents(client, { types, position, follow });
      for (const event of data) {
        console.log(json ? JSON.stringify(event) : describeEvent(event));
      }
      position = { after: meta.cursor };
      const isLast = data.length < pageSize;
      if (isLast && !follow) {
        return;
      }
      await (isLast ? sleep(pollMs) : undefined);
    }
  });
}

interface Reading {
  readonly types: string;
  readonly position: Position;
  readonly follow: boolean;
}

/** Waits for the service only if it has answered before: a wrong address is an error at once. */
async function readEvents(client: Client, { types, position, follow }: Reading): Promise<EventPage> {
  if (!follow || position.after === undefined) {
    return await client.call(webhooks.list_events, { types, ...position });
  }
  const onWait = () => console.error("tidings: The service does not answer. Waiting for it.");
  return await pollEvents(client, { types, position, onWait });
}

/** @throws UsageError */
function readSince(text: string, now: number): string {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) {
    // The pattern permits these units alone.
    return new Date(now - Number(count) * unitMs[unit as keyof typeof unitMs]).toISOString();
  }
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw new UsageError(
      "--since takes a duration such as 30m, 2h or 7d, or a time such as 2026-01-31T12:00:00Z.",
    );
  }
  return new Date(time).toISOString();
}

/** Ids and states alone: a text of a contact could have control characters for the terminal. */
function describeEvent({ created_at, type, id, data }: Event): string {
  const { error } = data;
  const code =
    typeof error === "object" && error !== null && "code" in error ? String(error.code) : undefined;
  const names = ["id", "message_id", "status", "error", "conversation_id", "contact_id", "inbox_id"];
  const facts = names.flatMap((name) => {
    const value = name === "error" ? code : data[name];
    return typeof value === "string" && /^\w+$/.test(value)
      ? `${name === "id" ? "" : `${name}=`}${value}`
      : [];
  });
  return [created_at, type, id, ...facts].join("  ");
}
