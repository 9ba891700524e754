/** Fields that mean the same everywhere: ids, phone numbers, times, paging. */
import { z } from "zod";

/** The id of a thing; `list` names the tool that finds it. */
export function id(thing: string, list: string) {
  return z.string().min(1).max(64).describe(`${thing} id, from ${list}`);
}

/** The inbox to work in; a conversation tells its own. */
export const inboxId = id("Inbox", "list_inboxes or get_conversation");

/** A person of the organization: an agent. */
export const userId = id("User", "list_users");

/** A phone number as a caller may write it; the service keeps it in E.164 form. */
export const phone = z.string().min(3).max(32).describe("With country code, like +14155550123");

/** Whom a message is for; a contact who hides the number has a bsuid instead. */
export const recipient = z
  .string()
  .min(3)
  .max(140)
  .describe("Phone number with country code, like +14155550123, or a contact's bsuid");

/** A moment, ISO 8601 with an offset. */
export const timestamp = z.iso.datetime({ offset: true });

/** The last moment that has four digits for its year, which is what times are written with. */
const lastTimestamp = Date.parse("9999-12-31T23:59:59.999Z");

/** A moment that a caller names: read into UTC, since not every offset that can be written can be stored. */
export const inputTimestamp = timestamp
  .refine((text) => Date.parse(text) <= lastTimestamp, {
    error: "Send a time before the year 10000.",
    abort: true,
  })
  .overwrite((text) => new Date(text).toISOString());

/** In characters, as JSON. */
export const maxMetadata = 16_384;

/** Free key-value attributes, at most 16 kB as JSON. */
export const metadata = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= maxMetadata,
    `At most ${maxMetadata} characters as JSON.`,
  );

/** An open JSON object, at most 64 kB. What is in it is checked by whoever reads it. */
export const jsonObject = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= 65_536, "At most 65536 characters as JSON.");

export const page = z.int().min(1).default(1).describe("Page, from 1");

/** Over the maximum is read as the maximum; the answer tells what was used. */
export function pageSize(size: number) {
  return z
    .int()
    .min(1)
    .overwrite((value) => Math.min(value, 100))
    .default(size)
    .describe("Page size, at most 100");
}

/** The answer to a deletion. */
export const Deleted = z.object({ deleted: z.literal(true) });
