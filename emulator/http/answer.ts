/** An answer of the emulator. */

export type Answer = BodyAnswer | LostAnswer;

export interface BodyAnswer {
  readonly status: number;
  readonly body: Buffer | object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The request is done, and its sender does not learn it. */
export interface LostAnswer {
  readonly lost: "unanswered" | "closed";
}

export function json(body: object, status = 200): BodyAnswer {
  return { status, body };
}
