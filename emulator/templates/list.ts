/** The list of templates, with filters and cursors. */
import { invalidParameter } from "../contract/graph-error.ts";
import { describe, selectFields } from "../graph/describe.ts";
import type { GraphRequest } from "../graph/request.ts";
import { type Answer, json } from "../http/answer.ts";
import { type Account, nodesOf } from "../state/store.ts";
import type { Template } from "../state/template.ts";

const filters: Readonly<Record<string, (template: Template, value: string) => boolean>> = {
  name: ({ name }, value) => name.includes(value),
  name_or_content: ({ name, components }, value) =>
    name.includes(value) || components.some(({ text }) => text?.includes(value)),
  status: ({ status }, value) => value.toUpperCase().split(",").includes(status),
  category: ({ category }, value) => category === value.toUpperCase(),
  language: ({ language }, value) => language === value,
};

export function listTemplates(request: GraphRequest<Account>): Answer {
  const { world, node: account, query, version } = request;
  const matching = nodesOf(world.store, "template").filter(
    (template) =>
      template.account_id === account.id &&
      Object.entries(filters).every(([name, matches]) => {
        const value = query.get(name);
        return value === null || matches(template, value);
      }),
  );
  const limit = readLimit(query.get("limit"));
  const page = cut(matching, limit, query);
  const [first] = page;
  const last = page.at(-1);
  const paging = {
    cursors: { before: first ? toCursor(first) : "", after: last ? toCursor(last) : "" },
    ...(last !== undefined && last !== matching.at(-1)
      ? {
          next: addressOf(
            `${world.baseUrl()}/${version}/${account.id}/message_templates`,
            query,
            toCursor(last),
          ),
        }
      : {}),
  };
  const data = page.map((template) => selectFields(describe(world, template), query));
  return json(page.length === 0 ? { data } : { data, paging });
}

function readLimit(text: string | null): number {
  const limit = Number(text ?? 25);
  if (!Number.isInteger(limit) || limit < 1) {
    throw invalidParameter("Param limit must be an integer from 1.");
  }
  return Math.min(limit, 1_000);
}

function cut(templates: readonly Template[], limit: number, query: URLSearchParams): readonly Template[] {
  const after = query.get("after");
  const before = query.get("before");
  if (after) {
    const from = positionOf(templates, after) + 1;
    return templates.slice(from, from + limit);
  }
  if (before) {
    const to = positionOf(templates, before);
    return templates.slice(Math.max(0, to - limit), to);
  }
  return templates.slice(0, limit);
}

function positionOf(templates: readonly Template[], cursor: string): number {
  const id = Buffer.from(cursor, "base64url").toString("utf8");
  const position = templates.findIndex((template) => template.id === id);
  if (position === -1) {
    throw invalidParameter("Invalid cursors values");
  }
  return position;
}

function toCursor({ id }: Template): string {
  return Buffer.from(id).toString("base64url");
}

function addressOf(path: string, query: URLSearchParams, after: string): string {
  const next = new URLSearchParams(query);
  next.delete("before");
  next.delete("access_token");
  next.set("after", after);
  return `${path}?${next}`;
}
