/**
 * All migrations by name, in the order of their numbers. They are imported statically, because a bundle has
 * no folder to read.
 */
import type { Migration } from "kysely";
import * as foundation from "./0001-foundation.ts";
import * as people from "./0002-people.ts";
import * as arrivals from "./0003-arrivals.ts";
import * as files from "./0004-files.ts";
import * as traces from "./0005-traces.ts";
import * as webhooks from "./0006-webhooks.ts";
import * as recovery from "./0007-recovery.ts";
import * as modules from "./0008-modules.ts";
import * as processes from "./0009-processes.ts";
import * as organizationSettings from "./0010-organization-settings.ts";
import * as indexes from "./0011-indexes.ts";
import * as uploadCreators from "./0012-upload-creators.ts";
import * as tags from "./0013-tags.ts";
import * as templates from "./0014-templates.ts";
import * as operator from "./0015-operator.ts";
import * as ledger from "./0016-ledger.ts";
import * as rates from "./0017-rates.ts";
import * as cohorts from "./0018-cohorts.ts";
import * as pacing from "./0019-pacing.ts";
import * as broadcasts from "./0020-broadcasts.ts";
import * as payments from "./0021-payments.ts";
import * as billing from "./0022-billing.ts";
import * as flows from "./0023-flows.ts";
import * as flowSchedules from "./0024-flow-schedules.ts";
import * as flowSecrets from "./0025-flow-secrets.ts";
import * as flowEvents from "./0026-flow-events.ts";
import * as knowledgeBase from "./0028-knowledge-base.ts";
import * as chatbot from "./0029-chatbot.ts";
import * as answers from "./0030-answers.ts";
import * as channelAccounts from "./0031-channel-accounts.ts";
import * as repliesAndReactions from "./0032-replies-and-reactions.ts";
import * as channelLimits from "./0033-channel-limits.ts";
import * as flowAuthority from "./0034-flow-authority.ts";
import * as simulatedMoney from "./0035-simulated-money.ts";
import * as answersAndAbsences from "./0036-answers-and-absences.ts";
import * as readingTimes from "./0037-reading-times.ts";
import * as processClocks from "./0038-process-clocks.ts";
import * as messageDelays from "./0039-message-delays.ts";
import * as downwardReads from "./0040-downward-reads.ts";
import * as automatedConversations from "./0041-automated-conversations.ts";
import * as notes from "./0042-notes.ts";
import * as channelKinds from "./0043-channel-kinds.ts";
import * as messageWords from "./0044-message-words.ts";
import * as readMarks from "./0045-read-marks.ts";
import * as publicEvents from "./0046-public-events.ts";
import * as contactDates from "./0047-contact-dates.ts";
import * as plans from "./0048-plans.ts";
import * as acts from "./0049-acts.ts";
import * as rules from "./0051-rules.ts";
import * as outwardPlans from "./0053-outward-plans.ts";
import * as consoleSessions from "./0054-console.ts";
import * as budgets from "./0055-budgets.ts";
import * as largePlans from "./0056-large-plans.ts";
import * as signInLinks from "./0058-sign-in-links.ts";
import * as planReleases from "./0059-plan-releases.ts";
import * as inboxPeople from "./0061-inbox-people.ts";
import * as inboxWebhooks from "./0062-inbox-webhooks.ts";
import * as receivedDetails from "./0063-received-details.ts";
import * as copiedOriginals from "./0064-copied-originals.ts";
import * as roomForUpdates from "./0065-room-for-updates.ts";
import * as usageEntries from "./0066-usage-entries.ts";
import * as receivedTime from "./0068-received-time.ts";

export const migrations: Readonly<Record<string, Migration>> = {
  "0001-foundation": foundation,
  "0002-people": people,
  "0003-arrivals": arrivals,
  "0004-files": files,
  "0005-traces": traces,
  "0006-webhooks": webhooks,
  "0007-recovery": recovery,
  "0008-modules": modules,
  "0009-processes": processes,
  "0010-organization-settings": organizationSettings,
  "0011-indexes": indexes,
  "0012-upload-creators": uploadCreators,
  "0013-tags": tags,
  "0014-templates": templates,
  "0015-operator": operator,
  "0016-ledger": ledger,
  "0017-rates": rates,
  "0018-cohorts": cohorts,
  "0019-pacing": pacing,
  "0020-broadcasts": broadcasts,
  "0021-payments": payments,
  "0022-billing": billing,
  "0023-flows": flows,
  "0024-flow-schedules": flowSchedules,
  "0025-flow-secrets": flowSecrets,
  "0026-flow-events": flowEvents,
  "0028-knowledge-base": knowledgeBase,
  "0029-chatbot": chatbot,
  "0030-answers": answers,
  "0031-channel-accounts": channelAccounts,
  "0032-replies-and-reactions": repliesAndReactions,
  "0033-channel-limits": channelLimits,
  "0034-flow-authority": flowAuthority,
  "0035-simulated-money": simulatedMoney,
  "0036-answers-and-absences": answersAndAbsences,
  "0037-reading-times": readingTimes,
  "0038-process-clocks": processClocks,
  "0039-message-delays": messageDelays,
  "0040-downward-reads": downwardReads,
  "0041-automated-conversations": automatedConversations,
  "0042-notes": notes,
  "0043-channel-kinds": channelKinds,
  "0044-message-words": messageWords,
  "0045-read-marks": readMarks,
  "0046-public-events": publicEvents,
  "0047-contact-dates": contactDates,
  "0048-plans": plans,
  "0049-acts": acts,
  "0051-rules": rules,
  "0053-outward-plans": outwardPlans,
  "0054-console": consoleSessions,
  "0055-budgets": budgets,
  "0056-large-plans": largePlans,
  "0058-sign-in-links": signInLinks,
  "0059-plan-releases": planReleases,
  "0061-inbox-people": inboxPeople,
  "0062-inbox-webhooks": inboxWebhooks,
  "0063-received-details": receivedDetails,
  "0064-copied-originals": copiedOriginals,
  "0065-room-for-updates": roomForUpdates,
  "0066-usage-entries": usageEntries,
  "0068-received-time": receivedTime,
};
