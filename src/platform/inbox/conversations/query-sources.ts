/**
 * Where conditions find the attributes of conversations, as rows related to the rows of the table `contacts`.
 */
import { sql } from "kysely";
import {
  type Expression,
  neverNull,
  type ownConversationAttributes,
  type PositiveCondition,
  type Predicate,
  parameter,
  type RelatedRows,
  type Source,
  type SourceContext,
  type Sources,
  tagsSource,
  valueSource,
} from "../../foundation/query/index.ts";

/**
 * The normalized form of a capital letter that compatible forms, such as the letters of formulas, contain.
 */
const capitals = { from: "ΥΎΫÆƎȢƐΓΠΩĦΑΒΔΕΖΗΘΙΚΛΜΝΞΟΡΣΤΦΧΨϜς", to: "υύϋæǝȣɛγπωħαβδεζηθικλμνξορστφχψϝσ" };

/**
 * Tags are stored in small letters and one Unicode form; only compatible forms have another normalized form.
 */
const tags = sql`array(
  select case when octet_length(tag) = length(tag) then tag collate "C"
    else lower(translate(normalize(tag, NFKC), ${capitals.from}, ${capitals.to}) collate "C") end
  from unnest(conversations.tags) as tag)`;

export const conversationSources = {
  last_user_message_at: latestUserMessage,
  // In small letters, so the planner can use the column's statistics.
  "conversation.status": valueSource("related", {
    text: sql`(conversations.status collate "C")`,
    exists: sql<boolean>`true`,
  }),
  "conversation.assigned_to": text(sql`conversations.assigned_to`),
  "conversation.tags": tagsSource("related", {
    hasAny: (operands) => sql<boolean>`${tags} && ${operands}`,
    hasAll: (operands) => sql<boolean>`${tags} @> ${operands}`,
    exists: sql<boolean>`cardinality(conversations.tags) > 0`,
  }),
  "conversation.inbox_id": text(sql`conversations.inbox_id`),
  "conversation.is_favorite": valueSource("related", {
    text: sql`(case when conversations.is_favorite then 'true' else 'false' end)`,
    exists: sql<boolean>`true`,
  }),
  "conversation.referral_id": text(sql`(conversations.referrals #>> '{latest,source_id}')`),
  "conversation.last_message_at": time(sql`conversations.last_message_at`),
  "conversation.last_user_message_at": time(sql`conversations.last_user_message_at`),
} satisfies {
  readonly [Name in keyof typeof ownConversationAttributes | "last_user_message_at"]: Sources[string];
};

/** The conversations of a contact. */
export const conversationsOfContact: RelatedRows = { exists: existsConversation };

function text(column: Expression) {
  return valueSource("related", {
    text: sql`lower(${column} collate "C")`,
    exists: sql<boolean>`${column} is not null`,
  });
}

function time(column: Expression) {
  return valueSource("related", { time: column, exists: sql<boolean>`${column} is not null` });
}

/** Whether the contact has a conversation that meets the condition. */
function existsConversation({ organization }: SourceContext, condition: Predicate): Predicate {
  return neverNull(sql<boolean>`exists (
    select from conversations
    where conversations.organization_id = ${organization} and conversations.contact_id = contacts.id
      and conversations.erased_at is null and (${condition})
  )`);
}

const column = sql`conversations.last_user_message_at`;

/**
 * When a contact wrote last, in any conversation; `within_last` asks for any message in that time.
 * Most operators ask only whether there is a message after a time, which an index finds; the other
 * operators need the time itself.
 */
function latestUserMessage(context: SourceContext): Source {
  const has = (condition: Predicate) => existsConversation(context, condition);
  const hasAfter = (time: Date) => has(sql<boolean>`${column} > ${parameter(time)}`);
  const hasFrom = (time: Date) => has(sql<boolean>`${column} >= ${parameter(time)}`);
  const exists = has(sql<boolean>`${column} is not null`);
  const latest = valueSource("own", {
    time: sql`(select max(${column}) from conversations
      where conversations.organization_id = ${context.organization} and conversations.contact_id = contacts.id
        and conversations.erased_at is null)`,
    exists,
  });
  const before = (time: Date) => sql<boolean>`(${exists} and not ${hasFrom(time)})`;
  /** By operator; the other operators compare the time itself. */
  const tests: { readonly [Operator in PositiveCondition["operator"]]?: (time: Date) => Predicate } = {
    gt: hasAfter,
    after: hasAfter,
    gte: hasFrom,
    lt: before,
    before,
    lte: (time) => sql<boolean>`(${exists} and not ${hasAfter(time)})`,
  };
  return {
    of: "own",
    test(condition) {
      const { operator, value } = condition;
      if (operator === "within_last") {
        const from = new Date(context.now.getTime() - value);
        return has(sql<boolean>`${column} between ${parameter(from)} and ${parameter(context.now)}`);
      }
      const test = tests[operator];
      return test && value instanceof Date ? test(value) : latest(context).test(condition);
    },
  };
}
