/** The port to the matcher of regular expressions, which are RE2. Called outside any transaction. */

/** timeout: it was ended, because it took too long. */
export type PatternInspection =
  | {
      readonly outcome: "valid";
      /** The number of instructions of the compiled program: the time of a match grows with it. */
      readonly size: number;
    }
  | { readonly outcome: "invalid" | "timeout" };

/** An expression that is not valid matches nothing. */
export type PatternVerdict = "matched" | "unmatched" | "timeout";

/** Works on other threads within a limit of time, so that no expression delays other work. */
export interface PatternMatcher {
  /** Compiles an expression. */
  inspect(pattern: string): Promise<PatternInspection>;
  /** Whether the text has a match of the expression anywhere, whatever the case. */
  match(pattern: string, text: string): Promise<PatternVerdict>;
}
