/** Controls of the simulated review authority: how it reviews, and decisions by hand. */
import type { z } from "zod";
import { ControlInputError } from "../input-error.ts";
import { type AuthorityParts, decideReview } from "./decide.ts";
import { type ReviewDecision, ReviewSettings } from "./input.ts";
import {
  listNewest,
  listTemplateNames,
  lockTemplates,
  readReviewSettings,
  replaceSettings,
  type StoredTemplate,
  type TemplateSelection,
} from "./store.ts";

export interface TemplateControls {
  getSettings(organization_id: string): Promise<ReviewSettings>;
  /** Replaces all settings; missing ones get their defaults. */
  replaceSettings(organization_id: string, settings: z.input<typeof ReviewSettings>): Promise<ReviewSettings>;
  /** Changes the templates of a name at once. @throws ControlInputError if there is none. */
  decide(organization_id: string, decision: ReviewDecision): Promise<readonly StoredTemplate[]>;
  /** The templates of the organization, newest first, and how many there are. */
  listTemplates(
    organization_id: string,
    limit: number,
  ): Promise<{ readonly templates: readonly StoredTemplate[]; readonly total: number }>;
}

/** Of an error, this many existing names are listed. */
const maxNames = 5;

export function createTemplateControls(parts: AuthorityParts): TemplateControls {
  const { queries } = parts.database;
  return {
    getSettings: (organization_id) => readReviewSettings(queries, organization_id),

    async replaceSettings(organization_id, input) {
      const settings = ReviewSettings.parse(input);
      await replaceSettings(queries, organization_id, settings);
      return settings;
    },

    decide: (organization_id, decision) => decideByName(parts, organization_id, decision),

    listTemplates: (organization_id, limit) => listNewest(queries, organization_id, limit),
  };
}

function decideByName(
  parts: AuthorityParts,
  organization_id: string,
  { name, language, phone_number, ...change }: ReviewDecision,
): Promise<readonly StoredTemplate[]> {
  const selection = { organization_id, name: name.toLowerCase(), language, phone_number };
  return parts.database.transaction(async (tx) => {
    const { reason, notices } = await readReviewSettings(tx, organization_id);
    const decision = { ...change, reason: change.reason ?? reason, notices };
    const templates = await lockTemplates(tx, selection);
    if (templates.length === 0) {
      const existing = await listTemplateNames(tx, { ...selection, language: undefined }, maxNames);
      throw new ControlInputError("name", describeMissing(selection, existing));
    }
    const decided: StoredTemplate[] = [];
    for (const template of templates) {
      decided.push(await decideReview(parts, tx, { template, decision }));
    }
    return decided;
  });
}

function describeMissing(
  { name, language, phone_number }: TemplateSelection,
  existing: readonly Pick<StoredTemplate, "name" | "language">[],
): string {
  const inbox = phone_number === undefined ? "" : ` for ${phone_number}`;
  if (existing.length === 0) {
    return `No template was submitted${inbox}.`;
  }
  const names = existing.map((one) => `${one.name} (${one.language})`);
  const wanted = language === undefined ? name : `${name} (${language})`;
  return `There is no template ${wanted}${inbox}. Choose one of: ${names.join(", ")}.`;
}
