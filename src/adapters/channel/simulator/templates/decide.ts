/**
 * Decides about templates of the simulated review authority, now or by a job.
 *
 * A template is PENDING after each submission. The review approves or rejects it; a decision by hand may
 * also pause or disable it. The first two pauses end by themselves, the third disables the template.
 * Each submission and decision raises the revision, which voids the review or the end of a pause that
 * was scheduled before.
 */
import { z } from "zod";
import type { Database, DatabaseTransaction } from "../../../../database/database.ts";
import { type Enqueuer, type JobDefinition, type JobType, newJob } from "../../../../jobs/job.ts";
import type {
  TemplateAuthorityCallbacks,
  TemplateNotice,
} from "../../../../ports/channel/template-authority.ts";
import type { Clock } from "../../../../ports/clock.ts";
import type { ReviewDecision, ReviewSettings } from "./input.ts";
import { lockStoredTemplate, type StoredTemplate, updateTemplate } from "./store.ts";

export interface AuthorityParts {
  readonly database: Database;
  readonly enqueue: Enqueuer;
  readonly now: Clock;
}

const DueReview = z.object({
  organization_id: z.string(),
  external_id: z.string(),
  /** The one that the decision is about. */
  revision: z.int(),
  outcome: z.enum(["approve", "reject", "resume"]),
  /** Of a rejection. */
  reason: z.string(),
  /** Whether the change is reported. */
  notices: z.boolean(),
});
type DueReview = z.output<typeof DueReview>;

const Notice: z.ZodType<TemplateNotice> = z.object({
  organization_id: z.string(),
  phone_number: z.string(),
  name: z.string(),
});

const reviewJobType: JobType<DueReview> = { name: "simulator.review", payload: DueReview };
const noticeJobType: JobType<TemplateNotice> = { name: "simulator.notice", payload: Notice };

/** The jobs that decide and report. A job of its own reports, so that a repeat does not decide again. */
export function createReviewJobs(
  parts: AuthorityParts,
  callbacks: TemplateAuthorityCallbacks,
): readonly [JobDefinition<DueReview>, JobDefinition<TemplateNotice>] {
  return [
    {
      ...reviewJobType,
      runsWhileSuspended: true,
      async run(due) {
        await parts.database.transaction(async (tx) => {
          const template = await lockStoredTemplate(tx, due);
          if (template?.revision === due.revision) {
            await decideReview(parts, tx, { template, decision: due });
          }
        });
        return undefined;
      },
    },
    {
      ...noticeJobType,
      runsWhileSuspended: true,
      async run(notice) {
        await callbacks.onTemplatesChanged([notice]);
        return undefined;
      },
    },
  ];
}

/** Schedules the decision about a submitted template; none if the settings hold it. */
export async function scheduleReview(
  { enqueue, now }: AuthorityParts,
  tx: DatabaseTransaction,
  { template, settings }: { readonly template: StoredTemplate; readonly settings: ReviewSettings },
): Promise<void> {
  const { outcome, reason, notices, delay_ms } = settings;
  if (outcome !== "hold") {
    const due = { ...toKey(template), outcome, reason, notices };
    await enqueue(tx, [newJob(reviewJobType, due, { runAt: addMs(now(), delay_ms) })]);
  }
}

const hourMs = 3_600_000;
/** How long the first pauses last, as on WhatsApp; the next one disables the template. */
const pausesMs = [3 * hourMs, 6 * hourMs];

interface DueDecision extends Pick<ReviewDecision, "quality" | "category"> {
  readonly outcome?: keyof typeof outcomes | undefined;
  readonly reason: string;
  readonly notices: boolean;
}

type Changes = Partial<Pick<StoredTemplate, "status" | "rejection_reason" | "quality_rating" | "pauses">>;

const outcomes = {
  approve: () => ({ status: "APPROVED", rejection_reason: null, quality_rating: "GREEN" }),
  reject: (_, { reason }) => ({ status: "REJECTED", rejection_reason: reason }),
  pause: ({ pauses }) => ({
    status: pauses < pausesMs.length ? "PAUSED" : "DISABLED",
    rejection_reason: null,
    pauses: pauses + 1,
  }),
  disable: () => ({ status: "DISABLED", rejection_reason: null }),
  resume: () => ({ status: "APPROVED" }),
} satisfies Record<string, (template: StoredTemplate, decision: { readonly reason: string }) => Changes>;

/** Changes a locked template, and adds the jobs that report the change and end the pause. */
export async function decideReview(
  { enqueue, now }: AuthorityParts,
  tx: DatabaseTransaction,
  { template, decision }: { readonly template: StoredTemplate; readonly decision: DueDecision },
): Promise<StoredTemplate> {
  const { outcome, quality, category, notices } = decision;
  const changed = await updateTemplate(tx, template, {
    ...(outcome && { ...outcomes[outcome](template, decision), revision: template.revision + 1 }),
    ...(quality && { quality_rating: quality }),
    ...(category && { category }),
  });
  const { organization_id, phone_number, name } = changed;
  const notice = newJob(noticeJobType, { organization_id, phone_number, name });
  const pauseMs = outcome === "pause" ? pausesMs[template.pauses] : undefined;
  const resume = { ...toKey(changed), outcome: "resume", reason: "", notices } as const;
  await enqueue(tx, [
    ...(notices && hasChanged(template, changed) ? [notice] : []),
    ...(pauseMs ? [newJob(reviewJobType, resume, { runAt: addMs(now(), pauseMs) })] : []),
  ]);
  return changed;
}

function hasChanged(before: StoredTemplate, after: StoredTemplate): boolean {
  const fields = ["status", "rejection_reason", "quality_rating", "category"] as const;
  return fields.some((field) => before[field] !== after[field]);
}

function toKey({ organization_id, external_id, revision }: StoredTemplate) {
  return { organization_id, external_id, revision };
}

function addMs(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}
