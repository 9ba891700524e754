/** What an inbox is like now, for its row and its page. */
import { type Answer, call } from "../../service/call.ts";
import { ServiceError } from "../../service/errors.ts";
import { texts } from "../../texts.ts";

export type Inbox = Answer<"list_inboxes">["data"][number];

type StateName = keyof typeof texts.channels.inboxes.states;

/** A real number from which nothing has come yet is not set up: its messages would stay without receipts. */
export function stateOf({ health, simulated, last_webhook_at }: Inbox): StateName {
  if (health.status !== "ok") {
    return health.status;
  }
  return simulated || last_webhook_at !== null ? "ok" : "unfinished";
}

/** Whether free text after the 24-hour window is rejected. */
export function isStrict({ simulated, settings }: Inbox): boolean {
  return !simulated || settings.service_window === "strict";
}

/** @throws ServiceError `inbox_not_found` */
export async function findInbox(id: string): Promise<Inbox> {
  const { data } = await call("list_inboxes", {});
  const inbox = data.find((one) => one.id === id);
  if (inbox === undefined) {
    throw new ServiceError(404, "inbox_not_found", texts.channels.inboxes.notFound);
  }
  return inbox;
}
