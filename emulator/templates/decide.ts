/**
 * The decisions about a template: approval, rejection, pauses, the end of a pause, disabling, quality and category.
 *
 * A pause ends by itself: the first after 3 hours, the second after 6. The third disables the template. Each decision
 * voids what was scheduled before it.
 */
import { toUnixSeconds } from "../clock.ts";
import type { Category, Quality, Template, TemplateStatus } from "../state/template.ts";
import type { World } from "../world.ts";

export type Outcome = "approve" | "reject" | "pause" | "unpause" | "disable";

export interface Decision {
  readonly outcome?: Outcome | undefined;
  readonly reason?: string | undefined;
  readonly quality?: Quality | undefined;
  readonly category?: Category | undefined;
}

const hourMs = 3_600_000;
const pauses = [
  { title: "FIRST_PAUSE", durationMs: 3 * hourMs },
  { title: "SECOND_PAUSE", durationMs: 6 * hourMs },
] as const;

/** Schedules the review of a template that was created or edited. */
export function scheduleReview(world: World, template: Template): void {
  const { outcome, delay_ms, reason } = world.review;
  if (outcome !== "hold") {
    schedule(world, template, { delayMs: delay_ms, decision: { outcome, reason } });
  }
}

export function decide(world: World, template: Template, decision: Decision): void {
  const { outcome, quality, category } = decision;
  if (category !== undefined && category !== template.category) {
    const change = { previous_category: template.category, new_category: category };
    template.category = category;
    emit(world, template, { field: "template_category_update", value: change });
  }
  if (outcome !== undefined) {
    outcomes[outcome](world, template, decision);
  }
  if (quality !== undefined && quality !== template.quality) {
    const change = { previous_quality_score: template.quality, new_quality_score: quality };
    template.quality = quality;
    emit(world, template, { field: "message_template_quality_update", value: change });
  }
}

/** Reports a status by webhook. A deleted template has no reason. */
export function emitStatus(
  world: World,
  template: Template,
  { event, reason, more = {} }: StatusEvent,
): void {
  const value = { event, reason, message_template_category: template.category, ...more };
  emit(world, template, { field: "message_template_status_update", value });
}

interface StatusEvent {
  readonly event: string;
  readonly reason: string | null;
  readonly more?: object;
}

const outcomes: Readonly<Record<Outcome, (world: World, template: Template, decision: Decision) => void>> = {
  approve: restore,
  unpause: restore,
  reject(world, template, { reason = world.review.reason }) {
    move(template, "REJECTED");
    template.rejected_reason = reason;
    const rejection_info = { reason, recommendation: "Edit the template and submit it again." };
    emitStatus(world, template, { event: "REJECTED", reason, more: { rejection_info } });
  },
  pause(world, template) {
    const pause = pauses[template.pauses];
    if (!pause) {
      disable(world, template);
      return;
    }
    template.pauses += 1;
    move(template, "PAUSED");
    const other_info = { title: pause.title, description: "The template has a low quality." };
    emitStatus(world, template, { event: "PAUSED", reason: "NONE", more: { other_info } });
    schedule(world, template, { delayMs: pause.durationMs, decision: { outcome: "unpause" } });
  },
  disable,
};

function restore(world: World, template: Template): void {
  const isBack = template.status === "PAUSED" || template.status === "DISABLED";
  move(template, "APPROVED");
  template.rejected_reason = "NONE";
  emitStatus(world, template, { event: isBack ? "REINSTATED" : "APPROVED", reason: "NONE" });
}

function disable(world: World, template: Template): void {
  move(template, "DISABLED");
  const more = {
    disable_info: { disable_date: toUnixSeconds(world.clock.now()) },
    other_info: { title: "DISABLED", description: "The template was disabled." },
  };
  emitStatus(world, template, { event: "DISABLED", reason: "NONE", more });
}

function move(template: Template, status: TemplateStatus): void {
  template.status = status;
  template.revision += 1;
}

interface ScheduledDecision {
  readonly delayMs: number;
  readonly decision: Decision;
}

function schedule(world: World, template: Template, { delayMs, decision }: ScheduledDecision): void {
  const { revision } = template;
  world.clock.after(delayMs, () => {
    if (template.revision === revision && world.store.nodes.get(template.id) === template) {
      decide(world, template, decision);
    }
  });
}

/** The webhook has the id as a number, and the language with a hyphen, as in Meta's examples. */
function emit(
  { webhooks }: World,
  { id, account_id, name, language }: Template,
  { field, value }: { readonly field: string; readonly value: object },
): void {
  const identity = {
    message_template_id: Number(id),
    message_template_name: name,
    message_template_language: language.replace("_", "-"),
  };
  webhooks.emit([{ account_id, field, value: { ...value, ...identity } }]);
}
