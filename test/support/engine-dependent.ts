/** The test files whose result may differ between the database engines; `npm test` runs them on both. */
export const engineDependent: readonly string[] = [
  "test/broadcast-reading.test.ts",
  "test/broadcast-recipients.test.ts",
  "test/broadcasts.test.ts",
  "test/cohort-queries.test.ts",
  "test/cohorts.test.ts",
  "test/contact-blocking.test.ts",
  "test/contact-identities.test.ts",
  "test/contact-search.test.ts",
  "test/contacts.test.ts",
  "test/database.test.ts",
  "test/events.test.ts",
  "test/flow-crashes.test.ts",
  "test/flow-processes.test.ts",
  "test/flow-races.test.ts",
  "test/flow-schedules.test.ts",
  "test/idempotency.test.ts",
  "test/imports.test.ts",
  "test/jobs-lanes.test.ts",
  "test/jobs-pacing-processes.test.ts",
  "test/jobs-pacing.test.ts",
  "test/jobs-priority.test.ts",
  "test/jobs-retries.test.ts",
  "test/jobs-workers.test.ts",
  "test/jobs.test.ts",
  "test/journeys/crashes.test.ts",
  "test/journeys/processes.test.ts",
  "test/journeys/routing.test.ts",
  "test/messages.test.ts",
  "test/migrations.test.ts",
  "test/metrics.test.ts",
  "test/processes.test.ts",
  "test/rate-limits.test.ts",
  "test/receipts.test.ts",
  "test/routing-concurrency.test.ts",
  "test/sessions.test.ts",
  "test/simulator-reviews.test.ts",
  "test/simulator-templates.test.ts",
  "test/suspension.test.ts",
  "test/wait.test.ts",
  "test/wallet-account.test.ts",
  "test/wallet-limits.test.ts",
  "test/wallet.test.ts",
  "test/webhook-deliveries.test.ts",
  "test/webhook-events.test.ts",
];

/**
 * Files that start many apps, each of which takes two seconds on the embedded engine and a fraction of one on
 * PostgreSQL, or that make very many calls. `npm test` runs them on PostgreSQL if it is there.
 */
export const fasterOnPostgres: readonly string[] = [
  "test/cli-manage.test.ts",
  "test/context.test.ts",
  "test/input-limits.test.ts",
  "test/journeys/keys-create.test.ts",
  "test/secrets.test.ts",
  "test/template-races.test.ts",
  "test/traces.test.ts",
  "test/upgrade.test.ts",
];

/** Files about the embedded engine itself. They never run on PostgreSQL. */
export const embeddedOnly: readonly string[] = ["test/embedded.test.ts", "test/new-database.test.ts"];
