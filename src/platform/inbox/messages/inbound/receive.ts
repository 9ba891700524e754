/**
 * Receives a message that a channel's provider has reported, with its file, which the provider keeps for a short time only.
 *
 * The file is copied into our store first, so that it can be opened once the message is reported. If that is impossible, the
 * message is stored without it, as one of a type that is not supported.
 */
import { z } from "zod";
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { mediaTypes } from "../../../../../tools/messages/index.ts";
import { maxUploadBytes } from "../../../../../tools/uploads.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Attempt } from "../../../../jobs/job.ts";
import { limitBytes } from "../../../../streams/bytes.ts";
import { withDeadline } from "../../../../time/deadline.ts";
import { getOrDefaultInbox, providerOf, readAccount } from "../../../account/inboxes/index.ts";
import { createLink, nameOfType, type ReceivedFile, receiveFile } from "../../../content/uploads/index.ts";
import { defineJob, type World } from "../../../foundation/kernel/index.ts";
import { receiveMessage } from "./store.ts";

const text = z.string().nullish();

const Content = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.object({ body: z.string() }) }),
  z.object({
    type: z.enum(mediaTypes),
    media: z.object({ url: z.string(), caption: z.string().nullable(), file_name: z.string().nullable() }),
  }),
  z.object({ type: z.literal("interactive"), reply: z.object({ id: z.string(), title: z.string() }) }),
  z.object({ type: z.literal("unsupported"), unsupported: z.object({ type: z.string() }) }),
]);
type Content = z.infer<typeof Content>;

const Payload = z.object({
  organization_id: z.string(),
  inbox_id: z.string(),
  message: z.object({
    channel_message_id: z.string(),
    from: z.string().nullable(),
    identities: z.object({ wa_id: text, bsuid: text, username: text }).optional(),
    name: z.string().nullable(),
    occurred_at: z.string(),
    reply_to: text,
    content: Content,
    file: z.object({ id: z.string(), content_type: z.string() }).nullable(),
    original: z.record(z.string(), z.unknown()),
  }),
});
type Payload = z.infer<typeof Payload>;

const fetchTimeoutMs = 45_000;

export const receiveMessageJob = defineJob({
  name: "message.receive",
  payload: Payload,
  // What the same person wrote next waits for this one.
  maxAttempts: 8,
  slots: 1 / 4,
  isKeptByErasure: true,

  async run(payload, world, attempt) {
    const { message } = payload;
    if (message.file !== null && (await isKnown(world, payload))) {
      return undefined;
    }
    const inbox = await findInbox(world, payload);
    const { channel } = inbox;
    const file = message.file === null ? null : await fetchFile(world, { ...payload, channel }, attempt);
    await store(world, payload, { inbox, file });
    return undefined;
  },

  /** The provider does not repeat it, so it is stored even if the process died in each attempt, as while it copied the file. */
  async exhausted(payload, world) {
    try {
      await store(world, payload, { inbox: await findInbox(world, payload), file: null });
    } catch (error) {
      // Thrown, it would be tried again without end, and what the person wrote next would wait.
      const { organization_id, message } = payload;
      const { channel_message_id } = message;
      world.log.error(
        { err: error, organization_id, channel_message_id },
        "A received message could not be stored",
      );
    }
  },
});

async function findInbox(world: World, { organization_id, inbox_id }: Payload) {
  return getOrDefaultInbox(world.database.queries, organization_id, inbox_id);
}

interface Fetched {
  readonly inbox: Awaited<ReturnType<typeof findInbox>>;
  readonly file: ReceivedFile | null;
}

async function store(
  world: World,
  { organization_id, message }: Payload,
  { inbox, file }: Fetched,
): Promise<void> {
  const { channel, phone_number: to } = inbox;
  const isLost = message.file !== null && file === null;
  const content = isLost ? unsupported(message.content) : withFile(world, message.content, file);
  const { original, file: _, ...sent } = message;
  const arrival = {
    file,
    original: content.type === "unsupported" ? original : null,
  };
  await receiveMessage(world, { organization_id, channel, to, ...sent, content }, arrival);
}

/** A repeated report must not fetch the file again. */
async function isKnown(world: World, { organization_id, message }: Payload): Promise<boolean> {
  const known = await ofOrganization(world.database.queries, organization_id)
    .selectFrom("messages")
    .select("id")
    .where("channel_message_id", "=", message.channel_message_id)
    .executeTakeFirst();
  return known !== undefined;
}

/** Null if it can't be had or stored. @throws Error if a later attempt may succeed. */
async function fetchFile(
  world: World,
  { organization_id, inbox_id, channel, message }: Payload & { readonly channel: string },
  attempt: Attempt,
): Promise<ReceivedFile | null> {
  try {
    const found = await readAccount(world.database.queries, world, { organization_id, inbox_id });
    const provider = providerOf(world, channel);
    const { file, content } = message;
    if (!found || !provider || file === null || !("media" in content)) {
      return null;
    }
    const owner = { world, organization: organization_id, credential_id: null };
    const name = content.media.file_name ?? nameOfType(content.type, file.content_type);
    const fetched = await withDeadline(fetchTimeoutMs, [attempt.signal], ({ signal }) =>
      provider.fetchFile(found.account, { id: file.id, signal }, ({ body }) =>
        receiveFile(owner, {
          name,
          type: file.content_type,
          body: limitBytes(body, maxUploadBytes, () => fail("file_too_large", { limit: maxUploadBytes })),
        }),
      ),
    );
    return fetched ?? null;
  } catch (error) {
    if (!(error instanceof Failure) && !attempt.isLast) {
      throw error;
    }
    const { channel_message_id } = message;
    world.log.warn(
      { err: error, organization_id, channel_message_id },
      "A received file could not be stored",
    );
    return null;
  }
}

function withFile(world: World, content: Content, file: ReceivedFile | null): Content {
  if (file === null || !("media" in content)) {
    return content;
  }
  const { url } = createLink(world, file.key, world.now());
  const media = { ...content.media, url, upload: file.key };
  return { type: content.type, media };
}

function unsupported({ type }: Content): Content {
  return { type: "unsupported", unsupported: { type } };
}
