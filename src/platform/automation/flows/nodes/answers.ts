/** Reads the answer to a question, by the type of answer that the question asks for. */
import type { AnswerType, Validation } from "../../../../../tools/flows/index.ts";
import { maxLength, normalize } from "../texts/keywords.ts";
import type { MatchPattern, PatternTest } from "../texts/patterns.ts";

interface Question extends Validation {
  /** The answers that are accepted. */
  readonly accepted: readonly string[];
  readonly matches: MatchPattern;
}

/** Returns the value of an answer; undefined if the answer is not valid. */
type AnswerReader = (text: string, question: Question) => string | number | undefined;

const readers: Readonly<Record<AnswerType, AnswerReader>> = {
  text: (text, question) => (isWithin(text.length, question) ? text : undefined),

  number(text, question) {
    // A comma is the decimal sign in most languages; with more digits it separates thousands.
    const digits = text
      .replace(/\s/g, "")
      .replace(/,(?=\d{1,2}$)/, ".")
      .replace(/,(?=\d{3}(?:\D|$))/g, "");
    const value = /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(digits) ? Number(digits) : undefined;
    if (value === undefined || !isWithin(value, question)) {
      return undefined;
    }
    // Kept as text, because the number of an order or a customer is another one without its leading zeros.
    return /^[+-]?0\d/.test(digits) ? digits : value;
  },

  email: (text) =>
    /^[^\s@<>()",;:]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}$/i.test(text) ? text : undefined,

  phone(text) {
    const digits = text.replace(/[\s().-]/g, "");
    return /^\+?\d{6,15}$/.test(digits) ? digits : undefined;
  },

  date(text) {
    const [, isoYear, isoMonth, isoDay, day, month, year] =
      /^(?:(\d{4})-(\d{1,2})-(\d{1,2})|(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4}))$/.exec(text) ?? [];
    const parts = [isoYear ?? year, isoMonth ?? month, isoDay ?? day].map((part = "") =>
      part.padStart(2, "0"),
    );
    const date = parts.join("-");
    const time = new Date(`${date}T00:00:00Z`);
    return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date) ? date : undefined;
  },

  choice(text, { accepted }) {
    const normalized = normalize(text);
    return accepted.find((one) => normalize(one) === normalized);
  },

  regex: (text, { pattern = "", matches }) => (matches(answerTest(text, pattern)) ? text : undefined),
};

/** `titles` are the titles of the question's buttons or rows. */
export function readAnswer(
  answer: string,
  validation: Validation | undefined,
  { titles, matches }: { readonly titles: readonly string[]; readonly matches: MatchPattern },
): string | number | undefined {
  if (answer === "") {
    return undefined;
  }
  return validation
    ? readers[validation.type](answer, { ...validation, accepted: validation.choices ?? titles, matches })
    : answer;
}

/** Matches an answer with the expression of its validation. */
export function answerTest(answer: string, pattern: string): PatternTest {
  return { pattern, text: answer.slice(0, maxLength) };
}

function isWithin(size: number, { min, max }: Validation): boolean {
  return size >= (min ?? Number.NEGATIVE_INFINITY) && size <= (max ?? Number.POSITIVE_INFINITY);
}
