/** Keeps what a broadcast needs from being withdrawn before it has been sent. */
import { fail } from "../../../../tools/errors.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Change } from "../../foundation/kernel/index.ts";

/** A broadcast that is a draft or scheduled fails at its start; one that is being sent must not lose its template. */
export async function requireNoBroadcast(
  { tx }: Change,
  { organization, template_id }: { readonly organization: string; readonly template_id: string },
): Promise<void> {
  const { count } = await ofOrganization(tx, organization)
    .selectFrom("broadcasts")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("template_id", "=", template_id)
    .where("execution_status", "in", ["processing", "paused"])
    .executeTakeFirstOrThrow();
  if (count > 0) {
    throw fail("template_in_use", {
      uses: count === 1 ? "1 broadcast is" : `${count} broadcasts are`,
      count,
    });
  }
}

/** The recipients of a broadcast that has begun are frozen: it no longer needs its cohort. */
export async function requireNoDraft(
  { tx }: Change,
  { organization, cohort_id }: { readonly organization: string; readonly cohort_id: string },
): Promise<void> {
  const { count } = await ofOrganization(tx, organization)
    .selectFrom("broadcasts")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("cohort_id", "=", cohort_id)
    .where("started_at", "is", null)
    .where("execution_status", "in", ["draft", "scheduled", "paused", "failed"])
    .executeTakeFirstOrThrow();
  if (count > 0) {
    const uses = `${count === 1 ? "1 broadcast is" : `${count} broadcasts are`} not sent yet`;
    throw fail("cohort_in_use", { uses, count });
  }
}
