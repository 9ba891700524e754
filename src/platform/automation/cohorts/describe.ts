/** Describes what queries can use: attributes, operators, and the tags and metadata that contacts have. */
import { type RawBuilder, sql } from "kysely";
import type { QueryOperator } from "../../../../tools/cohorts/index.ts";
import type { Queries } from "../../../database/database.ts";
import { rowsOf } from "../../../database/query/index.ts";
import { cohortAttributes, exampleOf, operatorsOf, type ValueType } from "../../foundation/query/index.ts";
import { type DateAttribute, listDateAttributes } from "../../inbox/contacts/index.ts";

/** How many contacts, newest first, are read for metadata and tags: 10,000 take about 50 ms. */
const maxExamined = 10_000;

/** How many are listed, the most frequent first. */
const maxListed = 100;

const descriptions: { readonly [Name in keyof typeof cohortAttributes]: string } = {
  name: "Name",
  phone_number: "Number with country code, like +14155550123",
  country: "Country of the number, by its two-letter code, like DE",
  tags: "Tags of the contact",
  created_at: "When the contact was created",
  updated_at: "When the contact was changed last",
  last_user_message_at: "When the contact wrote last, in any conversation; missing if never",
  opted_out: "Whether the contact opted out of marketing; broadcasts exclude it anyway",
  blocked: "Whether the contact is blocked; broadcasts exclude it anyway",
  "metadata.<path>":
    "Custom attribute, like metadata.city or metadata.address.city; case matters in its name",
  "conversation.status": "Status of a conversation",
  "conversation.assigned_to": "User id of its agent; missing if it has none",
  "conversation.tags": "Tags of a conversation",
  "conversation.inbox_id": "Inbox of a conversation",
  "conversation.is_favorite": "Whether a conversation is marked as favorite",
  "conversation.referral_id": "Id of the ad or post by which the contact came last; missing if by none",
  "conversation.last_message_at": "When the last message of a conversation was sent or received",
  "conversation.last_user_message_at": "When the contact wrote last in a conversation",
};

const rules = [
  'A query is one condition {"attribute","operator","value"}, or one group: {"and":[…]}, {"or":[…]} or {"not":{…}}. Groups may be nested to 5 levels. {} selects all contacts.',
  "At most 50 conditions and 1,000 values.",
  "Texts are compared without case. A missing value meets only neq, not_in, not_contains, not_exists and not_within_last.",
  "A list in metadata matches when one of its elements does; contains then compares whole elements. Numbers and dates stored as text are compared as such.",
  "Dates in metadata are compared faster once declare_attribute has declared their attribute; the operators stay those of metadata.",
  "Conditions on conversation.* in one and-group are about the same conversation. Put not around them for contacts who have no such conversation. A contact without conversations counts as having an empty one.",
  "not_within_last includes contacts who never wrote; add exists to leave them out.",
];

const examples = [
  {
    audience: "Contacts in Germany with the tag vip who haven't written for 30 days",
    query: {
      and: [
        { attribute: "country", operator: "eq", value: "DE" },
        { attribute: "tags", operator: "has_any", value: ["vip"] },
        { attribute: "last_user_message_at", operator: "not_within_last", value: "30d" },
      ],
    },
  },
  {
    audience: "Contacts on the plan pro or team, except those with an open conversation",
    query: {
      and: [
        { attribute: "metadata.plan", operator: "in", value: ["pro", "team"] },
        { not: { attribute: "conversation.status", operator: "eq", value: "open" } },
      ],
    },
  },
];

export async function describeAttributes(db: Queries, organization: string) {
  const attributes = Object.entries(cohortAttributes).map(([attribute, definition]) => ({
    attribute,
    type: definition.type,
    description: descriptions[attribute as keyof typeof descriptions], // an entry of the same table
    // The 250 countries are not listed: their codes are known.
    ...(definition.type === "enum" && !("expected" in definition) ? { values: [...definition.values] } : {}),
  }));
  return {
    attributes,
    operators: describeOperators(new Set(attributes.map(({ type }) => type))),
    ...(await readTagsInUse(db, organization)),
    metadata_attributes: await readMetadataInUse(db, organization),
    declared_attributes: (await listDateAttributes(db, organization)).map(serializeDateAttribute),
    rules,
    examples,
  };
}

export function serializeDateAttribute({ name, is_ready }: DateAttribute) {
  return {
    attribute: `metadata.${name}`,
    type: "date" as const,
    status: is_ready ? ("ready" as const) : ("preparing" as const),
  };
}

function describeOperators(types: ReadonlySet<ValueType>): Record<string, Record<string, string>> {
  return Object.fromEntries(
    [...types].map((type) => [
      type,
      Object.fromEntries(
        operatorsOf(type).map((operator: QueryOperator) => [operator, exampleOf(type, operator)]),
      ),
    ]),
  );
}

async function readTagsInUse(db: Queries, organization: string) {
  const { rows } = await rowsOf({ tags: "text[]", conversation_tags: "text[]" })`
    select
      array(${mostFrequentTags(sql`contacts`, organization)}) as tags,
      array(${mostFrequentTags(sql`conversations`, organization)}) as conversation_tags
  `.execute(db);
  return { tags: rows[0]?.tags ?? [], conversation_tags: rows[0]?.conversation_tags ?? [] };
}

function mostFrequentTags(table: RawBuilder<unknown>, organization: string) {
  return sql`
    select tag from (
      select tags from ${table}
      where organization_id = ${organization} and erased_at is null
      order by id desc limit ${maxExamined}
    ) as newest, unnest(tags) as tag
    group by tag order by count(*) desc, tag limit ${maxListed}
  `;
}

/**
 * Lists the members of the metadata down to two levels, with the types of their values. A condition can't
 * name a member that has a dot in its own name.
 */
async function readMetadataInUse(db: Queries, organization: string) {
  const { rows } = await rowsOf({ attribute: "text", types: "text[]", contacts: "bigint" })`
    with newest as (
      select metadata from contacts
      where organization_id = ${organization} and erased_at is null and metadata <> '{}'
      order by id desc limit ${maxExamined}
    ),
    members as (select key, value from newest, jsonb_each(metadata) where strpos(key, '.') = 0),
    found as (
      select key as path, value from members
      union all
      select members.key || '.' || inner_member.key, inner_member.value
      from members, jsonb_each(case jsonb_typeof(members.value) when 'object' then members.value end) as inner_member
      where strpos(inner_member.key, '.') = 0
    )
    select 'metadata.' || path as attribute, count(*) as contacts,
      array_agg(distinct case jsonb_typeof(value) when 'array' then 'list' when 'string' then 'text' when 'boolean'
        then 'true or false' else jsonb_typeof(value) end) as types
    from found where path <> '' and path !~ '^\\.|\\.$|\\.\\.' and jsonb_typeof(value) <> 'null'
    group by path having bool_or(jsonb_typeof(value) <> 'object')
    order by count(*) desc, path limit ${maxListed}
  `.execute(db);
  return rows;
}
