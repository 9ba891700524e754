/** What a message with a template is composed of. */
import type { MediaLimits } from "../../../../ports/channel/capabilities.ts";
import type { KeptFiles } from "../../media/index.ts";
import type { Version } from "../version.ts";

/** A template that can be sent. */
export interface ApprovedTemplate {
  readonly organization_id: string;
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly version: Version;
}

/** A template of an inbox, and what the inbox's channel accepts as the file of its header. */
export interface SendableTemplate {
  readonly template: ApprovedTemplate;
  readonly media: MediaLimits;
  readonly files?: KeptFiles | undefined;
}
