/** The marks of what customers write: no text of a contact, a conversation or a message is forgotten. */
import { expect, test } from "vitest";
import type { z } from "zod";
import { Contact } from "../tools/contacts.ts";
import { type Operation, toJsonSchema, untrustedPaths } from "../tools/contract/index.ts";
import { Conversation } from "../tools/conversations.ts";
import { catalogue } from "../tools/index.ts";
import { messages } from "../tools/messages/index.ts";
import { isOpenObject, type Place, placesOf } from "./support/places.ts";

/**
 * Written by the organization and its staff, by the service or by the channel, or
 * validated as a phone number.
 */
const trusted = [
  "tags[]",
  "platform",
  "assigned_to",
  "assigned_to_name",
  "from",
  "to",
  "phone_number",
  "blocked_reason",
  "reply_to",
  "reactions[].from",
  "price.currency",
  "price.category",
  "price.country",
  "sent_by.id",
  "sent_by.name",
  "sent_by.tool",
  "sent_by.node_id",
  "sent_by.sources[]",
  "error.code",
  "error.title",
  "error.detail",
  "error.hint",
  "waiting_for.last_error.code",
  "waiting_for.last_error.title",
  "waiting_for.last_error.detail",
];

const resources = { Contact, Conversation, Message: messages.get_message.output.shape.data };

test.each(Object.entries(resources))("every text of a %s is marked or known to be trusted", (_, schema) => {
  const marked = untrustedPaths(schema);
  const isMarked = (path: string) => marked.some((one) => path === one || path.startsWith(`${one}.`));
  const texts = textsOf(schema).filter((path) => !isMarked(path) && !/(?:^|_)id$/.test(path));
  expect(texts.filter((path) => !trusted.includes(path))).toEqual([]);
});

test("a field that only customers write is marked in every output that has it", () => {
  const names = Object.values(resources).flatMap((schema) => untrustedPaths(schema));
  // Users, teams and others have a name too; the organization writes its templates.
  const isCustomers = (path: string) =>
    names.includes(lastOf(path)) && lastOf(path) !== "name" && !path.includes("template_data.");
  const forgotten = Object.entries<Operation>(catalogue).flatMap(([operation, { output }]) => {
    const marked = untrustedPaths(output);
    const found = [...placesOf(toJsonSchema(output, "output"))].map(pathOf).filter(isCustomers);
    const isMarked = (path: string) => marked.some((one) => path === one || path.startsWith(`${one}.`));
    return found.filter((path) => !isMarked(path)).map((path) => `${operation}: ${path}`);
  });
  expect(forgotten).toEqual([]);
});

/** The paths of texts that may be anything: not those of a set of values or a format. */
function textsOf(schema: z.ZodType): string[] {
  return [...placesOf(toJsonSchema(schema, "output"))].flatMap((place) => {
    const { type, format, enum: values } = place.schema;
    return (type === "string" && format === undefined && values === undefined) || isOpenObject(place.schema)
      ? pathOf(place)
      : [];
  });
}

/** As `untrustedPaths` writes it. */
function pathOf({ path }: Place): string {
  return path.reduce<string>(
    (text, step) => (step === 0 ? `${text}[]` : text === "" ? step : `${text}.${step}`),
    "",
  );
}

function lastOf(path: string): string {
  return path.split(".").at(-1) ?? "";
}
