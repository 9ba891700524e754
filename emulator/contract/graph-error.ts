/** An error as the Graph API answers it: one envelope for all, in which `code` says what went wrong. */
import { randomBytes } from "node:crypto";
import { errorCodes, throttleCodes } from "./error-codes.ts";

interface Options {
  readonly subcode?: number;
  readonly http?: number;
  /** In place of the title of the code. */
  readonly title?: string;
  readonly userTitle?: string;
  readonly userMessage?: string;
}

/** The messages of these codes, and messages of errors with a subcode, do not begin with the code. */
const plainCodes = [190, 2500];

export class GraphError extends Error {
  readonly code: number;
  readonly details: string | undefined;
  readonly options: Options;

  constructor(code: number, details?: string, options: Options = {}) {
    const title = options.title ?? titleOf(code);
    super(options.subcode === undefined && !plainCodes.includes(code) ? `(#${code}) ${title}` : title);
    this.code = code;
    this.details = details;
    this.options = options;
  }

  get status(): number {
    return this.options.http ?? errorCodes[this.code]?.http ?? 400;
  }

  get isThrottle(): boolean {
    return throttleCodes.includes(this.code);
  }

  body(): object {
    const { subcode, userTitle, userMessage } = this.options;
    return {
      error: {
        message: this.message,
        type: "OAuthException",
        code: this.code,
        ...(this.details === undefined
          ? {}
          : { error_data: { messaging_product: "whatsapp", details: this.details } }),
        ...(subcode === undefined ? {} : { error_subcode: subcode }),
        ...(userTitle === undefined
          ? {}
          : { is_transient: false, error_user_title: userTitle, error_user_msg: userMessage }),
        fbtrace_id: newTraceId(),
      },
    };
  }
}

export function titleOf(code: number): string {
  return errorCodes[code]?.title ?? "Unknown error";
}

/**
 * Meta answers 400 for an id that does not exist, is another account's, or does not support the operation.
 */
export function unknownObject(method: string, id: string): GraphError {
  const title = `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation`;
  return new GraphError(100, undefined, { subcode: 33, title });
}

export function invalidParameter(title: string): GraphError {
  return new GraphError(100, undefined, { title });
}

/** The error of a failed message, as its status webhook has it. */
export function statusError(code: number, details?: string): object {
  const title = titleOf(code);
  return {
    code,
    title,
    message: title,
    error_data: { details: details ?? title },
    href: "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/",
  };
}

export function newTraceId(): string {
  return `A${randomBytes(17).toString("base64url").slice(0, 22)}`;
}
