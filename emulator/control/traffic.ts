/** Controls that list what was sent and which webhooks went out, and that report the status of a message. */
import { z } from "zod";
import { reportStatus } from "../sending/statuses.ts";
import { toDigits } from "../state/ids.ts";
import type { SentMessage } from "../state/messages.ts";
import { findNode, nodesOf } from "../state/store.ts";
import { ControlError, type ControlRequest, parse, readLimit } from "./input.ts";

/** The newest first. */
export function listSent({ world, query }: ControlRequest): object {
  const to = query.get("to");
  const phoneId = query.get("phone_number_id");
  const matching = [...world.store.sent.values()].filter(
    (message) =>
      (phoneId === null || message.phone_number_id === phoneId) && (to === null || isTo(message, to)),
  );
  return { total: matching.length, data: matching.reverse().slice(0, readLimit(query)).map(describeSent) };
}

export function describeSent(message: SentMessage): object {
  const { id, phone_number_id, to, user_id, type, body, received_at, statuses, files } = message;
  return {
    id,
    phone_number_id,
    to,
    user_id,
    type,
    body,
    statuses,
    files,
    is_lost: user_id === null,
    received_at: new Date(received_at).toISOString(),
    second: Math.floor(received_at / 1000),
  };
}

function isTo({ to, number, user_id }: SentMessage, wanted: string): boolean {
  return [to, number, user_id].includes(wanted) || (number !== null && number === toDigits(wanted));
}

/** How many messages were accepted in each second of unix time, by the emulator's clock. */
export function countPerSecond({ world, query }: ControlRequest): object {
  const phoneId = query.get("phone_number_id");
  const counts = new Map<number, number>();
  for (const { phone_number_id, received_at } of world.store.sent.values()) {
    if (phoneId === null || phone_number_id === phoneId) {
      const second = Math.floor(received_at / 1000);
      counts.set(second, (counts.get(second) ?? 0) + 1);
    }
  }
  const data = [...counts].map(([second, messages]) => ({ second, messages }));
  return { max: Math.max(0, ...counts.values()), data };
}

export function listDeliveries({ world, query }: ControlRequest): object {
  const all = world.webhooks.deliverer.log;
  const count = (state: string) => all.filter((delivery) => delivery.state === state).length;
  return {
    pending: count("pending"),
    delivered: count("delivered"),
    dropped: count("dropped"),
    data: all.slice(-readLimit(query)).reverse(),
  };
}

const WebhookInput = z.strictObject({
  waba_id: z.string().optional(),
  field: z.string().min(1).max(64),
  value: z.record(z.string(), z.unknown()),
});

/** Sends any change, for example of a field that the emulator does not report by itself. */
export function sendWebhook({ world, body }: ControlRequest): object {
  const { waba_id, field, value } = parse(WebhookInput, body);
  const account =
    waba_id === undefined ? nodesOf(world.store, "account")[0] : findNode(world.store, "account", waba_id);
  if (!account) {
    throw new ControlError(`There is no account with the id ${waba_id}.`, 404);
  }
  world.webhooks.emit([{ account_id: account.id, field, value }]);
  return { waba_id: account.id, field };
}

const StatusInput = z.strictObject({
  status: z.enum(["sent", "delivered", "read", "played", "failed"]),
  /** Of a failure. */
  code: z.number().int().min(0).optional(),
});

/** Reports any status, also one that is not the next. */
export function reportMessageStatus({ world, params, body }: ControlRequest): object {
  const message = world.store.sent.get(params.id ?? "");
  if (!message) {
    throw new ControlError(`There is no sent message with the id ${params.id}.`, 404);
  }
  const { status, code = 131000 } = parse(StatusInput, body);
  reportStatus(world, message, { status, code: status === "failed" ? code : undefined });
  return describeSent(message);
}
