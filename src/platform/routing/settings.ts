/** The settings of a policy: checked when they are written, so that every decision can trust them. */
import { z } from "zod";
import { failInput } from "../../../tools/contract/index.ts";
import { routingStrategies } from "../../../tools/routing.ts";

const longestSeconds = 30 * 24 * 3600;

const Settings = z.looseObject({
  weights: z.record(z.string(), z.int().min(1).max(100)).default({}),
  required_skills: z.array(z.string().min(1).max(64)).max(100).default([]),
  ttl_days: z.int().min(1).max(3650).default(30),
  fallback: z.enum(routingStrategies).exclude(["sticky"]).default("load_balanced"),
  escalate_after_seconds: z.int().min(1).max(longestSeconds).default(120),
  relax_after_seconds: z.int().min(0).max(longestSeconds).optional(),
  requeue_after_seconds: z.int().min(1).max(longestSeconds).optional(),
});

/** What a decision goes by; the row keeps what was sent, without defaults. */
export type Settings = z.output<typeof Settings>;

/** @throws Failure `invalid_request`, naming the field: `settings.weights.<user id>`. */
export function requireSettings(settings: Readonly<Record<string, unknown>>): void {
  const { error } = Settings.safeParse(settings);
  if (error) {
    const issues = error.issues.map((issue) => ({ ...issue, path: ["settings", ...issue.path] }));
    throw failInput(issues, { settings });
  }
}

/** The settings of a row, with what was left out. */
export function readSettings(settings: Readonly<Record<string, unknown>>): Settings {
  return Settings.parse(settings);
}
