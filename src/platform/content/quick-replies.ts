/** Quick replies: saved texts with unique short codes. */
import { fail } from "../../../tools/errors.ts";
import { quickReplies as contract } from "../../../tools/quick-replies.ts";
import type { Queries } from "../../database/database.ts";
import { containsText, ofOrganization } from "../../database/query/index.ts";
import { lockOrganization, requireBelowQuota } from "../account/organization/index.ts";
import { freshId, implement, type Transaction } from "../foundation/kernel/index.ts";

export const quickReplies = implement(contract, {
  tables: ["quick_replies"],
  operations: {
    async create_quick_reply({ short_code, content }, context) {
      const { tx, caller, organization, now } = context;
      await requireBelowQuota(context, "quick_replies", tx.selectFrom("quick_replies"));
      await requireUnusedShortCode(tx, organization, short_code);
      const quickReply = await tx
        .insertInto("quick_replies")
        .values({
          organization_id: organization,
          id: freshId({ now }, "qr"),
          short_code,
          content,
          created_by: caller.acts_for,
          created_at: now.toISOString(),
          updated_at: now.toISOString(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return { data: quickReply };
    },

    async list_quick_replies({ search }, { db, organization }) {
      const rows = await ofOrganization(db, organization)
        .selectFrom("quick_replies")
        .selectAll()
        .$if(search !== undefined, (query) =>
          query.where(containsText(search ?? "", "short_code", "content")),
        )
        .orderBy((row) => row.fn<string>("lower", ["short_code"]))
        .execute();
      return { data: rows, meta: { total: rows.length } };
    },

    async get_quick_reply({ id }, { db, organization }) {
      return { data: await getQuickReply(db, organization, id) };
    },

    async update_quick_reply({ id, short_code, content }, { tx, organization, now }) {
      await getQuickReply(tx, organization, id);
      if (short_code !== undefined) {
        await requireUnusedShortCode(tx, organization, short_code, id);
      }
      const quickReply = await ofOrganization(tx, organization)
        .updateTable("quick_replies")
        .set({ short_code, content, updated_at: now.toISOString() })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      if (!quickReply) {
        throw fail("quick_reply_not_found");
      }
      return { data: quickReply };
    },

    async delete_quick_reply({ id }, { tx, organization }) {
      const { numDeletedRows } = await ofOrganization(tx, organization)
        .deleteFrom("quick_replies")
        .where("id", "=", id)
        .executeTakeFirst();
      if (!numDeletedRows) {
        throw fail("quick_reply_not_found");
      }
      return { data: { deleted: true as const } };
    },
  },
});

/** @throws Failure `quick_reply_not_found`. */
async function getQuickReply(db: Queries, organization: string, id: string) {
  const quickReply = await ofOrganization(db, organization)
    .selectFrom("quick_replies")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  if (!quickReply) {
    throw fail("quick_reply_not_found");
  }
  return quickReply;
}

/**
 * Locks the organization, so that concurrent calls can't take the same short code.
 * @throws Failure `quick_reply_exists` if another quick reply has the code, ignoring case.
 */
async function requireUnusedShortCode(
  tx: Transaction,
  organization: string,
  short_code: string,
  ownId?: string,
): Promise<void> {
  await lockOrganization(tx, organization);
  const existing = await ofOrganization(tx, organization)
    .selectFrom("quick_replies")
    .select("id")
    .where((row) =>
      row(row.fn<string>("lower", ["short_code"]), "=", row.fn<string>("lower", [row.val(short_code)])),
    )
    .executeTakeFirst();
  if (existing && existing.id !== ownId) {
    throw fail("quick_reply_exists", { existing_id: existing.id, param: "short_code" });
  }
}
