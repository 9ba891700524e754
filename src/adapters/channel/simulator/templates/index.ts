/** A simulated authority that reviews templates like WhatsApp, with controls for its decisions. */
import type { JobDefinition } from "../../../../jobs/job.ts";
import type { TemplateAuthority, TemplateAuthorityCallbacks } from "../../../../ports/template-authority.ts";
import type { ControlRoute } from "../control-route.ts";
import { createTemplateAuthority } from "./authority.ts";
import { createTemplateControls } from "./controls.ts";
import { type AuthorityParts, createReviewJobs } from "./decide.ts";
import { createTemplateRoutes } from "./routes.ts";

export interface SimulatedAuthorityOptions extends AuthorityParts {
  readonly callbacks: TemplateAuthorityCallbacks;
}

export interface SimulatedAuthority {
  readonly authority: TemplateAuthority;
  readonly routes: readonly ControlRoute[];
  /** The jobs that decide and report. Safe to repeat. */
  readonly jobs: readonly JobDefinition[];
}

export function createSimulatedAuthority({
  callbacks,
  ...parts
}: SimulatedAuthorityOptions): SimulatedAuthority {
  return {
    authority: createTemplateAuthority(parts),
    routes: createTemplateRoutes(createTemplateControls(parts)),
    jobs: createReviewJobs(parts, callbacks),
  };
}
