/** A simulated authority that reviews templates like WhatsApp, with controls for its decisions. */
import type { JobDefinition } from "../../../../jobs/job.ts";
import type { ChannelFailure, OutboundMessage } from "../../../../ports/channel/channel.ts";
import type {
  TemplateAuthority,
  TemplateAuthorityCallbacks,
} from "../../../../ports/channel/template-authority.ts";
import type { ControlRoute } from "../control-route.ts";
import { createAuthority } from "./authority.ts";
import { createTemplateControls } from "./controls.ts";
import { type AuthorityParts, createReviewJobs } from "./decide.ts";
import { findRefusal } from "./refusal.ts";
import { createTemplateRoutes } from "./routes.ts";

export interface SimulatedAuthorityOptions extends AuthorityParts {
  readonly callbacks: TemplateAuthorityCallbacks;
}

export interface SimulatedAuthority {
  readonly authority: TemplateAuthority;
  /** Why the channel refuses a message with a template; null if it does not. */
  findRefusal(message: OutboundMessage): Promise<ChannelFailure | null>;
  readonly routes: readonly ControlRoute[];
  /** The jobs that decide and report. Safe to repeat. */
  readonly jobs: readonly JobDefinition[];
}

export function createSimulatedAuthority({
  callbacks,
  ...parts
}: SimulatedAuthorityOptions): SimulatedAuthority {
  return {
    authority: createAuthority(parts),
    findRefusal: (message) => findRefusal(parts.database.queries, message),
    routes: createTemplateRoutes(createTemplateControls(parts)),
    jobs: createReviewJobs(parts, callbacks),
  };
}
