/** The person who wrote: in the payload of a job, and by the address that is stored. */
import { z } from "zod";
import type { InboundMessage } from "../../../../ports/channel/channel.ts";

const identity = z.string().nullish();

/** Members of a payload. */
export const senderFields = {
  from: z.string().nullable(),
  identities: z.object({ wa_id: identity, bsuid: identity, username: identity }).optional(),
};

/** The number or, if it is hidden, another identity. Only a number or a bsuid can be replied to. */
export function senderOf({ from, identities = {} }: Pick<InboundMessage, "from" | "identities">): string {
  return from ?? identities.bsuid ?? identities.wa_id ?? identities.username ?? "";
}
