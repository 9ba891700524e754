/** Quick replies: saved texts, each under a short code of its own. */
import { fail } from "../../tools/errors.ts";
import { quickReplies as contract } from "../../tools/quick-replies.ts";
import type { Transaction } from "../database/database.ts";
import { holds } from "../database/query/index.ts";
import { freshId, implement, takeTurn } from "./kernel/index.ts";

export const quickReplies = implement(contract, {
  operations: {
    async create_quick_reply({ short_code, content }, { tx, caller, organization, now }) {
      await requireFree(tx, organization, short_code);
      const made = await tx
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
      return { data: made };
    },

    async list_quick_replies({ search }, { db, organization }) {
      const rows = await db
        .selectFrom("quick_replies")
        .selectAll()
        .where("organization_id", "=", organization)
        .$if(search !== undefined, (query) => query.where(holds(search ?? "", "short_code", "content")))
        .orderBy((row) => row.fn<string>("lower", ["short_code"]))
        .execute();
      return { data: rows, meta: { total: rows.length } };
    },

    async update_quick_reply({ id, short_code, content }, { tx, organization, now }) {
      if (short_code !== undefined) {
        await requireFree(tx, organization, short_code, id);
      }
      const changed = await tx
        .updateTable("quick_replies")
        .set({ short_code, content, updated_at: now.toISOString() })
        .where("organization_id", "=", organization)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      if (!changed) {
        throw fail("quick_reply_not_found");
      }
      return { data: changed };
    },

    async delete_quick_reply({ id }, { tx, organization }) {
      const { numDeletedRows } = await tx
        .deleteFrom("quick_replies")
        .where("organization_id", "=", organization)
        .where("id", "=", id)
        .executeTakeFirst();
      if (!numDeletedRows) {
        throw fail("quick_reply_not_found");
      }
      return { data: { deleted: true as const } };
    },
  },
});

/**
 * Waits for others who give out short codes, and then looks.
 * @throws Failure `quick_reply_exists` when another one has the code, in whichever letters.
 */
async function requireFree(
  tx: Transaction,
  organization: string,
  short_code: string,
  own: string | null = null,
): Promise<void> {
  await takeTurn(tx, organization);
  const holder = await tx
    .selectFrom("quick_replies")
    .select("id")
    .where("organization_id", "=", organization)
    .where((row) =>
      row(row.fn<string>("lower", ["short_code"]), "=", row.fn<string>("lower", [row.val(short_code)])),
    )
    .executeTakeFirst();
  if (holder && holder.id !== own) {
    throw fail("quick_reply_exists", { existing_id: holder.id, param: "short_code" });
  }
}
