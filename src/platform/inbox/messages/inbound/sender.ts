/** The address of a person who wrote. */
import type { InboundMessage } from "../../../../ports/channel/channel.ts";

/** The number or, if it is hidden, another identity. Only a number or a bsuid can be replied to. */
export function senderOf({ from, identities = {} }: Pick<InboundMessage, "from" | "identities">): string {
  return from ?? identities.bsuid ?? identities.wa_id ?? identities.username ?? "";
}
