/**
 * The jobs that run after a restore although they waited when the backup was made: they act on nothing
 * outside the installation, only read there, or look up first what was done.
 */
export const keptJobs: readonly string[] = [
  // Look up, in the channel or at the third party, what was done.
  "message.deliver",
  "message.confirm",
  "outward.resolve",
  // Read from a third party.
  "payment.sync",
  "inbox.poll",
  "inbox.read-limits",
  "template.sync",
  // Act on the database and on files alone.
  "cohort.build",
  "cohort.count",
  "contact.erase",
  "contact_dates.fill",
  "conversation.wake",
  "erasure.record",
  "import.run",
  "inbox.resume",
  "knowledge.embed",
  "knowledge.ingest",
  "plan.prepare",
  "queue.serve",
  "upload.remove",
];
