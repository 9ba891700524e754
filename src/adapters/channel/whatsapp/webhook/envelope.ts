/**
 * The envelope of a webhook: changes of accounts, each of a field.
 *
 * Only what is read is checked. Meta adds fields, types and whole members without a new version, so a part
 * that can't be read is left out, and the rest counts.
 */
import { z } from "zod";
import { cutText } from "../../../../texts/cut.ts";
import { readAll } from "../read-all.ts";

/** Ids and numbers are short; a longer text is none. */
const id = z.string().min(1).max(255);

const Change = z.object({ field: z.string(), value: z.record(z.string(), z.unknown()) });

export const Envelope = z.object({
  object: z.literal("whatsapp_business_account"),
  entry: z.array(z.object({ id, changes: z.array(z.unknown()).default([]) })),
});

/** A change with the id of its WhatsApp Business Account. */
export interface AccountChange extends z.output<typeof Change> {
  readonly business_id: string;
}

export function changesOf({ entry }: z.output<typeof Envelope>): readonly AccountChange[] {
  return entry.flatMap(({ id: business_id, changes }) =>
    readAll(Change, changes).map((change) => ({ ...change, business_id })),
  );
}

/** A phone number as Meta writes it. */
export const digits = z.string().regex(/^\d{5,20}$/);

/** Of unix time, in years of four digits. */
export const seconds = z
  .union([z.string().regex(/^\d{1,11}$/), z.int().min(0).max(99_999_999_999)])
  .transform((value) => new Date(Number(value) * 1000).toISOString());

export const Metadata = z.object({ phone_number_id: id });

/** A longer text is cut. */
const textUpTo = (maxLength: number) => z.string().transform((text) => cutText(text, maxLength));

export const WebhookContact = z.object({
  wa_id: id.nullish(),
  user_id: id.nullish(),
  profile: z
    .object({ name: textUpTo(255).nullish(), username: textUpTo(64).nullish() })
    .nullish()
    .catch(null),
});
export type WebhookContact = z.output<typeof WebhookContact>;

export const WebhookMessage = z.looseObject({
  id,
  from: digits.nullish().catch(null),
  from_user_id: id.nullish().catch(null),
  /** Of a message in a group. */
  group_id: id.nullish().catch(null),
  timestamp: seconds,
  type: z.string().max(64),
  context: z
    .looseObject({ id: id.nullish().catch(null) })
    .nullish()
    .catch(null),
});
export type WebhookMessage = z.output<typeof WebhookMessage>;

/** A message of the number's owner; `from` is the number itself. */
export const Echo = WebhookMessage.extend({
  to: digits.nullish().catch(null),
  to_user_id: id.nullish().catch(null),
});

/** A person's choice about marketing. */
export const Preference = z
  .object({
    wa_id: digits.nullish().catch(null),
    user_id: id.nullish().catch(null),
    category: z.literal("marketing_messages"),
    value: z.enum(["stop", "resume"]),
    timestamp: seconds,
  })
  .refine(({ wa_id, user_id }) => Boolean(wa_id || user_id));

export const Status = z.object({
  id,
  status: z.string(),
  timestamp: seconds,
  biz_opaque_callback_data: z.string().max(512).nullish(),
  pricing: z
    .object({
      billable: z.boolean().nullish(),
      type: z.string().nullish(),
      category: z.string().max(64).nullish(),
    })
    .nullish()
    .catch(null),
  errors: z
    .array(
      z.object({
        code: z.int(),
        title: z.string().default(""),
        error_data: z.object({ details: z.string().nullish() }).nullish().catch(null),
      }),
    )
    .nullish()
    .catch(null),
});
export type Status = z.output<typeof Status>;
