/**
 * The job that builds a csv cohort: finds or creates the contact of each line, and adds it to the cohort.
 *
 * A batch and its progress are committed together, so a crash neither loses nor repeats lines. A line without
 * a contact is reported and skipped. The file is deleted at the end, also if it can't be read further or the
 * cohort no longer exists.
 */
import { ofOrganization } from "../../../database/query/index.ts";
import type { Outcome } from "../../../jobs/job.ts";
import { commitUpload, getUpload, removeUpload } from "../../content/uploads/index.ts";
import { defineJob, type World } from "../../foundation/kernel/index.ts";
import { commitRows, explainFileError, fetchCsv, type ImportColumns, readHeader } from "../imports/index.ts";
import { CohortBuild, commitLines } from "./build-batch.ts";

export const buildCohortJob = defineJob({
  name: "cohort.build",
  payload: CohortBuild,
  // After a crash the build continues when the lease ends.
  leaseMs: 15_000,

  async run(payload, world) {
    try {
      return await build(payload, world);
    } catch (error) {
      if (world.stopping.aborted) {
        // Aborted by the shutdown, not by an error of the file.
        return { runAgainAt: world.now() };
      }
      const failure = explainFileError(error, "Then create the cohort again.");
      if (failure === undefined) {
        throw error;
      }
      return finish(world, payload, failure);
    }
  },

  async exhausted(payload, world) {
    await finish(world, payload, "An internal error occurred; create the cohort again.");
  },
});

async function build(payload: CohortBuild, world: World): Promise<Outcome> {
  const cohort = await findBuilding(payload, world);
  if (!cohort) {
    return finish(world, payload, null);
  }
  const upload_id = cohort.upload_id ?? (await storeFile(payload, world, cohort.csv_url ?? ""));
  if (upload_id === undefined) {
    return finish(world, payload, null);
  }
  const { key } = await getUpload(world.database.queries, payload.organization_id, upload_id);
  const file = await world.storage.read(key);
  if (!file) {
    return finish(world, payload, "The file no longer exists: upload it again.");
  }
  const isComplete = await commitRows(file, {
    world,
    committed: cohort.position,
    readHeader: (cells) => onlyIdentity(readHeader(cells)),
    commit: (batch) => commitLines(payload, world, batch),
  });
  return isComplete ? finish(world, payload, null) : { runAgainAt: world.now() };
}

/** The columns that a cohort uses. Other columns are ignored, because only imports change contacts. */
function onlyIdentity(columns: ImportColumns): ImportColumns {
  return columns.map((column) => (column === "phone_number" || column === "name" ? column : undefined));
}

/**
 * Downloads the file, so that a run after a crash reads the same lines. Returns undefined and keeps no file
 * if the cohort was deleted meanwhile.
 */
async function storeFile(payload: CohortBuild, world: World, url: string): Promise<string | undefined> {
  const { organization_id: organization, cohort_id } = payload;
  const received = await fetchCsv(world, payload, url);
  return world.database.transaction(async (tx) => {
    const { id } = await commitUpload({ tx, world }, received, false);
    const { numUpdatedRows } = await ofOrganization(tx, organization)
      .updateTable("cohorts")
      .set({ upload_id: id })
      .where("id", "=", cohort_id)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) {
      await removeUpload({ tx, organization }, id);
      return undefined;
    }
    return id;
  });
}

async function findBuilding({ organization_id, cohort_id }: CohortBuild, world: World) {
  return ofOrganization(world.database.queries, organization_id)
    .selectFrom("cohorts")
    .select(["csv_url", "upload_id", "position"])
    .where("id", "=", cohort_id)
    .where("status", "=", "building")
    .executeTakeFirst();
}

/** Ends the build, with the reason if it failed, and deletes the file. Safe to repeat. */
async function finish(world: World, payload: CohortBuild, failure: string | null): Promise<undefined> {
  const { organization_id, cohort_id } = payload;
  const updated_at = world.now().toISOString();
  await world.database.transaction(async (tx) => {
    const cohort = await ofOrganization(tx, organization_id)
      .selectFrom("cohorts")
      .select("upload_id")
      .where("id", "=", cohort_id)
      .forUpdate()
      .executeTakeFirst();
    await ofOrganization(tx, organization_id)
      .updateTable("cohorts")
      .set({ status: failure === null ? "ready" : "failed", failure, upload_id: null, updated_at })
      .where("id", "=", cohort_id)
      .where("status", "=", "building")
      .execute();
    const upload_id = cohort?.upload_id ?? payload.upload_id;
    if (upload_id !== null) {
      await removeUpload({ tx, organization: organization_id }, upload_id);
    }
  });
}
