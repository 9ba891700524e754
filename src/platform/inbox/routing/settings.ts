/** The settings of a policy: validated when they are written, so that decisions need no checks. */
import { z } from "zod";
import { failInput, inputMessages } from "../../../../tools/contract/index.ts";
import { routingStrategies } from "../../../../tools/routing.ts";

const longestSeconds = 30 * 24 * 3600;

const PolicySettings = z.looseObject({
  weights: z.record(z.string(), z.int().min(1).max(100)).default({}),
  required_skills: z.array(z.string().min(1).max(64)).max(100).default([]),
  ttl_days: z.int().min(1).max(3650).default(30),
  fallback: z.enum(routingStrategies).exclude(["sticky"]).default("load_balanced"),
  escalate_after_seconds: z.int().min(1).max(longestSeconds).default(120),
  relax_after_seconds: z.int().min(0).max(longestSeconds).optional(),
  requeue_after_seconds: z.int().min(1).max(longestSeconds).optional(),
});

/** The settings with their defaults; the row holds only what the caller sent. */
export type PolicySettings = z.output<typeof PolicySettings>;

/** @throws Failure `invalid_request`, naming the field: `settings.weights.<user id>`. */
export function requireSettings(settings: Readonly<Record<string, unknown>>): void {
  const { error } = PolicySettings.safeParse(settings, { error: inputMessages });
  if (error) {
    const issues = error.issues.map((issue) => ({ ...issue, path: ["settings", ...issue.path] }));
    throw failInput(issues, { settings });
  }
}

/** The settings of a row, completed with the defaults. */
export function readPolicySettings(settings: Readonly<Record<string, unknown>>): PolicySettings {
  return PolicySettings.parse(settings);
}
