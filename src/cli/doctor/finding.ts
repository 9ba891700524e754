/** What a check of `tidings doctor` finds. */

export interface Finding {
  /** The subject that was checked. */
  readonly check: string;
  readonly status: "ok" | "warning" | "problem";
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** Makes findings about one subject. */
export function about(check: string) {
  return {
    ok: (message: string): Finding => ({ check, status: "ok", message }),
    warning: (message: string, fix: string): Finding => ({ check, status: "warning", message, fix }),
    problem: (message: string, fix: string): Finding => ({ check, status: "problem", message, fix }),
  };
}
