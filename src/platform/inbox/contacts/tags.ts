/** The tags of a contact or a conversation: one rule for both. */
import { normalizeTag } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";

/**
 * Each change of a tag reads and writes the whole row, and more tags than this no longer classify anything.
 */
export const maxTags = 200;

interface TagChange {
  readonly add: readonly string[];
  readonly remove?: readonly string[];
}

interface ChangedTags {
  readonly tags: string[];
  /** What is over the limit already may still lose tags. */
  readonly isTooMany: boolean;
}

/** Rows of earlier versions may have tags in other spellings: a change normalizes them. */
export function combineTags(before: readonly string[], { add, remove = [] }: TagChange): ChangedTags {
  const tags = [...new Set([...before.map(normalizeTag), ...add])].filter((tag) => !remove.includes(tag));
  return { tags, isTooMany: tags.length > maxTags && tags.length > before.length };
}

/** @throws Failure `too_many_tags` naming `field`. */
export function changeTags(before: readonly string[], change: TagChange, field: string): string[] {
  const { tags, isTooMany } = combineTags(before, change);
  if (isTooMany) {
    throw fail("too_many_tags", { limit: maxTags, count: tags.length, param: field });
  }
  return tags;
}
