/** The person who wrote: in the payload of a job, and by the address that is stored. */
import { z } from "zod";
import type { Identities } from "../../../../ports/channel/address.ts";
import { identitiesOf } from "./kinds.ts";

const identity = z.string().nullish();

/**
 * Members of a payload. A number stands apart from the other identities, because a previous version, which
 * may run beside this one, writes and reads this form.
 */
export const senderFields = {
  from: z.string().nullable(),
  identities: z.record(z.string(), identity).optional(),
};

export interface StoredSender {
  readonly from: string | null;
  readonly identities?: Identities | undefined;
}

/** A report of a person with the person in the stored form. */
export function withStoredSender<Report extends { readonly from: Identities }>({ from, ...report }: Report) {
  const { phone = null, ...identities } = from;
  return { ...report, from: phone, identities };
}

/** The reverse of `withStoredSender`. */
export function withSender<Stored extends StoredSender>({ from, identities, ...report }: Stored) {
  return { ...report, from: { ...identities, phone: from } };
}

/** The number or, if it is hidden, another identity. Not every kind of identity can be replied to. */
export function senderOf({ phone, username, ...ids }: Identities): string {
  const [id] = identitiesOf(ids);
  return phone ?? id?.value ?? username ?? "";
}
