/** Rejects the removal of a template or a cohort that a broadcast still needs. */
import { fail } from "../../../../tools/errors.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Change } from "../../foundation/kernel/index.ts";

/**
 * A broadcast that is being sent must not lose its template. A draft or a scheduled broadcast does not
 * prevent the removal: it fails at its start.
 */
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

/** Once a broadcast has started, its recipients are frozen and it no longer needs its cohort. */
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
