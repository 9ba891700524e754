/**
 * Presence: which conversation a person has open, and whether the person is writing. The streams of events
 * show the presence of a person to the others. Presence is no event, and the record of acts has none of it.
 */
import { z } from "zod";
import { one, parseFields, timestamp } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../../database/query/index.ts";
import type { ModuleRoute } from "../../../foundation/kernel/index.ts";
import { requireConversation } from "../../../inbox/conversations/index.ts";

/** A page that is open says so again before this has passed. */
const lifetimeMs = 45_000;

const states = ["viewing", "writing", "away"] as const;

const Body = z.strictObject({
  conversation_id: z.string().min(1).max(64).describe("Conversation id, from list_conversations"),
  state: z
    .enum(states, `Send one of ${states.join(", ")}.`)
    .describe("viewing: it is open; writing: a reply or a note is being written; away: it was closed"),
});

const Answer = one(z.object({ expires_at: timestamp.nullable() }));

export const presenceRoute: ModuleRoute = {
  methods: ["PUT"],
  path: "/v1/events/presence",
  credential: "any",
  scope: "inbox:read",
  body: "json",
  about: {
    name: "set_presence",
    tag: "webhooks",
    title: "Set presence",
    description:
      "Say which conversation a signed-in person has open, so that others see it in their streams with presence=true. It ends after 45 seconds: send it again every 20. A person is in one conversation, the latest that was named.",
    body: { schema: Body, example: { conversation_id: "conv_01m7zc81jrfw9sby55r6c48xyx", state: "viewing" } },
    response: { status: 200, body: Answer },
  },

  async handle({ body, caller, organization_id }, { database, now }) {
    if (caller.user === null) {
      throw fail("sign_in_required");
    }
    const { conversation_id, state } = parseFields(Body, body);
    const { queries } = database;
    await requireConversation(queries, organization_id, conversation_id);
    const own = { organization_id, user_id: caller.user.id, conversation_id };
    const expires_at = state === "away" ? null : new Date(now().getTime() + lifetimeMs).toISOString();
    if (expires_at === null) {
      await ofOrganization(queries, organization_id)
        .deleteFrom("presences")
        .where("user_id", "=", own.user_id)
        .where("conversation_id", "=", conversation_id)
        .execute();
    } else {
      const changes = { conversation_id, is_writing: state === "writing", expires_at };
      await queries
        .insertInto("presences")
        .values({ ...own, ...changes })
        .onConflict((conflict) => conflict.columns(["organization_id", "user_id"]).doUpdateSet(changes))
        .execute();
    }
    return { status: 200, headers: { "cache-control": "no-store" }, body: { data: { expires_at } } };
  },
};

/** Everybody who has a conversation open now, in a fixed order. */
export async function readPresences(queries: Queries, organization: string, now: Date) {
  return ofOrganization(queries, organization)
    .selectFrom("presences")
    .innerJoin("users", (join) => join.on(refersTo("presences.user_id", "users")))
    .select(["conversation_id", "user_id", "users.name as user_name", "is_writing"])
    .where("expires_at", ">", now.toISOString())
    .orderBy("user_id")
    .execute();
}
