/** The content of a received message, by its type at WhatsApp. */
import { z } from "zod";
import type { AccountMessage } from "../../../../ports/channel/channel.ts";
import type { MediaType } from "../../../../ports/channel/message-content.ts";
import type { WebhookMessage } from "./envelope.ts";

type Content = Pick<AccountMessage, "content" | "file">;

const Text = z
  .object({ text: z.object({ body: z.string().min(1) }) })
  .transform(({ text: { body } }): Content => ({ content: { type: "text", text: { body } }, file: null }));

const reply = (id: string, title: string): Content => ({
  content: { type: "interactive", reply: { id, title } },
  file: null,
});

/** A quick reply of a template. */
const Button = z
  .object({ button: z.object({ payload: z.string().nullish(), text: z.string() }) })
  .transform(({ button: { payload, text } }) => reply(payload ?? text, text));

const Choice = z.object({ id: z.string(), title: z.string() });

/**
 * A button or a row of an interactive message; other kinds, such as the answers of a form, are not supported.
 */
const Interactive = z
  .object({
    interactive: z.union([
      z.object({ type: z.literal("button_reply"), button_reply: Choice }),
      z.object({ type: z.literal("list_reply"), list_reply: Choice }),
    ]),
  })
  .transform(({ interactive }) => {
    const { id, title } =
      interactive.type === "button_reply" ? interactive.button_reply : interactive.list_reply;
    return reply(id, title);
  });

const File = z.object({
  id: z.string().min(1).max(255),
  mime_type: z.string().max(255),
  caption: z.string().nullish(),
  filename: z.string().nullish(),
});

const media = (type: MediaType) =>
  z.object({ [type]: File }).transform((message): Content => {
    // The schema requires this member.
    const { id, mime_type, caption, filename } = message[type] as z.output<typeof File>;
    return {
      content: { type, media: { url: "", caption: caption ?? null, file_name: filename ?? null } },
      file: { id, content_type: mime_type },
    };
  });

const readers: Readonly<Record<string, z.ZodType<Content>>> = {
  text: Text,
  button: Button,
  interactive: Interactive,
  image: media("image"),
  video: media("video"),
  document: media("document"),
  audio: media("audio"),
};

/** A type that this service does not have, or a message of another form than expected, is unsupported. */
export function contentOf(message: WebhookMessage): Content {
  const read = Object.hasOwn(readers, message.type)
    ? readers[message.type]?.safeParse(message).data
    : undefined;
  return read ?? { content: { type: "unsupported", unsupported: { type: message.type } }, file: null };
}
