/** Broadcasts: an approved template sent once to every contact of a cohort. */
import { broadcasts as contract } from "../../../../tools/broadcasts/index.ts";
import {
  containsText,
  isDeepPage,
  ofOrganization,
  readPage,
  withTimeLimit,
} from "../../../database/query/index.ts";
import { bindRules } from "../../account/rules/index.ts";
import { templateWithdrawn } from "../../content/templates/index.ts";
import { getAccessibleUploadAt } from "../../content/uploads/index.ts";
import { freshId, implement } from "../../foundation/kernel/index.ts";
import { erasesContact, normalizeContacts } from "../../inbox/contacts/index.ts";
import { broadcastProgressed } from "../../inbox/messages/index.ts";
import { cohortWithdrawn, requireCohort } from "../cohorts/index.ts";
import { eraseRecipients } from "./erase.ts";
import { changeBroadcast, getBroadcast, lockBroadcast, metricsOf, serializeBroadcast } from "./find.ts";
import { executePlanned, planExecution } from "./plan.ts";
import { broadcastContent, prepareContent } from "./prepare.ts";
import {
  estimateBroadcast,
  listRecipients,
  readCost,
  recipientsRoute,
  sendTest,
  waitForBroadcast,
} from "./reading/index.ts";
import {
  cancelBroadcast,
  countProgress,
  dispatchBroadcastJob,
  executeBroadcast,
  pauseBroadcast,
  requireSchedulable,
  resumeBroadcast,
  retryBroadcast,
  scheduleStart,
  startable,
  startBroadcastJob,
} from "./sending/index.ts";
import { requireNoBroadcast, requireNoDraft } from "./uses.ts";

export { toCsvRow } from "./reading/index.ts";

export const broadcasts = implement(contract, {
  tables: ["broadcasts", "broadcast_recipients"],
  operations: {
    async create_broadcast(input, context) {
      const { tx, organization, caller, now } = context;
      requireSchedulable(input.scheduled_at, now);
      await requireCohort(tx, organization, input.cohort_id);
      await getAccessibleUploadAt(tx, caller, input.header_media_url, "header_media_url");
      const isDraft = input.scheduled_at === undefined;
      const { template } = await prepareContent(context, organization, input, { isDraft });
      const broadcast = await tx
        .insertInto("broadcasts")
        .values({
          organization_id: organization,
          id: freshId({ now }, "bc"),
          inbox_id: template.inbox_id,
          name: input.name,
          cohort_id: input.cohort_id,
          template_id: input.template_id,
          variable_mapping: JSON.stringify(input.variable_mapping),
          header_media_url: input.header_media_url,
          scheduled_at: input.scheduled_at,
          execution_status: isDraft ? "draft" : "scheduled",
          excluded: "{}",
          created_at: now.toISOString(),
          updated_at: now.toISOString(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await bindRules(context, broadcast.id, caller);
      await scheduleStart(tx, broadcast);
      return { data: serializeBroadcast(broadcast) };
    },

    async list_broadcasts({ status, search = "", ...paging }, { db, organization }) {
      const query = ofOrganization(db, organization)
        .selectFrom("broadcasts")
        .selectAll()
        .$if(status !== undefined, (rows) => rows.where("execution_status", "=", status ?? "draft"))
        .$if(search.trim() !== "", (rows) => rows.where(containsText(search.trim(), "name")))
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(query, paging);
      return { data: rows.map(serializeBroadcast), meta };
    },

    async get_broadcast({ id }, { db, world, organization }) {
      const broadcast = await getBroadcast(db, organization, id);
      return { data: { ...serializeBroadcast(broadcast), cost: await readCost(world.database, broadcast) } };
    },

    async update_broadcast({ id, variable_mapping, scheduled_at, ...changes }, context) {
      const { tx, organization, caller, now } = context;
      requireSchedulable(scheduled_at, now);
      const before = await lockBroadcast(tx, organization, { id, allowed: startable, action: "changed" });
      await requireCohort(tx, organization, changes.cohort_id ?? before.cohort_id);
      await getAccessibleUploadAt(tx, caller, changes.header_media_url ?? undefined, "header_media_url");
      // The scheduled time of a failed broadcast has passed.
      const former = before.execution_status === "failed" ? null : before.scheduled_at;
      const time = scheduled_at === undefined ? former : scheduled_at;
      const content = { ...broadcastContent(before), ...changes, inbox_id: undefined };
      const { template } = await prepareContent(
        context,
        organization,
        { ...content, variable_mapping: variable_mapping ?? content.variable_mapping },
        { isDraft: time === null },
      );
      const changed = await changeBroadcast(tx, before, {
        ...changes,
        inbox_id: template.inbox_id,
        scheduled_at: time,
        now,
        variable_mapping: variable_mapping && JSON.stringify(variable_mapping),
        execution_status: time === null ? "draft" : "scheduled",
        failure_reason: null,
      });
      await bindRules(context, id, caller);
      if (scheduled_at !== undefined) {
        await scheduleStart(tx, changed);
      }
      return { data: serializeBroadcast(changed) };
    },

    async delete_broadcast({ id }, { tx, organization }) {
      await lockBroadcast(tx, organization, { id, allowed: ["draft", "failed"], action: "deleted" });
      await ofOrganization(tx, organization).deleteFrom("broadcasts").where("id", "=", id).execute();
      return { data: { deleted: true } };
    },

    execute_broadcast: {
      async prepare({ id, allow_partial }, { world, caller }) {
        await normalizeContacts(world, caller?.organization_id ?? "");
        return async (context) => {
          const { tx, organization } = context;
          const broadcast = await lockBroadcast(tx, organization, {
            id,
            allowed: startable,
            action: "executed",
          });
          const executed = await executeBroadcast({ ...context, broadcast }, { allowPartial: allow_partial });
          return { data: serializeBroadcast(executed) };
        };
      },
      planned: {
        reads: "broadcasts:read",
        prepare: ({ world, caller }) => normalizeContacts(world, caller?.organization_id ?? ""),
        plan: planExecution,
        async run(input, context, call) {
          return { data: serializeBroadcast(await executePlanned(input, context, call)) };
        },
      },
    },

    async pause_broadcast({ id }, context) {
      return { data: serializeBroadcast(await pauseBroadcast(context, id)) };
    },

    resume_broadcast: {
      async prepare({ id }, { world, caller }) {
        await normalizeContacts(world, caller?.organization_id ?? "");
        return async (context) => ({ data: serializeBroadcast(await resumeBroadcast(context, id)) });
      },
    },

    async cancel_broadcast({ id }, context) {
      return { data: serializeBroadcast(await cancelBroadcast(context, id)) };
    },

    async retry_broadcast(input, context) {
      const { broadcast, count } = await retryBroadcast(context, input);
      return { data: { ...serializeBroadcast(broadcast), retried: count } };
    },

    estimate_broadcast: {
      async prepare({ id }, { world, caller }) {
        await normalizeContacts(world, caller?.organization_id ?? "");
        const showsContacts = caller?.scopes.has("contacts:read") ?? false;
        return async ({ world, organization, now }) => {
          const data = await world.database.transaction(async (tx) =>
            estimateBroadcast({ tx, world, now, showsContacts }, await getBroadcast(tx, organization, id)),
          );
          return { data };
        };
      },
    },

    async test_broadcast(input, context) {
      return { data: await sendTest(input, context) };
    },

    async list_broadcast_recipients({ id, ...request }, { db, world, organization }) {
      const broadcast = await getBroadcast(db, organization, id);
      return isDeepPage(request)
        ? withTimeLimit(world.database, (limited) => listRecipients(limited, broadcast, request))
        : listRecipients(db, broadcast, request);
    },

    async wait_for_broadcast(input, context) {
      return { data: await waitForBroadcast(input, context) };
    },

    async get_broadcast_metrics({ id }, { db, organization }) {
      return { data: metricsOf(await getBroadcast(db, organization, id)) };
    },
  },
  jobs: [dispatchBroadcastJob, startBroadcastJob],
  routes: [recipientsRoute],
  hooks: [
    broadcastProgressed.handledBy(countProgress),
    cohortWithdrawn.handledBy(requireNoDraft),
    templateWithdrawn.handledBy(requireNoBroadcast),
  ],
  erase: erasesContact({ now: eraseRecipients }),
});
