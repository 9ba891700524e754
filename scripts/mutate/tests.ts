/** The test files of each module. A mutation of the module must make one of them fail. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Mutation } from "./mutation.ts";

/**
 * Keyed by module: names in test/ without `.test.ts`, and names in emulator/test/ with the prefix
 * `emulator/`; `*` stands for any characters except "/".
 */
const names: Readonly<Record<string, readonly string[]>> = {
  "platform/index": ["catalogue", "events", "http-routes", "payments-webhook"],
  "platform/foundation/kernel": [
    "actor",
    "erasure",
    "events",
    "idempotency",
    "outward",
    "quotas",
    "retention",
    "secrets",
    "message-batches",
    "shared-transactions",
    "tool-marks",
    "activity*",
  ],
  "platform/foundation/problems": ["flow-rules", "chatbot-graph"],
  "platform/foundation/query": ["query*", "cohort-queries", "routing"],
  "platform/foundation/sealing": ["secrets", "flow-secrets", "webhook-deliveries"],
  "platform/foundation/cursor-texts": ["backup", "list-events", "wait"],
  "platform/foundation/settings": ["clock", "secrets", "operator"],
  "platform/account/api-keys": ["api-keys", "ended-credentials", "quotas"],
  "platform/account/auth": ["auth", "sessions", "console*"],
  "platform/account/identity": ["auth", "sessions", "ended-credentials", "roles", "suspension"],
  "platform/account/inboxes": [
    "inboxes",
    "inbox-checks",
    "inbox-connection",
    "whatsapp-limits",
    "whatsapp-setup",
    "whatsapp-stops",
    "quotas",
    "channel-outage",
  ],
  "platform/account/organization": ["organization", "operator"],
  "platform/account/phone": ["organization", "contact-identities", "contacts"],
  "platform/account/rules": [
    "plan-releases",
    "plan-sendings",
    "rules",
    "approval-attacks",
    "confirmations",
    "confirmation-attacks",
    "budgets",
    "budget-amounts",
    "budget-automation",
    "budget-periods",
    "rule-operations",
    "rule-conditions",
  ],
  "platform/account/users": ["users", "roles"],
  "platform/money/billing": ["billing", "addon-random", "chatbot-addon-*"],
  "platform/money/payments": ["payments*"],
  "platform/money/prices": ["prices", "broadcast-wallet"],
  "platform/money/pricing": ["pricing"],
  "platform/money/wallet": ["wallet*", "simulated-money", "charge-random"],
  "platform/content/knowledge-base": ["knowledge*"],
  "platform/content/media": ["view-media*", "upload-links", "template-messages", "whatsapp-sending"],
  "platform/content/quick-replies": ["quick-replies", "quotas"],
  "platform/content/templates": ["template*", "whatsapp-templates", "quotas"],
  "platform/content/uploads": ["upload*", "quotas"],
  "platform/inbox/contacts": ["contact*", "whatsapp-moves", "erasure", "erasure-log"],
  "platform/inbox/conversations": [
    "conversation*",
    "automated-conversations",
    "assignments",
    "context*",
    "routing-queue",
    "erasure",
    "answers",
    "unanswered",
    "team-absences",
  ],
  "platform/inbox/notes": ["notes", "erasure", "flow-nodes"],
  "platform/inbox/messages": [
    "message*",
    "receipts",
    "inbound-batches",
    "wait",
    "person-quota",
    "contact-blocking*",
    "contact-consent",
    "stop-requests",
    "charge-random",
    "wallet-ends",
    "template-messages",
    "whatsapp-calls",
    "whatsapp-edits",
    "whatsapp-history",
    "whatsapp-inbound",
    "whatsapp-moves",
    "whatsapp-reactions",
    "whatsapp-sent-reactions",
    "erasure",
    "answers",
    "unanswered",
    "channel-outage",
    "whatsapp-quota",
    "deadline-jobs",
  ],
  "platform/inbox/routing": ["routing*", "quotas", "erasure", "team-absences"],
  "platform/inbox/teams": ["teams", "routing-queue", "quotas", "team-absences"],
  "platform/automation/broadcasts": ["broadcast*", "erasure"],
  "platform/automation/chatbot": ["chatbot", "chatbot-*", "erasure"],
  "platform/automation/cohorts": ["cohort*", "quotas", "erasure"],
  "platform/automation/flows": ["flow*", "quotas", "erasure"],
  "platform/automation/imports": ["import*", "quotas"],
  "platform/automation/webhooks": ["webhook*", "test-webhook", "quotas", "erasure", "list-events"],
  "platform/operations/bootstrap": ["auth", "secrets", "operator", "journeys/local-key"],
  "platform/operations/clock": ["clock"],
  "platform/operations/restore": ["backup", "backup-load", "erasure-log"],
  "platform/operations/ledger": ["ledger", "wallet", "payments"],
  "platform/operations/mcp": ["mcp", "rest-tools", "activity-rejections"],
  "platform/operations/activity": ["activity*", "erasure"],
  "platform/operations/plans": [
    "plans",
    "plan-broadcasts",
    "plan-large*",
    "plan-machine",
    "plan-media",
    "plan-operations",
    "plan-processes",
    "approval-large",
    "rules",
    "approval-attacks",
  ],
  "platform/operations/operator": ["operator", "cli-manage", "suspension"],
  "adapters/channel": [
    "simulator*",
    "whatsapp-bodies",
    "whatsapp-captured",
    "whatsapp-sending",
    "whatsapp-setup",
    "whatsapp-templates",
    "whatsapp-webhooks",
    "whatsapp-limits",
    "whatsapp-inbound",
    "inbox-checks",
  ],
  "adapters/countries": ["countries", "pricing"],
  "adapters/documents": ["document-reader"],
  "adapters/http-client": [
    "adapter-requests",
    "deadline",
    "models-openai",
    "payments-razorpay*",
    "whatsapp-sending",
  ],
  "adapters/images": ["view-media*"],
  "adapters/load-once": ["load-once"],
  "adapters/log": ["log", "secrets"],
  "adapters/models": ["models*"],
  "adapters/patterns": ["flow-patterns"],
  "adapters/payments": ["payments", "payments-razorpay*", "payments-refunds", "payments-webhook"],
  "adapters/storage": ["adapter-requests", "upload-links", "upload-rejections", "upload-sources", "uploads"],
  "adapters/telemetry": ["metrics", "traces"],
  "adapters/web": ["web-*", "local-addresses", "flow-requests"],
  "adapters/threads": ["document-reader", "flow-patterns"],
  jobs: ["jobs*", "processes", "slow-heartbeats", "deadline-jobs"],
  database: [
    "database",
    "data-folder",
    "embedded",
    "held-requests",
    "migrations",
    "new-database",
    "outages",
    "transactions",
  ],
  http: [
    "http*",
    "console*",
    "large-bodies",
    "malformed-requests",
    "rate-limits",
    "request-limits",
    "shutdown",
    "fairness",
    "unknown-members",
  ],
  mcp: ["mcp*", "rest-tools", "tool-list", "tools", "tool-checks", "unknown-members", "untrusted"],
  client: [
    "client",
    "cli-polling",
    "mcp-access",
    "mcp-cancel",
    "mcp-stdio",
    "mcp-uploads",
    "mcp-wait",
    "client-aborted",
  ],
  config: ["config*", "start-errors", "payments-razorpay", "upload-sources", "models-openai"],
  emulator: ["emulator/*"],
  streams: ["streams", "large-bodies", "web-requests"],
  time: ["deadline", "shared-clock", "frozen-process", "processes", "pauses"],
};

/** The rules for every operation, for example that no operation shows data of another organization. */
const derived = "test/catalogue.test.ts";

/** @throws Error if the table and the modules or the files differ. */
export function readTests(root: string, modules: Iterable<string>): Map<string, string[]> {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const ofEmulator = readdirSync(join(root, "emulator/test")).map((file) => `emulator/${file}`);
  const present = [...files, ...ofEmulator].filter((file) => file.endsWith(".test.ts")).sort();
  const wanted = [...modules];
  const surplus = Object.keys(names).filter((module) => !wanted.includes(module));
  if (surplus.length > 0) {
    throw new Error(`scripts/mutate/tests.ts names modules that do not exist: ${surplus.join(", ")}.`);
  }
  return new Map(wanted.map((module) => [module, testsOf(module, present)]));
}

/** The files to run for a mutation. */
export function testsFor({ module, operator }: Mutation, tests: ReadonlyMap<string, string[]>): string[] {
  const own = tests.get(module) ?? [];
  const isDerived = module.startsWith("platform/") && operator === "dropped-tenant-condition";
  return isDerived && !own.includes(derived) ? [...own, derived] : own;
}

function testsOf(module: string, present: readonly string[]): string[] {
  const patterns = names[module];
  if (patterns === undefined) {
    throw new Error(`No tests of the module ${module}: name them in scripts/mutate/tests.ts.`);
  }
  const found = patterns.flatMap((pattern) => {
    const files = present.filter((file) => matches(file, pattern));
    if (files.length === 0) {
      throw new Error(`scripts/mutate/tests.ts: there is no file test/${pattern}.test.ts, for ${module}.`);
    }
    return files;
  });
  return [...new Set(found)].map((file) =>
    file.startsWith("emulator/") ? file.replace("/", "/test/") : join("test", file),
  );
}

function matches(file: string, pattern: string): boolean {
  return new RegExp(`^${pattern.replaceAll("*", "[^/]*")}\\.test\\.ts$`).test(file);
}
