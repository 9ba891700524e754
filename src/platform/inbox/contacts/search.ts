/** Search of contacts by words of a name or parts of a number, with an index. */
import { sql } from "kysely";
import { failField } from "../../../../tools/errors.ts";
import { toLikePattern } from "../../../database/query/index.ts";
import { removeAccents } from "../../foundation/query/index.ts";

/** Each word costs a search of the index. */
const maxWords = 8;

/** Whether a search is for a phone number or a part of one. */
export function isNumber(search: string): boolean {
  return /^[\d\s()+.-]*\d[\d\s()+.-]*$/.test(search);
}

/** @throws Failure `too_many_words`. */
export function readSearchWords(search: string): readonly string[] {
  const distinct = [...new Set(removeAccents(search).split(/\s+/).filter(Boolean))];
  if (distinct.length > maxWords) {
    throw failField("search", "too_many_words", { limit: maxWords, count: distinct.length });
  }
  return distinct;
}

/** Every word is part of the name, the number or the username, in any order. */
export function containsWords(words: readonly string[]) {
  const conditions = words.map((word) => sql`search_text like ${toLikePattern(word)}`);
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/**
 * Finds candidates for `containsWords` in the index: necessary but not sufficient, since the trigrams may
 * be in different places. One condition for all words, because a plan without the index computes the
 * trigrams of a row for each.
 */
export function containsTrigrams(words: readonly string[]) {
  return sql<boolean>`search_grams(search_text) @> ${words.flatMap(trigramsOf)}::text[]`;
}

/** Expects the tag as it is stored, in lower case. */
export function hasTag(tag: string) {
  return sql<boolean>`tags @> array[${tag}]::text[]`;
}

/** The value of the column `search_text`. */
export function searchTextOf(...parts: readonly (string | null | undefined)[]): string {
  return removeAccents(parts.filter(Boolean).join(" "));
}

/** The value of `search_text` after a change of the name, computed from the row's number and username. */
export function searchTextAfterRename(name: string) {
  return sql<string>`${removeAccents(name)} || ' ' || coalesce(phone_number, '') || ' ' || lower(coalesce(username, ''))`;
}

/**
 * As the SQL function `search_grams` computes them; a word of fewer than three characters is its own trigram.
 */
function trigramsOf(word: string): string[] {
  const characters = [...word];
  const count = Math.max(characters.length - 2, 1);
  return Array.from({ length: count }, (_, start) => characters.slice(start, start + 3).join(""));
}
