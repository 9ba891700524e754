/** Counts the members of a new cohort. Its creation does not wait for it. */
import { z } from "zod";
import { defineJob } from "../kernel/index.ts";
import { countMembers } from "./members.ts";

export const countCohortJob = defineJob({
  name: "cohort.count",
  payload: z.object({ organization_id: z.string(), cohort_id: z.string() }),

  async run({ organization_id, cohort_id }, world) {
    const { queries } = world.database;
    const cohort = await queries
      .selectFrom("cohorts")
      .select(["type", "query"])
      .where("organization_id", "=", organization_id)
      .where("id", "=", cohort_id)
      .executeTakeFirst();
    if (!cohort) {
      return undefined;
    }
    const contact_count = await countMembers(world, organization_id, cohort, world.now());
    await queries
      .updateTable("cohorts")
      .set({ contact_count })
      .where("organization_id", "=", organization_id)
      .where("id", "=", cohort_id)
      .execute();
    return undefined;
  },
});
