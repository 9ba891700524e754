/** The errors of creating and editing templates. */
import { GraphError } from "../contract/graph-error.ts";

/** The error_subcode says what is wrong; the code is always 100. */
const titles = {
  2388019: "Message template limit exceeded",
  2388023: "Message template language is being deleted",
  2388024: "Content in this language already exists",
  2388040: "Character limit exceeded",
  2388047: "Message header format is incorrect",
  2388072: "Message body format is incorrect",
  2388073: "Message footer format is incorrect",
  2388293: "Parameter-words ratio exceeds limit",
  2388299: "Leading or trailing parameters not allowed",
} as const;

export function templateError(subcode: keyof typeof titles, message: string): GraphError {
  return new GraphError(100, undefined, { subcode, userTitle: titles[subcode], userMessage: message });
}

/** For rules without a subcode of their own. */
export function templateRule(message: string): GraphError {
  return new GraphError(100, message);
}
