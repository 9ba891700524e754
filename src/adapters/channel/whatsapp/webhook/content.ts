/** The content of a received message, by its type at WhatsApp. */
import { z } from "zod";
import type { AccountMessage } from "../../../../ports/channel/channel.ts";
import type { MediaType } from "../../../../ports/channel/message-content.ts";
import { readAll } from "../read-all.ts";
import { seconds, type WebhookMessage } from "./envelope.ts";
import { parseStorable } from "./storable.ts";

type Content = Pick<AccountMessage, "content" | "file">;

const withoutFile = (content: AccountMessage["content"]): Content => ({ content, file: null });

/** Null for a text that is missing or empty. */
const optionalText = z
  .string()
  .nullish()
  .catch(null)
  .transform((text) => text || null);

const Text = z
  .object({ text: z.object({ body: z.string().min(1) }) })
  .transform(({ text: { body } }) => withoutFile({ type: "text", text: { body } }));

const reply = (id: string, title: string, description?: string | null) =>
  withoutFile({ type: "interactive", reply: { id, title, ...(description ? { description } : {}) } });

/** A quick reply of a template. */
const Button = z
  .object({ button: z.object({ payload: z.string().nullish(), text: z.string() }) })
  .transform(({ button: { payload, text } }) => reply(payload ?? text, text));

const Choice = z.object({ id: z.string(), title: z.string(), description: optionalText });

/** The answers are a JSON text. */
const FormAnswers = z
  .object({ name: optionalText, response_json: z.string() })
  .transform(({ name, response_json }, context) => {
    const answers = z.record(z.string(), z.unknown()).safeParse(parseStorable(response_json));
    if (!answers.success) {
      context.addIssue("The answers are no JSON object.");
      return z.NEVER;
    }
    return withoutFile({ type: "form", form: { name, answers: answers.data } });
  });

const CallPermission = z
  .object({
    response: z.enum(["accept", "reject"]),
    is_permanent: z.boolean().nullish().catch(null),
    expiration_timestamp: seconds.nullish().catch(null),
  })
  .transform(({ response, is_permanent, expiration_timestamp }) =>
    withoutFile({
      type: "call_permission",
      call_permission: {
        is_granted: response === "accept",
        is_permanent: is_permanent ?? false,
        expires_at: expiration_timestamp ?? null,
      },
    }),
  );

/** What a person did with an interactive message. */
const Interactive = z
  .object({
    interactive: z.union([
      z
        .object({ type: z.literal("button_reply"), button_reply: Choice })
        .transform(({ button_reply: { id, title } }) => reply(id, title)),
      z
        .object({ type: z.literal("list_reply"), list_reply: Choice })
        .transform(({ list_reply: { id, title, description } }) => reply(id, title, description)),
      z
        .object({ type: z.literal("nfm_reply"), nfm_reply: FormAnswers })
        .transform(({ nfm_reply }) => nfm_reply),
      z
        .object({ type: z.literal("call_permission_reply"), call_permission_reply: CallPermission })
        .transform(({ call_permission_reply }) => call_permission_reply),
    ]),
  })
  .transform(({ interactive }) => interactive);

const Location = z
  .object({
    location: z.object({
      latitude: z.number().min(-90).max(90),
      longitude: z.number().min(-180).max(180),
      name: optionalText,
      address: optionalText,
      url: optionalText,
    }),
  })
  .transform(({ location }) => withoutFile({ type: "location", location }));

const Card = z
  .object({
    name: z.object({ formatted_name: optionalText, first_name: optionalText }),
    org: z.object({ company: optionalText }).nullish().catch(null),
    phones: z.unknown().optional(),
    emails: z.unknown().optional(),
  })
  .transform(({ name: { formatted_name, first_name }, org, phones, emails }) => ({
    name: formatted_name ?? first_name ?? "",
    organization: org?.company ?? null,
    phones: readAll(z.object({ phone: z.string().min(1) }), phones).map(({ phone }) => phone),
    emails: readAll(z.object({ email: z.string().min(1) }), emails).map(({ email }) => email),
  }));

const Contacts = z
  .object({ contacts: z.array(Card).min(1) })
  .transform(({ contacts }) => withoutFile({ type: "contacts", contacts }));

const OrderItem = z
  .object({
    product_retailer_id: z.string().min(1),
    quantity: z.coerce.number(),
    item_price: z.coerce.number().nullish().catch(null),
    currency: optionalText,
  })
  .transform(({ product_retailer_id: product_id, quantity, item_price, currency }) => ({
    product_id,
    quantity,
    price: item_price ?? null,
    currency,
  }));

const Order = z
  .object({
    order: z.object({ catalog_id: optionalText, text: optionalText, product_items: z.array(OrderItem) }),
  })
  .transform(({ order: { catalog_id, text: note, product_items: items } }) =>
    withoutFile({ type: "order", order: { catalog_id, note, items } }),
  );

const File = z.object({
  id: z.string().min(1).max(255),
  mime_type: z.string().max(255),
  caption: z.string().nullish(),
  filename: z.string().nullish(),
  voice: z.boolean().nullish().catch(null),
});

const media = (type: MediaType | "sticker") =>
  z.object({ [type]: File }).transform((message): Content => {
    // The schema requires this member.
    const { id, mime_type, caption, filename, voice } = message[type] as z.output<typeof File>;
    const isVoice = voice ? { voice: true as const } : {};
    return {
      content: {
        type,
        media: { url: "", caption: caption ?? null, file_name: filename ?? null, ...isVoice },
      },
      file: { id, content_type: mime_type },
    };
  });

const readers: Readonly<Record<string, z.ZodType<Content>>> = {
  text: Text,
  button: Button,
  interactive: Interactive,
  location: Location,
  contacts: Contacts,
  order: Order,
  image: media("image"),
  video: media("video"),
  document: media("document"),
  audio: media("audio"),
  sticker: media("sticker"),
};

const Unsupported = z.object({
  errors: z.array(z.object({ error_data: z.object({ details: z.string().min(1) }) })).min(1),
});

/** A type that this service does not have, or a message of another form than expected, is unsupported. */
export function contentOf(message: WebhookMessage): Content {
  const read = Object.hasOwn(readers, message.type)
    ? readers[message.type]?.safeParse(message).data
    : undefined;
  if (read) {
    return read;
  }
  const [error] = Unsupported.safeParse(message).data?.errors ?? [];
  const reason = error ? { reason: error.error_data.details } : {};
  return withoutFile({ type: "unsupported", unsupported: { type: message.type, ...reason } });
}
