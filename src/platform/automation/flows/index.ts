/** Automation flows: the operations of `tools/flows/`, the jobs that run them, and what ends their runs. */

import { flows as contract, flowDescription } from "../../../../tools/flows/index.ts";
import { ofOrganization, readPage } from "../../../database/query/index.ts";
import { together } from "../../../database/transaction.ts";
import { authorityChanged } from "../../account/users.ts";
import { defineRetentionJob, implement, type WriteContext } from "../../foundation/kernel/index.ts";
import { erasesContact } from "../../inbox/contacts/index.ts";
import { conversationsTaken, takesMessage } from "../../inbox/conversations/index.ts";
import { automationIn } from "../../inbox/messages/index.ts";
import { flowAnswers } from "../chatbot/index.ts";
import { cohortWithdrawn } from "../cohorts/index.ts";
import { callJob } from "./calls/index.ts";
import { findFlowWarnings } from "./checks/warnings.ts";
import { type FlowWithVersion, getFlow, lockFlow, selectFlows, serializeFlow } from "./definitions/find.ts";
import { createFlow, inspectChanged, inspectNew, toggleFlow, updateFlow } from "./definitions/save.ts";
import { sealedFlowSecrets } from "./definitions/secrets.ts";
import { checkFlowsOf, switchOffJob } from "./definitions/switch-off.ts";
import { cancelRunsOfErased, eraseVariables } from "./erase.ts";
import { rehearseFlow } from "./rehearse/index.ts";
import { advanceJob, cancelRuns, resumeJob } from "./run/index.ts";
import {
  cancelRun,
  findActiveRun,
  hasRunFor,
  hasRunForReply,
  listRuns,
  planTrigger,
  readRun,
  runPlannedTrigger,
  triggerFlow,
} from "./runs.ts";
import { fireJob, requireNoFlow, startBatchJob } from "./schedule/index.ts";
import { recordTriggers, sweepWindowsJob, triggerContactJob, triggerJob } from "./triggers/index.ts";

export { cancelRestoredRuns } from "./after-restore.ts";
export { isSchedulingFlow } from "./schedule/index.ts";

/** Deletes ended runs with their steps. */
const deleteOldRunsJob = defineRetentionJob({
  name: "flow.forget",
  schedule: "52 * * * *",
  rules: [
    { table: "flow_runs", column: "ended_at", days: 90 },
    { table: "flow_firings", column: "ended_at", days: 90 },
  ],
});

export const flows = implement(contract, {
  sealed: sealedFlowSecrets,
  tables: [
    "flows",
    "flow_versions",
    "flow_secrets",
    "flow_runs",
    "flow_run_steps",
    "flow_firings",
    "flow_window_sweeps",
  ],
  operations: {
    async describe_flow_nodes() {
      return { data: flowDescription };
    },

    create_flow: {
      async prepare(input, { world }) {
        const inspections = await inspectNew({ world }, input);
        return async (context) => ({
          data: await showSaved(context, await createFlow(input, context, inspections)),
        });
      },
    },

    async list_flows(paging, { db, organization }) {
      const query = selectFlows(db, organization).orderBy("flows.priority", "desc").orderBy("flows.id");
      const { rows, meta } = await readPage(query, paging);
      return { data: rows.map(serializeFlow), meta };
    },

    async get_flow({ id }, { db, organization }) {
      return { data: serializeFlow(await getFlow(db, organization, id)) };
    },

    update_flow: {
      async prepare(input, { world, caller }) {
        const inspections = await inspectChanged({ world }, caller?.organization_id ?? "", input);
        return async (context) => ({
          data: await showSaved(context, await updateFlow(input, context, inspections)),
        });
      },
    },

    async delete_flow({ id }, context) {
      const { tx, organization } = context;
      await lockFlow(tx, organization, id);
      await cancelRuns(context, { reason: "flow_deleted", flow_id: id });
      await ofOrganization(tx, organization).deleteFrom("flows").where("id", "=", id).execute();
      return { data: { deleted: true } };
    },

    async rehearse_flow(input, context) {
      return { data: await rehearseFlow(input, context) };
    },

    trigger_flow: {
      async handle(input, context) {
        return { data: await triggerFlow(input, context) };
      },
      planned: {
        reads: "inbox:read",
        plan: planTrigger,
        async run(input, context, call) {
          return { data: await runPlannedTrigger(input, context, call) };
        },
      },
    },

    async toggle_flow(input, context) {
      const { id, name, is_enabled } = await toggleFlow(input, context);
      return { data: { id, name, is_enabled } };
    },

    async list_flow_runs(input, context) {
      return listRuns(input, context);
    },

    async get_flow_run({ id }, context) {
      return { data: await readRun(context, id) };
    },

    async cancel_flow_run({ id }, context) {
      return { data: await cancelRun(context, id) };
    },
  },
  jobs: [
    triggerJob,
    triggerContactJob,
    sweepWindowsJob,
    advanceJob,
    callJob,
    resumeJob,
    fireJob,
    startBatchJob,
    switchOffJob,
    deleteOldRunsJob,
  ],
  recordEvents: recordTriggers,
  hooks: [
    automationIn.handledBy(async (db, conversation) => ({ flow_run: await findActiveRun(db, conversation) })),
    takesMessage.handledBy(hasRunForReply),
    flowAnswers.handledBy(hasRunFor),
    authorityChanged.handledBy(checkFlowsOf),
    cohortWithdrawn.handledBy(requireNoFlow),
    // An agent who takes a conversation may let a running flow go on: only a message of the agent ends the
    // flow.
    conversationsTaken.handledBy(async (change, { organization, answered = [] }) => {
      const reason = "person_replied";
      await together(
        ...answered.map((conversation_id) =>
          cancelRuns({ ...change, organization }, { reason, conversation_id }),
        ),
      );
    }),
  ],
  erase: erasesContact({ now: cancelRunsOfErased, later: [eraseVariables] }),
});

async function showSaved({ tx, now }: WriteContext, flow: FlowWithVersion) {
  return { ...serializeFlow(flow), warnings: [...(await findFlowWarnings(tx, flow, now))] };
}
