/** Plans: what a call would do, frozen until a caller runs it, once, or until it expires. */
import { sql } from "kysely";
import { requireKnownArguments } from "../../../../tools/contract/index.ts";
import { plans as contract } from "../../../../tools/plans.ts";
import { isDeepPage, ofOrganization, readPage, withTimeLimit } from "../../../database/query/index.ts";
import {
  type Caller,
  defineRetentionJob,
  implement,
  type ReadContext,
} from "../../foundation/kernel/index.ts";
import { erasesContact } from "../../inbox/contacts/index.ts";
import { acceptConfirmation, askConfirmation, refuseConfirmation } from "./approval/confirm.ts";
import { declinePlan, requireOwnPlan } from "./approval/decide.ts";
import { gate } from "./approval/gate.ts";
import { releaseLater, runReleasedJob } from "./approval/later.ts";
import { releaseBy } from "./approval/release.ts";
import { waitForPlan } from "./approval/wait.ts";
import { erasePlans } from "./erase.ts";
import { expirePlansJob } from "./expire.ts";
import { resolveRunsJob } from "./outward.ts";
import { findReadable, prepareStored } from "./prepare-stored.ts";
import { preparePlanJob } from "./preparing/index.ts";
import { followPlan, requireShown, runPlan } from "./run.ts";
import { serializePlans, serializeTarget } from "./serialize.ts";
import { endPlan, getPlan, insertPlan, type PlanRow, readContentOf, replacePlan } from "./store.ts";
import { readTargetPage } from "./targets.ts";

/** Ended plans are kept for so many days. */
const retentionDays = 90;

export const plans = implement(contract, {
  tables: ["plans", "plan_targets"],
  sealed: [
    { table: "plans", column: "content", key: ["organization_id", "id"], whenLost: "delete" },
    { table: "plans", column: "result", key: ["organization_id", "id"], whenLost: "delete" },
    { table: "plans", column: "intent", key: ["organization_id", "id"], whenLost: "delete" },
  ],
  operations: {
    plan_call: {
      async prepare(request, { world, caller }) {
        const call = world.plannedCalls.find(request, requireCaller(caller), world.hiddenBy);
        const steps = await call.prepare({ world, caller });
        return async (context) => {
          const plan = await insertPlan(context, [call, await steps.plan(context)]);
          return { data: await serializeOne(context, plan) };
        };
      },
    },

    run_plan: {
      async prepare({ id, version }, { world, caller }) {
        const prepared = await prepareStored({ world, caller: requireCaller(caller) }, id);
        return async (context) => {
          const { plan, result } = await runPlan(context, id, { ...prepared, seenVersion: version });
          return { data: { plan: await serializeOne(context, plan), result } };
        };
      },
      isSettled,
      afterCommit: followUp,
    },

    approve_plan: {
      async prepare({ id, run_at, ...decision }, { world, caller }) {
        const prepared = await prepareStored({ world, caller: requireCaller(caller) }, id);
        return async (context) => {
          const { plan, result } =
            run_at === undefined
              ? await runPlan(context, id, prepared, releaseBy(decision))
              : await releaseLater(context, id, { ...decision, runAt: new Date(run_at) });
          return { data: { plan: await serializeOne(context, plan), result } };
        };
      },
      isSettled: (response) => isSettled(response) || response.data.plan.status === "released",
      afterCommit: (response, input, context) =>
        response.data.plan.status === "released"
          ? Promise.resolve(undefined)
          : followUp(response, input, context),
    },

    async request_confirmation({ id, call }, context) {
      await findReadable(context, id);
      const locked = await getPlan(context.tx, context.organization, id, { locks: true });
      const { plan, state } = await askConfirmation(context, locked, call);
      return { data: { plan: await serializeOne(context, plan), state } };
    },

    confirm_plan: {
      async prepare({ id, answer, ...confirmation }, { world, caller }) {
        const asker = requireCaller(caller);
        const prepared = answer === "accept" ? await prepareStored({ world, caller: asker }, id) : undefined;
        return async (context) => {
          await findReadable(context, id);
          const locked = await getPlan(context.tx, context.organization, id, { locks: true });
          if (!prepared) {
            const isDeclined = answer === "decline";
            const plan = await refuseConfirmation(context, locked, { ...confirmation, isDeclined });
            return { data: { plan: await serializeOne(context, plan), response: null } };
          }
          const release = await acceptConfirmation(context, locked, confirmation);
          const { plan, result } = await runPlan(context, id, prepared, release);
          return confirmed(context, { plan: await serializeOne(context, plan), result });
        };
      },
      isSettled: ({ data }) => data.response !== null || data.plan.status === "declined",
      async afterCommit(done, { id, answer }, context) {
        if (answer !== "accept" || done.data.response !== null) {
          return undefined;
        }
        const { plan, result } = await followPlan(context, id);
        return confirmed(context, { plan: await serializeOne(context, plan), result });
      },
    },

    async decline_plan({ id, ...decision }, context) {
      await findReadable(context, id);
      const plan = await getPlan(context.tx, context.organization, id, { locks: true });
      await requireShown(context, plan, decision);
      return { data: await serializeOne(context, await declinePlan(context, plan, decision)) };
    },

    async wait_for_plan({ id, timeout_seconds }, context) {
      await findReadable(context, id);
      const { plan, is_timed_out } = await waitForPlan({ id, timeout_seconds }, context);
      return { data: { ...(await serializeOne(context, plan)), is_timed_out } };
    },

    async list_plans({ status, ...paging }, context) {
      const { db, world, caller, organization, now } = context;
      const time = now.toISOString();
      const query = ofOrganization(db, organization)
        .selectFrom("plans")
        .selectAll()
        .where(sql<boolean>`operation = any(${world.plannedCalls.readableBy(caller)}::text[])`)
        .$if(status !== undefined, (rows) =>
          rows.where(
            sql<boolean>`case
              when (status = 'ready' or preparation is not null) and expires_at <= ${time} then 'expired'
              when preparation is not null then 'preparing'
              when status = 'ready' and approval = 'awaiting' and run_at is not null then 'released'
              when status = 'ready' and approval = 'awaiting' then 'awaiting_approval'
              when status = 'withdrawn' and approval = 'declined' then 'declined'
              when status = 'run' and ended_at is null then 'running'
              when status = 'run' and result_status >= 400 then 'failed'
              else status
            end = ${status}`,
          ),
        )
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(query, paging);
      return { data: await serializePlans(context, rows), meta };
    },

    async get_plan({ id, search = "", ...paging }, context) {
      const { world } = context;
      const plan = await findReadable(context, id);
      const words = search.trim();
      const isSlow = words !== "" || isDeepPage(paging);
      const { rows, meta } = isSlow
        ? await withTimeLimit(world.database, (db) => readTargetPage(db, plan, { words, ...paging }))
        : await readTargetPage(context.db, plan, { words, ...paging });
      const shown = await serializeOne(context, plan);
      return { data: { ...shown, targets: rows.map(serializeTarget) }, meta };
    },

    amend_plan: {
      async prepare({ id, input }, { world, caller }) {
        const asker = requireCaller(caller);
        const stored = await findReadable({ world, caller: asker, db: world.database.queries }, id);
        const changed = { ...readContentOf(world, stored).input, ...input };
        const { operation } = stored;
        const call = world.plannedCalls.find({ operation, input: changed }, asker, world.hiddenBy);
        requireKnownArguments(call.operation.input, input);
        const steps = await call.prepare({ world, caller });
        return async (context) => {
          const plan = await getPlan(context.tx, context.organization, id, { locks: true });
          requireOwnPlan(context, plan);
          const amended = await replacePlan(context, plan, [call, await steps.plan(context)]);
          return { data: await serializeOne(context, amended) };
        };
      },
    },

    async withdraw_plan({ id }, context) {
      await findReadable(context, id);
      const plan = await getPlan(context.tx, context.organization, id, { locks: true });
      requireOwnPlan(context, plan);
      await endPlan(context, plan, { step: "withdraw" });
      return { data: { deleted: true as const } };
    },
  },
  jobs: [
    expirePlansJob,
    preparePlanJob,
    resolveRunsJob,
    runReleasedJob,
    defineRetentionJob({
      name: "plan.forget",
      schedule: "52 * * * *",
      rules: [{ table: "plans", column: "ended_at", days: retentionDays }],
    }),
  ],
  erase: erasesContact({ later: [erasePlans] }),
  gate,
});

/** The response to the call of the client: the tool run_plan also shows the plan. */
function confirmed<Plan>(
  { world, tool = "" }: Pick<ReadContext, "world" | "tool">,
  data: { readonly plan: Plan; readonly result: Record<string, unknown> | null },
) {
  const { plan, result } = data;
  const isRun = world.tools.get(tool)?.path === contract.run_plan.path;
  // A response is of any form, so only here is it reduced to what run_plan shows.
  const response = result !== null && isRun ? contract.run_plan.output.parse({ data }) : result;
  return { data: { plan, response } };
}

/** Otherwise the plan runs a call to a third party, or it did not run. */
function isSettled({ data }: { readonly data: { readonly result: unknown } }): boolean {
  return data.result !== null;
}

/** The plan may run a call to a third party, or it did not run. */
async function followUp(
  { data }: { readonly data: { readonly result: unknown } },
  { id }: { readonly id: string },
  context: ReadContext,
) {
  if (data.result !== null) {
    return undefined;
  }
  const { plan, result } = await followPlan(context, id);
  return { data: { plan: await serializeOne(context, plan), result } };
}

/** Plans take any credential of an organization, so there is a caller. */
function requireCaller(caller: Caller | null): Caller {
  if (!caller) {
    throw new Error("A plan has no caller.");
  }
  return caller;
}

async function serializeOne(context: Parameters<typeof serializePlans>[0], plan: PlanRow) {
  const [shown] = await serializePlans(context, [plan]);
  if (!shown) {
    throw new Error("A plan was not serialized.");
  }
  return shown;
}
