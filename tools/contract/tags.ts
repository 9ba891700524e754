/** Tags of contacts and conversations: one spelling and the same limits everywhere. */
import { z } from "zod";

/** How long a tag may be, and how many one request may name. */
export const tagLimits = { length: 64, count: 50 } as const;

/** In lower case and one Unicode form, so that VIP and vip are one tag. */
export function normalizeTag(text: string): string {
  return text.normalize().trim().toLowerCase();
}

export const tag = z.string().overwrite(normalizeTag).min(1).max(tagLimits.length);

export const tags = z.array(tag).max(tagLimits.count).default([]);
