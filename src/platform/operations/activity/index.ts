/** The record of acts: stores it, lists it, and deletes what is old or names an erased contact. */
import { activity as contract } from "../../../../tools/activity.ts";
import { ofOrganization, readPage, withTimeLimit } from "../../../database/query/index.ts";
import { defineRetentionJob, implement } from "../../foundation/kernel/index.ts";
import { erasesContact } from "../../inbox/contacts/index.ts";
import { csvRoute } from "./csv-route.ts";
import { eraseActs } from "./erase.ts";
import { explainMessage } from "./explain.ts";
import { requireKnownOperation } from "./known-operation.ts";
import { readActs, selectActs } from "./rows.ts";
import { addReads, insertActs } from "./store.ts";

export { recordCommand } from "./record-command.ts";
export { readActs, selectOperatorActs } from "./rows.ts";

export const activity = implement(contract, {
  tables: ["acts", "read_counts"],
  actStore: { insert: insertActs, addReads },
  routes: [csvRoute],
  operations: {
    async list_activity({ after, per_page, ...filter }, { world, organization }) {
      requireKnownOperation(filter);
      // What this process has not written yet belongs to the answer.
      await world.acts.settle();
      // A rare session or operation is looked for in all acts.
      return withTimeLimit(world.database, (db) =>
        readActs(selectActs(db, organization, filter), { after, per_page }),
      );
    },

    async list_read_counts({ by, operation, since, until, ...paging }, { db, world, organization }) {
      requireKnownOperation({ operation });
      await world.acts.settle();
      const query = ofOrganization(db, organization)
        .selectFrom("read_counts")
        .selectAll()
        .$if(by !== undefined, (rows) => rows.where("agent_id", "=", by ?? ""))
        .$if(operation !== undefined, (rows) => rows.where("operation", "=", operation ?? ""))
        .$if(since !== undefined, (rows) => rows.where("minute", ">=", since ?? ""))
        .$if(until !== undefined, (rows) => rows.where("minute", "<", until ?? ""))
        .orderBy("minute", "desc")
        .orderBy("agent_id")
        .orderBy("operation");
      const { rows, meta } = await readPage(query, paging);
      const data = rows.map(({ agent_type, agent_id, agent_name, ...row }) => ({
        ...row,
        by: { type: agent_type, id: agent_id, name: agent_name },
      }));
      return { data, meta };
    },

    async explain_message({ id }, context) {
      return { data: await explainMessage(context, id) };
    },
  },
  jobs: [
    defineRetentionJob({
      name: "activity.forget",
      schedule: "27 * * * *",
      rules: [
        { table: "acts", column: "created_at", days: "activity" },
        { table: "read_counts", column: "minute", days: "activity" },
      ],
    }),
  ],
  erase: erasesContact({ later: [eraseActs] }),
});
