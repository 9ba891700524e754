/** Where conditions find the attributes of contacts, in the rows of the table `contacts`. */
import { sql } from "kysely";
import {
  type contactAttributes,
  type Expression,
  jsonSource,
  type Sources,
  tagsSource,
  valueSource,
} from "../../../foundation/query/index.ts";
import { storedDate } from "./date-attributes.ts";

const normalized = sql`contacts.normalized`;

/**
 * A list in JSON, which needs no subquery as an array would: with one, the planner would use a single worker.
 */
const normalizedTags = sql`(${normalized} -> 'tags')`;

export const contactSources = {
  name: valueSource("own", {
    text: sql`lower(coalesce(${normalized} ->> 'name', contacts.name) collate "C")`,
    exists: sql<boolean>`contacts.name is not null`,
  }),
  phone_number: valueSource("own", {
    text: sql`contacts.phone_number`,
    exists: sql<boolean>`contacts.phone_number is not null`,
  }),
  country: valueSource("own", {
    text: sql`lower(contacts.country collate "C")`,
    exists: sql<boolean>`contacts.country is not null`,
  }),
  tags: tagsSource("own", {
    hasAny: (tags) => sql<boolean>`case when ${normalizedTags} is null then contacts.tags && ${tags}
      else ${normalizedTags} ?| ${tags} end`,
    hasAll: (tags) => sql<boolean>`case when ${normalizedTags} is null then contacts.tags @> ${tags}
      else ${normalizedTags} ?& ${tags} end`,
    exists: sql<boolean>`cardinality(contacts.tags) > 0`,
  }),
  created_at: valueSource("own", { time: sql`contacts.created_at`, exists: sql<boolean>`true` }),
  updated_at: valueSource("own", { time: sql`contacts.updated_at`, exists: sql<boolean>`true` }),
  opted_out: flag(sql`contacts.opted_out`),
  blocked: flag(sql`(contacts.blocked_at is not null)`),
  "metadata.<path>": (context, attribute) => {
    const path = attribute.slice("metadata.".length);
    const names = path.split(".");
    const last = names.pop() ?? "";
    // Not #>, for which a number in the path is a place in a list.
    const parent = (object: Expression) =>
      names.reduce<Expression>((value, name) => sql`(${value} -> ${name}::text)`, object);
    const metadata = parent(sql`contacts.metadata`);
    const normalizedMetadata = parent(sql`coalesce(${normalized} -> 'metadata', contacts.metadata)`);
    return jsonSource("own", {
      value: sql`(${metadata} -> ${last}::text)`,
      plainText: sql`(${metadata} ->> ${last}::text)`,
      normalized: sql`(${normalizedMetadata} -> ${last}::text)`,
      storedTime: storedDate(context.organization, path),
    })(context);
  },
} satisfies {
  // The module conversations has the missing one.
  readonly [Name in Exclude<keyof typeof contactAttributes, "last_user_message_at">]: Sources[string];
};

/** A truth value is compared as text, as `matchesQuery` does. */
function flag(column: Expression) {
  return valueSource("own", {
    text: sql`(case when ${column} then 'true' else 'false' end)`,
    exists: sql<boolean>`true`,
  });
}
