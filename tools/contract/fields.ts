/** Fields with the same meaning in every operation, and the shapes of responses. */
import { z } from "zod";
import { fitsJson } from "./json.ts";

/** The id of a resource; `list` is the tool that finds it. */
export function id(thing: string, list: string) {
  return z.string().min(1).max(64).describe(`${thing} id, from ${list}`);
}

export const inboxId = id("Inbox", "whoami");

export const userId = id("User", "list_users");

/** A phone number in any notation; the service stores it in E.164 format. */
export const phone = z.string().min(3).max(32).describe("With country code, like +14155550123");

const passwordLength = { min: 10, max: 1024 } as const;

/** The rule for every password that is set. */
export const passwordRule = {
  ...passwordLength,
  text: `${passwordLength.min} to ${passwordLength.max} characters`,
} as const;

/** A new password. A password that is verified may have any length. */
export const chosenPassword = z
  .string()
  .min(passwordRule.min, `Send ${passwordRule.text}.`)
  .max(passwordRule.max, `Send ${passwordRule.text}.`)
  .describe(`Password, ${passwordRule.text}`);

/** How long a tag may be, and how many one request may name. */
export const tagLimits = { length: 64, count: 50 } as const;

/** In lower case and one Unicode form, so that VIP and vip are the same tag. */
export function normalizeTag(text: string): string {
  return text.normalize().trim().toLowerCase();
}

export const tag = z.string().overwrite(normalizeTag).min(1).max(tagLimits.length);

export const tags = z.array(tag).max(tagLimits.count).default([]);

/** A country, ISO 3166-1 alpha-2. */
export const country = z
  .string()
  .max(16)
  .trim()
  .toUpperCase()
  .regex(/^[A-Z]{2}$/, "Send a two-letter country code (ISO 3166), for example DE.");

/** The address of a file. */
export const fileAddress = z
  .url({ protocol: /^https?$/, error: "Send an address that begins with http:// or https://." })
  .max(2048, "At most 2048 characters.");

/** The recipient of a message: a phone number, or the bsuid of a contact who hides the number. */
export const recipient = z
  .string()
  .min(3)
  .max(140)
  .describe("Phone number like +14155550123, contact id, conversation id or bsuid");

/** A time, ISO 8601 with an offset. */
export const timestamp = z.iso.datetime({ offset: true });

/** The first and the last time with a four-digit year from 1 on. Other times are not stored. */
const [firstTimestamp, lastTimestamp] = [Date.parse("0001-01-01"), Date.parse("9999-12-31T23:59:59.999Z")];

/** A time sent by a caller, converted to UTC. */
export const inputTimestamp = timestamp
  .max(64)
  // The limit of PostgreSQL. The offsets of all time zones are smaller.
  .refine((text) => !/[+-](?:1[6-9]|2\d):\d\d$/.test(text), {
    error: "Send an offset from UTC of less than 16 hours.",
    abort: true,
  })
  .refine((text) => Date.parse(text) >= firstTimestamp && Date.parse(text) <= lastTimestamp, {
    error: "Send a time from the year 1 to the year 9999.",
    abort: true,
  })
  .overwrite((text) => new Date(text).toISOString());

/**
 * The field with another description in the list of tools, where its form is another, or
 * every word costs tokens.
 */
export function describedForTools<Field extends z.ZodType>(field: Field, toolDescription: string): Field {
  return field.meta({ toolDescription });
}

type JsonObject = Record<string, unknown>;

/**
 * An object for which `fits` is true. `fits` is called before Zod looks at the members, because an object may
 * have many. Values that are no objects are left to `schema`.
 */
export function limitedObject<Schema extends z.ZodType>(
  fits: (value: JsonObject) => boolean,
  error: string,
  schema: Schema,
) {
  return z.preprocess((value: unknown, context) => {
    if (typeof value === "object" && value !== null && !fits(value as JsonObject)) {
      context.addIssue(error);
    }
    return value;
  }, schema);
}

/** An open object for which `fits` is true. */
export function openObject(fits: (value: JsonObject) => boolean, error: string) {
  return limitedObject(fits, error, z.record(z.string(), z.unknown()));
}

function limitedJson(limit: number) {
  return openObject((value) => fitsJson(value, limit), `At most ${limit} characters as JSON.`);
}

/** In characters, as JSON. */
export const maxMetadata = 16_384;

/** Custom key-value attributes. */
export const metadata = limitedJson(maxMetadata);

/** An open JSON object. Its content is validated where it is used. */
export const jsonObject = limitedJson(65_536);

export const page = z.int().min(1).default(1).describe("Default 1");

/** A larger value is read as the maximum; `meta` in the response has the size used. */
export function pageSize(size: number) {
  return z
    .int()
    .min(1)
    .overwrite((value) => Math.min(value, 100))
    .default(size)
    .describe(`Default ${size}, at most 100`);
}

/** phone: the app on the phone of the inbox's owner. */
export const actorTypes = ["api_key", "user", "flow", "bot", "system", "phone"] as const;
export type ActorType = (typeof actorTypes)[number];

/** The actor of a change; `system` is the service itself. */
export const RecordedActor = z.object({ type: z.enum(actorTypes), id: z.string(), name: z.string() });

/** The data of a delete response. */
export const DeletionResult = z.object({ deleted: z.literal(true) });

/** A response with one object. */
export function one<Data extends z.ZodType>(data: Data) {
  return z.object({ data });
}

/** A response with a whole list. */
export function all<Data extends z.ZodType>(data: Data) {
  return z.object({ data: z.array(data), meta: z.object({ total: z.int() }) });
}

/** A response with one page of a list. */
export function paged<Data extends z.ZodType>(data: Data) {
  return z.object({
    data: z.array(data),
    meta: z.object({
      page: z.int(),
      per_page: z.int(),
      total: z.int(),
      /** Present only if the list is too long to be counted for each page. */
      total_is_estimate: z.literal(true).optional(),
    }),
  });
}

/**
 * A response with the entries that are newer than a cursor, oldest first. `meta.cursor` is the cursor of the
 * next request.
 */
export function newer<Data extends z.ZodType>(data: Data) {
  return z.object({ data: z.array(data), meta: z.object({ cursor: z.string() }) });
}

/** The input fields of a paged list; `size` is the default page size. */
export function paging(size: number) {
  return { page, per_page: pageSize(size) };
}
