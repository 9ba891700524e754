/** What a received message has besides its content: its origin, and what this service has no member for. */
import { z } from "zod";
import type { AccountMessage } from "../../../../ports/channel/channel.ts";
import type { WebhookMessage } from "./envelope.ts";

type Details = AccountMessage["details"];

/** Null for a text that is missing or empty. */
const text = z
  .string()
  .max(4_096)
  .nullish()
  .catch(null)
  .transform((value) => value || null);

const Referral = z
  .object({
    source_type: text,
    source_id: text,
    source_url: text,
    headline: text,
    body: text,
    ctwa_clid: text,
  })
  .transform(({ ctwa_clid: click_id, ...referral }) => ({ ...referral, click_id }));

const Product = z
  .object({ catalog_id: text, product_retailer_id: z.string().min(1) })
  .transform(({ catalog_id, product_retailer_id: product_id }) => ({ catalog_id, product_id }));

const Details = z.object({
  referral: Referral.optional().catch(undefined),
  context: z
    .object({
      referred_product: Product.optional().catch(undefined),
      forwarded: z.boolean().optional().catch(undefined),
      frequently_forwarded: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** `content` is what was read of the message. */
export function detailsOf(message: WebhookMessage, { type }: AccountMessage["content"]): Details {
  const { referral, context = {} } = Details.parse(message);
  const { referred_product, forwarded, frequently_forwarded } = context;
  const often = frequently_forwarded ? ("frequently" as const) : forwarded && ("once" as const);
  const rest = withoutNamed(message, type === "unsupported" ? named : { ...named, ...namedContents });
  return {
    ...(referral && { referral }),
    ...(referred_product && { referred_product }),
    ...(often && { forwarded: often }),
    ...(rest !== undefined && { channel_data: rest as Record<string, unknown> }),
  };
}

/** The members of a value that are shown elsewhere: `true` for the whole, or some of an object. */
interface Named {
  readonly [name: string]: true | Named;
}

const referralFields: Named = {
  source_type: true,
  source_id: true,
  source_url: true,
  headline: true,
  body: true,
  ctwa_clid: true,
};

const named: Named = {
  id: true,
  from: true,
  from_user_id: true,
  timestamp: true,
  type: true,
  context: {
    id: true,
    from: true,
    forwarded: true,
    frequently_forwarded: true,
    referred_product: { catalog_id: true, product_retailer_id: true },
  },
  referral: referralFields,
};

/** The address of a file at Meta opens for its account only, and for minutes. */
const file: Named = { id: true, caption: true, filename: true, mime_type: true, voice: true, url: true };
const choice: Named = { id: true, title: true, description: true };

/** Contact cards have more members than are shown, and keep them. */
const namedContents: Named = {
  text: { body: true },
  button: { payload: true, text: true },
  interactive: {
    type: true,
    button_reply: choice,
    list_reply: choice,
    nfm_reply: { name: true, response_json: true, body: true },
    call_permission_reply: { response: true, is_permanent: true, expiration_timestamp: true },
  },
  location: { latitude: true, longitude: true, name: true, address: true, url: true },
  order: { catalog_id: true, text: true, product_items: true },
  image: file,
  video: file,
  document: file,
  audio: file,
  sticker: file,
};

/** Undefined if nothing is left. */
function withoutNamed(value: object, known: Named): object | undefined {
  const left = Object.entries(value).flatMap(([name, member]) => {
    const part = known[name];
    if (part === true || member === null || member === undefined) {
      return [];
    }
    const isPart = part !== undefined && typeof member === "object" && !Array.isArray(member);
    const rest = isPart ? withoutNamed(member, part) : member;
    return rest === undefined ? [] : [[name, rest] as const];
  });
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
