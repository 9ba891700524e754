/** Names the part of a template of Meta's that this service does not send. */
import { z } from "zod";
import type { ReviewedTemplate, TemplateVersion } from "../../../../ports/channel/template-authority.ts";

type TemplateSkipReason = NonNullable<ReviewedTemplate["skip_reason"]>;

const reasons: Readonly<Record<string, TemplateSkipReason>> = {
  CAROUSEL: "carousel",
  LIMITED_TIME_OFFER: "limited_time_offer",
  CATALOG: "catalog",
  MPM: "catalog",
};

const Types = z.array(
  z.object({ type: z.string(), buttons: z.array(z.object({ type: z.string() })).default([]) }),
);

/** `unknown` if no part has a reason of its own. */
export function skipReasonOf(components: unknown, category: TemplateVersion["category"]): TemplateSkipReason {
  if (category === "authentication") {
    return "authentication";
  }
  const parts = Types.safeParse(components).data ?? [];
  const types = parts.flatMap(({ type, buttons }) => [type, ...buttons.map((button) => button.type)]);
  return types.flatMap((type) => reasons[type.toUpperCase()] ?? [])[0] ?? "unknown";
}
