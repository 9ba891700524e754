/** Inboxes: the organization's phone numbers, their settings, and their accounts on a real channel. */
import { auth as authContract } from "../../../../tools/auth.ts";
import { inboxes as contract } from "../../../../tools/inboxes.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { implement } from "../../foundation/kernel/index.ts";
import { sealedAccounts } from "./accounts.ts";
import { checkInbox } from "./check.ts";
import { resumeInboxJob } from "./health.ts";
import { readAllLimitsJob, readLimitsJob } from "./limits.ts";
import { createInbox, updateInbox } from "./save.ts";
import { serializeInbox } from "./serialize.ts";
import { connectInbox } from "./set-up.ts";
import { whoami } from "./whoami.ts";

export {
  type InboxAccount,
  inboxesOfBusiness,
  listAccounts,
  openAccount,
  providerOf,
  readAccount,
  type StoredAccount,
  storeCursor,
  storedAccount,
} from "./accounts.ts";
export {
  addressKinds,
  channelsWithKind,
  isOpenKind,
  readChannelAddress,
  requireKind,
  storedAddress,
} from "./addresses.ts";
export { recordAlert } from "./alerts.ts";
export {
  capabilitiesOf,
  channelOf,
  channelsThat,
  type InboxOfChannel,
  readMarksOf,
  type WindowRule,
  windowRuleOf,
} from "./channel.ts";
export {
  getInbox,
  getOrDefaultInbox,
  insertInbox,
  isSimulatedBesideReal,
  laneOf,
} from "./find.ts";
export { pausedUntil, recordHealth, recordSendFailure, recordUnreachable, warnOfHealth } from "./health.ts";
export { requestLimits } from "./limits.ts";
export { getPhoneRegion, normalizePhone } from "./phone-region.ts";
export { callbackPath } from "./serialize.ts";
export { recordWebhook } from "./webhook-time.ts";

// It shows inboxes, which auth does not read.
const { whoami: declaration } = authContract;

export const inboxes = implement(
  { ...contract, whoami: declaration },
  {
    tables: ["inboxes", "inbox_accounts"],
    sealed: [sealedAccounts],
    jobs: [readLimitsJob, readAllLimitsJob, resumeInboxJob],
    operations: {
      async list_inboxes(_, { db, world, organization }) {
        const rows = await ofOrganization(db, organization)
          .selectFrom("inboxes")
          .selectAll()
          .orderBy("id")
          .execute();
        return { data: rows.map((row) => serializeInbox(world, row)), meta: { total: rows.length } };
      },

      create_inbox: createInbox,
      update_inbox: updateInbox,
      check_inbox: checkInbox,
      connect_inbox: connectInbox,

      async whoami(_, context) {
        return { data: await whoami(context) };
      },
    },
  },
);
