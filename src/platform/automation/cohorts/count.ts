/** Counts the members of a new cohort in a job, so that creating the cohort does not wait. */
import { sql } from "kysely";
import { z } from "zod";
import { ofOrganization } from "../../../database/query/index.ts";
import { defineJob } from "../../foundation/kernel/index.ts";
import { countMembers } from "./members.ts";

export const countCohortJob = defineJob({
  name: "cohort.count",
  payload: z.object({ organization_id: z.string(), cohort_id: z.string() }),

  async run({ organization_id, cohort_id }, world) {
    const { queries } = world.database;
    const cohort = await ofOrganization(queries, organization_id)
      .selectFrom("cohorts")
      .select(["type", "query", sql<string>`query::text`.as("version")])
      .where("id", "=", cohort_id)
      .executeTakeFirst();
    if (!cohort) {
      return undefined;
    }
    const contact_count = await countMembers(world, organization_id, cohort, world.now());
    await ofOrganization(queries, organization_id)
      .updateTable("cohorts")
      .set({ contact_count })
      .where("id", "=", cohort_id)
      // An update has counted its query itself.
      .where(sql<boolean>`query::text = ${cohort.version}`)
      .execute();
    return undefined;
  },
});
