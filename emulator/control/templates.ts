/** Controls of the review of templates. */
import { z } from "zod";
import { nodesOf } from "../state/store.ts";
import { decide } from "../templates/decide.ts";
import { ReviewSettings } from "../templates/review-settings.ts";
import { ControlError, type ControlRequest, parse } from "./input.ts";

export function getReview({ world }: ControlRequest): object {
  return world.review;
}

/** For templates that are submitted from now on. */
export function putReview({ world, body }: ControlRequest): object {
  world.review = parse(ReviewSettings, body);
  return world.review;
}

const Decision = z.strictObject({
  name: z.string().max(512),
  /** Without it, every language. */
  language: z.string().max(16).optional(),
  waba_id: z.string().optional(),
  outcome: z.enum(["approve", "reject", "pause", "unpause", "disable"]).optional(),
  reason: z.string().min(1).max(64).optional(),
  quality: z.enum(["GREEN", "YELLOW", "RED", "UNKNOWN"]).optional(),
  category: z.enum(["AUTHENTICATION", "MARKETING", "UTILITY"]).optional(),
});

export function decideTemplates({ world, body }: ControlRequest): object {
  const { name, language, waba_id, ...decision } = parse(Decision, body);
  const found = nodesOf(world.store, "template").filter(
    (template) =>
      template.name === name &&
      (language === undefined || template.language === language) &&
      (waba_id === undefined || template.account_id === waba_id),
  );
  if (found.length === 0) {
    throw new ControlError(`There is no such template: ${name}.`, 404);
  }
  for (const template of found) {
    decide(world, template, decision);
  }
  return {
    data: found.map(({ id, language: code, status, category, quality }) => ({
      id,
      name,
      language: code,
      status,
      category,
      quality,
    })),
  };
}
