/** Search of contacts: words of a name in any order, parts of a number, on an index at any size. */
import { type ExpressionBuilder, sql } from "kysely";
import { patternOf } from "../../database/query/index.ts";
import type { Tables } from "../../database/schema/index.ts";
import { fold } from "../query/index.ts";

/** Every word of the search is part of the name, the number or the username, in any order. */
export function matches(rows: ExpressionBuilder<Tables, "contacts">, search: string) {
  const isNumber = /^[\d\s()+.-]*\d[\d\s()+.-]*$/.test(search);
  const words = isNumber ? [search.replace(/\D/g, "")] : fold(search).split(/\s+/).filter(Boolean);
  return rows.and(words.flatMap((word) => [holdsGrams(word), holds(word)]));
}

/** A tag, as it is stored. */
export function hasTag(tag: string) {
  return sql<boolean>`tags @> array[${tag}]::text[]`;
}

/** What a search compares with. */
export function searchTextOf(...parts: readonly (string | null | undefined)[]): string {
  return fold(parts.filter(Boolean).join(" "));
}

/** The same for a new name, with the number and the username that the row has. */
export function renamed(name: string) {
  return sql<string>`${fold(name)} || ' ' || coalesce(phone_number, '') || ' ' || lower(coalesce(username, ''))`;
}

function holds(word: string) {
  return sql<boolean>`search_text like ${patternOf(word)}`;
}

/** The index finds those that hold all the word's parts; among them `holds` tells who holds the word. */
function holdsGrams(word: string) {
  return sql<boolean>`search_grams(search_text) @> ${gramsOf(word)}::text[]`;
}

/** Runs of three characters, as `search_grams` makes them; a shorter word is a run itself. */
function gramsOf(word: string): string[] {
  const letters = [...word];
  const places = Math.max(letters.length - 2, 1);
  return Array.from({ length: places }, (_, place) => letters.slice(place, place + 3).join(""));
}
