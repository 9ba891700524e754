/** The rules of interactive messages that depend on their type: lengths, numbers of rows, and unique ids. */
import { z } from "zod";
import { GraphError } from "../contract/graph-error.ts";

const text = (max: number) => z.string().min(1, "Min length: 1").max(max, `Max length: ${max}`);

const footer = z.object({ text: text(60) }).optional();
const textHeader = z.object({ type: z.literal("text", "Only text headers are allowed"), text: text(60) });
const media = z.object({}).loose();
const header = z.discriminatedUnion("type", [
  textHeader,
  z.object({ type: z.literal("image"), image: media }),
  z.object({ type: z.literal("video"), video: media }),
  z.object({ type: z.literal("document"), document: media }),
]);

const isUnique = (values: readonly string[]) => new Set(values).size === values.length;

const buttons = z
  .array(z.object({ type: z.literal("reply"), reply: z.object({ id: text(256), title: text(20) }) }))
  .min(1, "Min buttons: 1")
  .max(3, "Max buttons: 3")
  .refine((all) => isUnique(all.map(({ reply }) => reply.id)), "Duplicate button ids")
  .refine((all) => isUnique(all.map(({ reply }) => reply.title)), "Duplicate button titles");

const row = z.object({
  id: text(200),
  title: text(24),
  description: z.string().max(72, "Max length: 72").optional(),
});
const section = z.object({
  title: z.string().max(24, "Max length: 24").optional(),
  rows: z.array(row).min(1),
});
const sections = z
  .array(section)
  .min(1, "Min sections: 1")
  .max(10, "Max sections: 10")
  .refine((all) => all.length === 1 || all.every(({ title }) => Boolean(title)), "Sections need titles")
  .refine((all) => all.flatMap(({ rows }) => rows).length <= 10, "Max rows in total: 10")
  .refine((all) => isUnique(all.flatMap(({ rows }) => rows.map(({ id }) => id))), "Duplicate row ids");

/** Types that are not here have no rules beyond their schema. */
const rules: Readonly<Record<string, z.ZodType>> = {
  button: z.object({
    header: header.optional(),
    body: z.object({ text: text(1024) }),
    footer,
    action: z.object({ buttons }),
  }),
  list: z.object({
    header: textHeader.optional(),
    body: z.object({ text: text(4096) }),
    footer,
    action: z.object({ button: text(20), sections }),
  }),
  cta_url: z.object({
    header: header.optional(),
    body: z.object({ text: text(1024) }),
    footer,
    action: z.object({
      name: z.literal("cta_url"),
      parameters: z.object({ display_text: text(20), url: z.url({ protocol: /^https?$/ }).max(2000) }),
    }),
  }),
  flow: z.object({ body: z.object({ text: text(1024) }), footer }),
};

/** @throws GraphError 131008 for a missing parameter, 131009 for an invalid one. */
export function requireInteractive(interactive: unknown): void {
  const { type } = Object(interactive);
  const issue = Object.hasOwn(rules, type) ? rules[type]?.safeParse(interactive).error?.issues[0] : undefined;
  if (!issue) {
    return;
  }
  const path = `interactive.${issue.path.join(".")}`;
  throw isMissing(interactive, issue.path)
    ? new GraphError(131008, `Required parameter is missing: ${path}`)
    : new GraphError(131009, `${path} is not valid. ${issue.message}`);
}

function isMissing(root: unknown, path: readonly PropertyKey[]): boolean {
  let value = root;
  for (const name of path) {
    value = Object(value)[name];
  }
  return value === undefined;
}
