/** The control with which a test writes as a customer: one message, or several in one webhook. */
import { z } from "zod";
import { toUnixSeconds } from "../clock.ts";
import { emitMessagesChange } from "../sending/statuses.ts";
import { type Customer, ensureCustomer, threadOf } from "../state/customers.ts";
import { newMessageId } from "../state/ids.ts";
import type { Phone } from "../state/store.ts";
import type { World } from "../world.ts";
import type { Content } from "./content.ts";
import { contentFields, contentNames, toContent } from "./inbound-content.ts";
import { type ControlRequest, number, parse, requirePhone, userId } from "./input.ts";

const hourMs = 3_600_000;
const windowMs = 24 * hourMs;
const freeEntryMs = 72 * hourMs;

const InboundInput = z
  .strictObject({
    /** The number that is written to; by default the first. */
    phone_number_id: z.string().optional(),
    from: number.optional(),
    user_id: userId.optional(),
    name: z.string().min(1).max(256).optional(),
    username: z.string().min(1).max(64).optional(),
    /** From now on webhooks do not have the customer's number. */
    hides_number: z.boolean().optional(),
    message_id: z.string().min(1).max(256).optional(),
    /** The message that is quoted. */
    reply_to: z.string().max(256).optional(),
    forwarded: z.boolean().optional(),
    /** The ad through which the customer came; opens 72 hours in which messages cost nothing. */
    referral: z.record(z.string(), z.unknown()).optional(),
    ...contentFields,
  })
  .refine(({ from, user_id }) => from !== undefined || user_id !== undefined, "Send from, user_id or both.")
  .refine(
    (input) => contentNames.filter((name) => input[name] !== undefined).length === 1,
    `Send exactly one of ${contentNames.join(", ")}.`,
  );
type InboundInput = z.output<typeof InboundInput>;

const Several = z.strictObject({ messages: z.array(InboundInput).min(1).max(1_000) });

export function receive({ world, body }: ControlRequest): object {
  const inputs = "messages" in Object(body) ? parse(Several, body).messages : [parse(InboundInput, body)];
  const written = inputs.map((input) => write(world, input));
  for (const phone of new Set(written.map((one) => one.phone))) {
    const own = written.filter((one) => one.phone === phone);
    const contacts = [...new Set(own.map(({ customer }) => customer))].map(describeContact);
    emitMessagesChange(world, phone, { contacts, messages: own.map(({ message }) => message) });
  }
  return { messages: written.map(({ id, customer }) => ({ id, user_id: customer.user_id })) };
}

interface WrittenMessage {
  readonly id: string;
  readonly phone: Phone;
  readonly customer: Customer;
  readonly message: object;
}

function write(world: World, input: InboundInput): WrittenMessage {
  const { store, clock } = world;
  const phone = requirePhone(world, input.phone_number_id);
  const customer = ensureCustomer(store, { ...input, number: input.from });
  const now = clock.now();
  const content = toContent(world, { phone, customer, input });
  const id = input.message_id ?? newMessageId(customer.number ?? customer.user_id);
  const body = {
    ...describeContext(phone, input, content),
    ...(customer.number === null || customer.hides_number ? {} : { from: customer.number }),
    from_user_id: customer.user_id,
    id,
    timestamp: toUnixSeconds(now),
    ...content.body,
    ...(input.referral === undefined ? {} : { referral: input.referral }),
  };
  const { type } = content.body;
  if (!isChange(type)) {
    store.inbound.set(id, {
      id,
      phone_number_id: phone.id,
      user_id: customer.user_id,
      type,
      body,
      received_at: now,
      read_at: null,
    });
    const thread = threadOf(customer, phone.id);
    thread.window_ends_at = now + windowMs;
    thread.free_entry_ends_at = input.referral ? now + freeEntryMs : thread.free_entry_ends_at;
  }
  return { id, phone, customer, message: body };
}

/** Meta's pages say that messages and calls open the window; whether these do is not said, so they don't. */
function isChange(type: string): boolean {
  return ["reaction", "edit", "revoke"].includes(type);
}

function describeContext(
  { number: own }: Phone,
  { reply_to, forwarded }: InboundInput,
  content: Content,
): object {
  const quoted = reply_to ?? content.chosenFrom;
  if (quoted === undefined && forwarded === undefined) {
    return {};
  }
  return {
    context: {
      ...(quoted === undefined ? {} : { from: own, id: quoted }),
      ...(forwarded === undefined ? {} : { forwarded }),
    },
  };
}

function describeContact({ name, username, number: own, hides_number, user_id }: Customer): object {
  return {
    profile: { name, ...(username === null ? {} : { username }) },
    ...(own === null || hides_number ? {} : { wa_id: own }),
    user_id,
  };
}
