/** Broadcasts: an approved template sent once to every contact of a cohort. */
import { broadcasts as contract } from "../../../../tools/broadcasts/index.ts";
import {
  containsText,
  isDeepPage,
  ofOrganization,
  readPage,
  withTimeLimit,
} from "../../../database/query/index.ts";
import { templateWithdrawn } from "../../content/templates/index.ts";
import { implement, type OrganizationChange } from "../../foundation/kernel/index.ts";
import { erasesContact, normalizeContacts } from "../../inbox/contacts/index.ts";
import { broadcastProgressed } from "../../inbox/messages/index.ts";
import { cohortWithdrawn } from "../cohorts/index.ts";
import { eraseRecipients } from "./erase.ts";
import { type BroadcastRow, getBroadcast, lockBroadcast, metricsOf, serializeBroadcast } from "./find.ts";
import { executePlanned, planExecution, planRecipients } from "./plan.ts";
import { planSending, runSending, type SendingAct } from "./plan-again.ts";
import {
  estimateBroadcast,
  listRecipients,
  planTest,
  readCost,
  recipientsRoute,
  runTest,
  sendTest,
  waitForBroadcast,
} from "./reading/index.ts";
import { createBroadcast, describeSaving, updateBroadcast } from "./save.ts";
import {
  cancelBroadcast,
  countProgress,
  dispatchBroadcastJob,
  executeBroadcast,
  pauseBroadcast,
  resumeBroadcast,
  retryBroadcast,
  startable,
  startBroadcastJob,
} from "./sending/index.ts";
import { requireNoBroadcast, requireNoDraft } from "./uses.ts";

export { toCsvRow } from "./reading/index.ts";
export { pauseAllBroadcasts } from "./sending/index.ts";

export const broadcasts = implement(contract, {
  tables: ["broadcasts", "broadcast_recipients"],
  operations: {
    create_broadcast: {
      handle: createBroadcast,
      describe: (input, context) =>
        describeSaving({ verb: "Create", save: (acting) => createBroadcast(input, acting) }, context),
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

    update_broadcast: {
      handle: updateBroadcast,
      describe: (input, context) =>
        describeSaving({ verb: "Change", save: (acting) => updateBroadcast(input, acting) }, context),
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
        prepare: ({ world, organization }) => normalizeContacts(world, organization),
        plan: planExecution,
        planTargets: planRecipients,
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
      planned: {
        reads: "broadcasts:read",
        prepare: ({ world, organization }) => normalizeContacts(world, organization),
        plan: ({ id }, context) =>
          planSending({ id, verb: "Resume", act: (acting) => resumeBroadcast(acting, id) }, context),
        async run({ id }, context, call) {
          const act: SendingAct<BroadcastRow> = (acting, planned) => resumeBroadcast(acting, id, planned);
          return { data: serializeBroadcast(await runSending({ id, act }, context, call)) };
        },
      },
    },

    async cancel_broadcast({ id }, context) {
      return { data: serializeBroadcast(await cancelBroadcast(context, id)) };
    },

    retry_broadcast: {
      async prepare(input, { world, caller }) {
        await normalizeContacts(world, caller?.organization_id ?? "");
        return async (context) => {
          const { broadcast, count } = await retryBroadcast(context, input);
          return { data: { ...serializeBroadcast(broadcast), retried: count } };
        };
      },
      planned: {
        reads: "broadcasts:read",
        prepare: ({ world, organization }) => normalizeContacts(world, organization),
        plan: (input, context) =>
          planSending(
            { id: input.id, verb: "Retry", act: (acting) => retryBroadcast(acting, input) },
            context,
          ),
        async run(input, context, call) {
          const act = (acting: OrganizationChange) => retryBroadcast(acting, input);
          const { broadcast, count } = await runSending({ id: input.id, act }, context, call);
          return { data: { ...serializeBroadcast(broadcast), retried: count } };
        },
      },
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

    test_broadcast: {
      async handle(input, context) {
        return { data: await sendTest(input, context) };
      },
      planned: {
        reads: "broadcasts:read",
        plan: planTest,
        run: async (input, context, call) => ({ data: await runTest(input, context, call) }),
      },
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
