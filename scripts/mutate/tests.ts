/** The test files of each module: what a mutation of the module must fail. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Mutation } from "./mutation.ts";

/** By module, names in test/ without `.test.ts`; `*` stands for any characters but "/". */
const names: Readonly<Record<string, readonly string[]>> = {
  "platform/api-keys": ["api-keys", "ended-credentials", "quotas"],
  "platform/auth": ["auth", "sessions"],
  "platform/billing": ["billing", "addon-random", "chatbot-addon-*"],
  "platform/bootstrap": ["auth", "secrets", "operator", "journeys/local-key"],
  "platform/broadcasts": ["broadcast*", "erasure"],
  "platform/chatbot": ["chatbot", "chatbot-*", "erasure"],
  "platform/clock": ["clock"],
  "platform/cohorts": ["cohort*", "quotas", "erasure"],
  "platform/contacts": ["contact*", "whatsapp-moves", "erasure"],
  "platform/conversations": ["conversation*", "assignments", "context*", "routing-queue", "erasure"],
  "platform/flows": ["flow*", "quotas", "erasure"],
  "platform/identity": ["auth", "sessions", "ended-credentials", "roles", "suspension"],
  "platform/imports": ["import*", "quotas"],
  "platform/inboxes": ["inboxes", "whatsapp-limits", "whatsapp-setup", "whatsapp-stops", "quotas"],
  "platform/index": ["catalogue", "events", "http-routes", "payments-webhook"],
  "platform/kernel": [
    ...["actor", "erasure", "events", "idempotency", "outward", "quotas", "retention", "secrets"],
  ],
  "platform/knowledge-base": ["knowledge*"],
  "platform/mcp": ["mcp", "rest-tools"],
  "platform/ledger": ["ledger", "wallet", "payments"],
  "platform/media": ["upload-links", "template-messages", "whatsapp-sending"],
  "platform/messages": [
    ...["message*", "receipts", "inbound-batches", "wait", "person-quota", "contact-blocking*"],
    ...["contact-consent", "stop-requests", "charge-random", "wallet-ends", "template-messages"],
    ...["whatsapp-edits", "whatsapp-inbound", "whatsapp-moves", "whatsapp-reactions", "erasure"],
  ],
  "platform/operator": ["operator", "cli-manage", "suspension"],
  "platform/organization": ["organization", "operator"],
  "platform/payments": ["payments*"],
  "platform/phone": ["organization", "contact-identities", "contacts"],
  "platform/prices": ["prices", "broadcast-wallet"],
  "platform/pricing": ["pricing"],
  "platform/problems": ["flow-rules", "chatbot-graph"],
  "platform/query": ["query*", "cohort-queries", "routing"],
  "platform/quick-replies": ["quick-replies", "quotas"],
  "platform/routing": ["routing*", "quotas", "erasure"],
  "platform/settings": ["clock", "secrets", "operator"],
  "platform/teams": ["teams", "routing-queue", "quotas"],
  "platform/templates": ["template*", "whatsapp-templates", "quotas"],
  "platform/uploads": ["upload*", "quotas"],
  "platform/users": ["users", "roles"],
  "platform/wallet": ["wallet*", "simulated-money", "charge-random"],
  "platform/webhooks": ["webhook*", "test-webhook", "quotas", "erasure"],
  "adapters/channel": [
    ...["simulator*", "whatsapp-bodies", "whatsapp-captured", "whatsapp-sending", "whatsapp-setup"],
    ...["whatsapp-templates", "whatsapp-webhooks", "whatsapp-limits", "whatsapp-inbound"],
  ],
  "adapters/countries": ["countries", "pricing"],
  "adapters/documents": ["document-reader"],
  "adapters/load-once": ["load-once"],
  "adapters/log": ["log", "secrets"],
  "adapters/models": ["models*"],
  "adapters/patterns": ["flow-patterns"],
  "adapters/payments": ["payments", "payments-razorpay*", "payments-refunds", "payments-webhook"],
  "adapters/storage": ["upload-links", "upload-rejections", "upload-sources", "uploads"],
  "adapters/telemetry": ["metrics", "traces"],
  "adapters/web": ["web-*", "local-addresses", "flow-requests"],
  "adapters/worker-module": ["document-reader", "flow-patterns"],
  jobs: ["jobs*", "processes"],
  database: ["database", "data-folder", "embedded", "migrations", "new-database", "outages", "transactions"],
  http: [
    ...["http*", "large-bodies", "malformed-requests", "rate-limits", "request-limits", "shutdown"],
    ...["fairness"],
  ],
  mcp: ["mcp*", "rest-tools", "tool-list", "tools"],
  client: ["client", "mcp-access", "mcp-cancel", "mcp-stdio", "mcp-uploads", "mcp-wait"],
  config: ["config*", "start-errors", "payments-razorpay", "upload-sources", "models-openai"],
  emulators: ["whatsapp-emulator*"],
  time: ["deadline", "shared-clock", "frozen-process", "processes"],
};

/** The rules for every operation, among them that no operation shows what another organization has. */
const derived = "test/catalogue.test.ts";

/** @throws Error if the table and the modules or the files differ. */
export function readTests(root: string, modules: Iterable<string>): Map<string, string[]> {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const present = files.filter((file) => file.endsWith(".test.ts")).sort();
  const wanted = [...modules];
  const surplus = Object.keys(names).filter((module) => !wanted.includes(module));
  if (surplus.length > 0) {
    throw new Error(`scripts/mutate/tests.ts names modules that do not exist: ${surplus.join(", ")}.`);
  }
  return new Map(wanted.map((module) => [module, testsOf(module, present)]));
}

/** The files that are run for a mutation. */
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
  return [...new Set(found)].map((file) => join("test", file));
}

function matches(file: string, pattern: string): boolean {
  return new RegExp(`^${pattern.replaceAll("*", "[^/]*")}\\.test\\.ts$`).test(file);
}
