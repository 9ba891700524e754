/** Plans: what a call would do, frozen until a caller runs it, once, or until it expires. */
import { sql } from "kysely";
import { plans as contract } from "../../../../tools/plans.ts";
import { containsText, ofOrganization, readPage } from "../../../database/query/index.ts";
import {
  type Caller,
  defineRetentionJob,
  defineScheduledJob,
  implement,
  type World,
} from "../../foundation/kernel/index.ts";
import { erasesContact } from "../../inbox/contacts/index.ts";
import { declinePlan, requireOwnPlan } from "./approval/decide.ts";
import { holdBack } from "./approval/gate.ts";
import { erasePlans } from "./erase.ts";
import { runPlan, throwNotRun } from "./run.ts";
import { serializePlans, serializeTarget } from "./serialize.ts";
import { endPlan, getPlan, insertPlan, type PlanRow, readContentOf, replacePlan } from "./store.ts";

/** Ended plans are kept for so many days. */
const retentionDays = 90;

export const plans = implement(contract, {
  tables: ["plans", "plan_targets"],
  sealed: [
    { table: "plans", column: "content", key: ["organization_id", "id"], whenLost: "delete" },
    { table: "plans", column: "result", key: ["organization_id", "id"], whenLost: "delete" },
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
      async prepare({ id }, { world, caller }) {
        const prepared = await prepareStored({ world, caller: requireCaller(caller) }, id);
        return async (context) => {
          const { plan, result } = await runPlan(context, id, prepared);
          return { data: { plan: await serializeOne(context, plan), result } };
        };
      },
      async afterCommit({ data }, { id }, context) {
        return data.result === null ? throwNotRun(context, id) : undefined;
      },
    },

    approve_plan: {
      async prepare({ id, ...decision }, { world, caller }) {
        const prepared = await prepareStored({ world, caller: requireCaller(caller) }, id);
        return async (context) => {
          const { plan, result } = await runPlan(context, id, prepared, decision);
          return { data: { plan: await serializeOne(context, plan), result } };
        };
      },
      async afterCommit({ data }, { id }, context) {
        return data.result === null ? throwNotRun(context, id) : undefined;
      },
    },

    decline_plan: {
      async handle({ id, ...decision }, context) {
        await readable(context, id);
        const plan = await getPlan(context.tx, context.organization, id, { locks: true });
        const decided = plan.hash === decision.hash ? await declinePlan(context, plan, decision) : plan;
        return { data: await serializeOne(context, decided) };
      },
      async afterCommit({ data }, { id }, context) {
        return data.status === "declined" ? undefined : throwNotRun(context, id);
      },
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
              when status = 'ready' and expires_at <= ${time} then 'expired'
              when status = 'ready' and approval = 'awaiting' then 'awaiting_approval'
              when status = 'withdrawn' and approval = 'declined' then 'declined'
              else status
            end = ${status}`,
          ),
        )
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(query, paging);
      return { data: await serializePlans(context, rows), meta };
    },

    async get_plan({ id, search = "", ...paging }, context) {
      const { db, organization } = context;
      const plan = await readable(context, id);
      const query = ofOrganization(db, organization)
        .selectFrom("plan_targets")
        .selectAll()
        .where("plan_id", "=", id)
        .$if(search.trim() !== "", (rows) => rows.where(containsText(search.trim(), "name", "to", "text")))
        .orderBy("unusual", "desc")
        .orderBy("position");
      const { rows, meta } = await readPage(query, paging);
      const shown = await serializeOne(context, plan);
      return { data: { ...shown, targets: rows.map(serializeTarget) }, meta };
    },

    amend_plan: {
      async prepare({ id, input }, { world, caller }) {
        const asker = requireCaller(caller);
        const stored = await readable({ world, caller: asker, db: world.database.queries }, id);
        const changed = { ...readContentOf(world, stored).input, ...input };
        const { operation } = stored;
        const call = world.plannedCalls.find({ operation, input: changed }, asker, world.hiddenBy);
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
      await readable(context, id);
      const plan = await getPlan(context.tx, context.organization, id, { locks: true });
      requireOwnPlan(context, plan);
      await endPlan(context, plan, { step: "withdraw" });
      return { data: { deleted: true as const } };
    },
  },
  jobs: [
    defineScheduledJob({
      name: "plan.expire",
      schedule: "*/5 * * * *",
      async run({ database, now }) {
        const time = now().toISOString();
        await sql`
          update plans set status = 'expired', ended_at = expires_at
          where status = 'ready' and expires_at <= ${time}
        `.execute(database.queries);
      },
    }),
    defineRetentionJob({
      name: "plan.forget",
      schedule: "52 * * * *",
      rules: [{ table: "plans", column: "ended_at", days: retentionDays }],
    }),
  ],
  erase: erasesContact({ later: [erasePlans] }),
  gate: holdBack,
});

interface Asker {
  readonly world: World;
  readonly caller: Caller;
}

/** Plans take any credential of an organization, so there is a caller. */
function requireCaller(caller: Caller | null): Caller {
  if (!caller) {
    throw new Error("A plan has no caller.");
  }
  return caller;
}

/** @throws Failure `plan_not_found`, `insufficient_scope`. */
async function readable(
  { world, caller, db }: Asker & { readonly db: Parameters<typeof getPlan>[0] },
  id: string,
): Promise<PlanRow> {
  const plan = await getPlan(db, caller.organization_id, id);
  world.plannedCalls.requireReadable(caller, plan.operation);
  return plan;
}

/** Finds the operation of a stored plan, and does its slow work. */
async function prepareStored({ world, caller }: Asker, id: string) {
  const { version, operation, ...plan } = await readable({ world, caller, db: world.database.queries }, id);
  const { input } = readContentOf(world, plan);
  const call = world.plannedCalls.find({ operation, input }, caller, world.hiddenBy);
  return { version, call, steps: await call.prepare({ world, caller }) };
}

async function serializeOne(context: Parameters<typeof serializePlans>[0], plan: PlanRow) {
  const [shown] = await serializePlans(context, [plan]);
  if (!shown) {
    throw new Error("A plan was not serialized.");
  }
  return shown;
}
