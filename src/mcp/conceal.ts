/**
 * Takes out of a service's failure what is internal to that service, before a model reads it.
 *
 * What the caller's own arguments held is the caller's, and stays. Where nothing that means anything is left
 * of a sentence, ours for the status stands in its place; where a text was only a further fact, it goes.
 */
import { CallFailure } from "../client/index.ts";
import type { Trouble } from "./explain.ts";
import { internals } from "./internals.ts";
import { replaceSql } from "./sql.ts";

export interface Asked {
  readonly arguments: unknown;
  /** The caller's credential, which a service may repeat. */
  readonly key?: string | undefined;
}

/** Members that say nothing to a caller, by their names without case and dashes. */
const inward =
  /^(?:stack|stack_?trace|trace|trace_?back|back_?trace|debug(?:_?info)?|exception|internal|sql|host(?:_?name)?|server|pod|node|file)$/i;

/** What a service said of a failed call, as far as it is for its caller. */
export function concealFailure(failure: CallFailure, { arguments: given, key }: Asked): Trouble {
  const { status, retryAfterSeconds, mayHaveRun, requestId } = failure;
  const texts = textsOf(given);
  const clean = (text: string) => {
    const shown = conceal(
      key !== undefined && key.length > 5 ? text.replaceAll(key, "[secret]") : text,
      texts,
    );
    return shown === text || isTelling(shown) ? shown : undefined;
  };
  const isClean = (text: string) => clean(text) === text;
  const error = cleanMembers(failure.error ?? {}, clean);
  return {
    status,
    code: isClean(failure.code) ? failure.code : `http_${status}`,
    message: clean(failure.message) ?? CallFailure.sentenceOf(status),
    error: failure.error && error,
    requestId: requestId !== undefined && isClean(requestId) ? requestId : undefined,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    mayHaveRun,
  };
}

/** Nobody reads more of a failure than a part of this. */
const longest = 4_000;
const hidden = "[hidden]";

/** The text without what is internal, but for what one of the given texts holds too. */
export function conceal(text: string, given: readonly string[] = []): string {
  // Cut between words: half a secret would not be known for one.
  const short = text.length > longest ? text.slice(0, longest).replace(/\S{1,400}$/, "") : text;
  // Written by a program that escaped it once too often.
  const lines = short.replace(/\\n(?=\s)/g, "\n");
  const hide = (found: string) => {
    const [end = ""] = /[.,;:!?]*$/.exec(found) ?? [];
    const body = found.slice(0, found.length - end.length);
    return given.some((one) => one.includes(body)) ? found : hidden + end;
  };
  const shown = internals.reduce(
    (rest, { pattern, is }) =>
      rest.replace(pattern, (found) =>
        is?.(found.replace(/[.,;:!?]+$/, "")) === false ? found : hide(found),
      ),
    replaceSql(lines, hide),
  );
  return shown === text ? text : tidy(shown);
}

/** Many things hidden in a row are one. */
function tidy(text: string): string {
  return text
    .replace(/\[hidden\](?:[\s,;:()]*\[hidden\])+/g, hidden)
    .replace(/\s+/g, " ")
    .trim();
}

/** Whether more is left than the name of an error. */
function isTelling(text: string): boolean {
  const left = text.replaceAll(hidden, " ").replace(/\b(?:E[A-Z]{3,}|\w*(?:Error|Exception))\b/g, " ");
  const words = left.match(/\p{L}{2,}/gu) ?? [];
  // Not every script has spaces between its words.
  return words.length > 2 || /(?:(?!\p{Script=Latin})\p{L}){4}/u.test(left);
}

type Clean = (text: string) => string | undefined;

function cleanValue(value: unknown, clean: Clean): unknown {
  if (typeof value === "string") {
    return clean(value);
  }
  if (Array.isArray(value)) {
    return value.map((one) => cleanValue(one, clean)).filter((one) => one !== undefined);
  }
  return typeof value === "object" && value !== null ? cleanMembers(value, clean) : value;
}

function cleanMembers(members: object, clean: Clean): Record<string, unknown> {
  const entries = Object.entries(members)
    .filter(([name]) => !inward.test(name) && clean(name) === name)
    .map(([name, value]) => [name, cleanValue(value, clean)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") {
    return [value];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
