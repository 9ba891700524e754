/**
 * POST /{phone_number_id}/messages: checks a message, answers, and reports by webhooks what becomes of it.
 *
 * An answer of 200 means accepted. Free text outside the 24-hour window is accepted and
 * then reported as failed.
 */

import { errorCodes } from "../contract/error-codes.ts";
import { GraphError, invalidParameter } from "../contract/graph-error.ts";
import { type Fields, findMessageError, messageTypes, requireSchema } from "../contract/validate.ts";
import type { GraphRequest } from "../graph/request.ts";
import { type Answer, json } from "../http/answer.ts";
import { type Customer, threadOf } from "../state/customers.ts";
import { newMessageId } from "../state/ids.ts";
import type { SentMessage } from "../state/messages.ts";
import type { Phone } from "../state/store.ts";
import type { Template } from "../state/template.ts";
import { requireTemplateParameters } from "../templates/parameters.ts";
import { findSendableTemplate } from "../templates/sendable.ts";
import type { World } from "../world.ts";
import { requireInteractive } from "./interactive.ts";
import { takePair } from "./limits.ts";
import { fetchLinks, findMediaFailure } from "./media.ts";
import { markInboundRead } from "./read.ts";
import { findRecipient, type Recipient } from "./recipient.ts";
import { scheduleStatuses } from "./statuses.ts";

/** Older ones are forgotten, so that a long load test does not fill the memory. */
const maxStored = 200_000;

export async function sendMessage({ world, node: phone, readJson }: GraphRequest<Phone>): Promise<Answer> {
  const body = await readJson();
  requireConnected(phone);
  if (body.status !== undefined) {
    requireSchema("MarkMessageRequestPayload", body);
    return markInboundRead(world, phone, body);
  }
  const message: Fields = { type: "text", ...body };
  requireMessage(message);
  const recipient = findRecipient(world, phone, message);
  const template = message.type === "template" ? checkTemplate(world, phone, message, recipient) : undefined;
  const mediaFailure = findMediaFailure(world, message);
  const failure = takeLimitsAndFailure(world, phone, recipient);
  const sent = store(world, phone, message, { recipient, template });
  if (recipient.customer) {
    const isOutside = !template && isOutsideWindow(world, phone, recipient.customer);
    const isUnwanted =
      template?.category === "MARKETING" && threadOf(recipient.customer, phone.id).has_stopped_marketing;
    const refused = isOutside ? 131047 : isUnwanted ? 131050 : undefined;
    const code = failure ?? refused ?? mediaFailure;
    const report = (failed: number | undefined) => scheduleStatuses(world, sent, failed);
    if (code === undefined) {
      fetchLinks(world, sent, report);
    } else {
      report(code);
    }
    threadOf(recipient.customer, phone.id).typing_ends_at = 0;
  }
  const { accept_delay_ms } = world.faults.settings;
  if (accept_delay_ms > 0) {
    await new Promise<void>((resolve) => world.clock.after(accept_delay_ms, resolve));
  }
  return answer(world, sent, recipient);
}

function requireConnected(phone: Phone): void {
  if (phone.status === "DISCONNECTED") {
    throw new GraphError(133010, "The phone number is not registered on the WhatsApp Business Platform");
  }
}

/** @throws GraphError for what the schema, the lengths or the interactive rules forbid. */
function requireMessage(message: Fields): void {
  const type = String(message.type);
  if (!messageTypes.includes(type)) {
    const known = messageTypes.map((name) => name.toUpperCase()).join(", ");
    throw invalidParameter(`Param type must be one of {${known}} - got "${type}".`);
  }
  const error = findMessageError(type, message);
  const isAboutInteractive = error === undefined || error.code >= 131008;
  if (type === "interactive" && isAboutInteractive) {
    requireInteractive(message.interactive);
  }
  if (error) {
    throw error;
  }
}

function checkTemplate(world: World, phone: Phone, message: Fields, { number }: Recipient): Template {
  const template = findSendableTemplate(world, phone, message.template);
  if (template.category === "AUTHENTICATION" && number === null) {
    throw new GraphError(131062, "Authentication templates need a phone number in to");
  }
  requireTemplateParameters(template, message.template);
  return template;
}

/**
 * What the message costs of the limits, and the failure that is injected for it.
 * @returns the code that a webhook reports; @throws GraphError for one in the answer
 */
function takeLimitsAndFailure(
  world: World,
  phone: Phone,
  { input, customer }: Recipient,
): number | undefined {
  const { clock, faults, throughput } = world;
  const now = clock.now();
  const key = input.replace(/[\s()+-]/g, "");
  const failure = faults.takeFailure(customer?.user_id === input ? input : key);
  const isAsync = failure && (failure.by === "webhook" || (!failure.by && errorCodes[failure.code]?.isAsync));
  if (failure && !isAsync) {
    throw new GraphError(failure.code, "Injected by the emulator");
  }
  throughput.take(phone.id, faults.settings.messages_per_second ?? phone.messages_per_second, now);
  if (customer && faults.settings.pair_limit) {
    takePair(threadOf(customer, phone.id), now);
  }
  return failure?.code;
}

function isOutsideWindow({ clock }: World, phone: Phone, customer: Customer): boolean {
  return threadOf(customer, phone.id).window_ends_at <= clock.now();
}

interface Parts {
  readonly recipient: Recipient;
  readonly template: Template | undefined;
}

function store(world: World, phone: Phone, body: Fields, { recipient, template }: Parts): SentMessage {
  const { customer, input, number } = recipient;
  const message: SentMessage = {
    id: newMessageId(number ?? input),
    phone_number_id: phone.id,
    to: input,
    user_id: customer?.user_id ?? null,
    number,
    type: String(body.type),
    body,
    category: template?.category.toLowerCase() ?? "service",
    received_at: world.clock.now(),
    statuses: [],
    files: [],
  };
  const { sent } = world.store;
  sent.set(message.id, message);
  const [oldest] = sent.size > maxStored ? sent.keys() : [];
  if (oldest !== undefined) {
    sent.delete(oldest);
  }
  return message;
}

function answer({ faults }: World, message: SentMessage, { input, customer, number }: Recipient): Answer {
  const shown = customer?.hides_number ? number : (number ?? customer?.number ?? null);
  const body = {
    messaging_product: "whatsapp",
    contacts: [
      {
        input,
        ...(shown === null ? {} : { wa_id: shown }),
        ...(customer ? { user_id: customer.user_id } : {}),
      },
    ],
    messages: [{ id: message.id, ...(message.type === "template" ? { message_status: "accepted" } : {}) }],
  };
  if (faults.hits("timeouts")) {
    return { lost: "unanswered" };
  }
  if (faults.hits("lost_answers")) {
    return { lost: "closed" };
  }
  return json(body);
}
