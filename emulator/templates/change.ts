/** Creating, editing, unpausing and deleting templates. */
import { z } from "zod";
import { GraphError, invalidParameter } from "../contract/graph-error.ts";
import { templateLanguages } from "../contract/languages.ts";
import { requireSchema } from "../contract/validate.ts";
import type { GraphRequest } from "../graph/request.ts";
import { type Answer, json } from "../http/answer.ts";
import { type Account, newNodeId, nodesOf } from "../state/store.ts";
import type { Template } from "../state/template.ts";
import { decide, emitStatus, scheduleReview } from "./decide.ts";
import { requireTemplate } from "./rules.ts";
import { findTemplate } from "./sendable.ts";
import { templateError, templateRule } from "./template-error.ts";

const maxTemplates = 6_000;
const dayMs = 24 * 3_600_000;

const categories = ["AUTHENTICATION", "MARKETING", "UTILITY"] as const;
const category = z
  .string()
  .transform((value) => value.toUpperCase())
  .pipe(z.enum(categories, `Param category must be one of {${categories.join(", ")}}.`));

const Creation = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9_]{1,512}$/, "Param name must have lower-case letters, digits and underscores."),
  language: z.string().refine((code) => templateLanguages.includes(code), "Param language is not supported."),
  category,
  components: z.unknown(),
  parameter_format: z
    .string()
    .transform((value) => value.toUpperCase())
    .pipe(z.enum(["POSITIONAL", "NAMED"], "Param parameter_format must be one of {NAMED, POSITIONAL}."))
    .default("POSITIONAL"),
  message_send_ttl_seconds: z.number().int().nullable().default(null),
});

const Edit = Creation.pick({ message_send_ttl_seconds: true }).extend({
  category: category.optional(),
  components: z.unknown(),
});

export async function createTemplate(request: GraphRequest<Account>): Promise<Answer> {
  const { world, node: account } = request;
  const body = await request.readJson();
  requireSchema("CreateTemplate", body);
  const { message_send_ttl_seconds: ttl, ...input } = parse(Creation, body);
  const { name, language } = input;
  if (findTemplate(world.store, account.id, input)) {
    throw templateError(2388024, `There is already a ${language} template with the name ${name}`);
  }
  if ((world.store.reservedNames.get(`${account.id}:${name}`) ?? 0) > world.clock.now()) {
    throw templateError(2388023, "The name of a deleted template can be used again after 30 days");
  }
  if (
    nodesOf(world.store, "template").filter((one) => one.account_id === account.id).length >= maxTemplates
  ) {
    throw templateError(2388019, `The account has ${maxTemplates} templates`);
  }
  const components = requireTemplate(world.store, { ...input, ttl });
  const template: Template = {
    kind: "template",
    id: newNodeId(world.store),
    account_id: account.id,
    ...input,
    components,
    message_send_ttl_seconds: ttl,
    status: "PENDING",
    rejected_reason: "NONE",
    quality: "UNKNOWN",
    edits: [],
    pauses: 0,
    revision: 0,
  };
  world.store.nodes.set(template.id, template);
  scheduleReview(world, template);
  return json({ id: template.id, status: template.status, category: template.category });
}

/**
 * Replaces the components, the category or how long delivery is tried; then the template is reviewed again.
 */
export async function editTemplate(request: GraphRequest<Template>): Promise<Answer> {
  const { world, node: template } = request;
  const body = await request.readJson();
  requireSchema("EditTemplate", body);
  const { category: next = template.category, components, message_send_ttl_seconds } = parse(Edit, body);
  const now = world.clock.now();
  requireEditable(template, next, now);
  const ttl = message_send_ttl_seconds ?? template.message_send_ttl_seconds;
  const draft = { category: next, parameter_format: template.parameter_format, ttl };
  if (components !== undefined) {
    template.components = requireTemplate(world.store, { ...draft, components });
  }
  if (template.status === "APPROVED") {
    template.edits.push(now);
  }
  Object.assign(template, { category: next, message_send_ttl_seconds: ttl, status: "PENDING" });
  template.revision += 1;
  scheduleReview(world, template);
  return json({ success: true });
}

/** An approved template keeps its category, and is edited once a day and 10 times in 30 days. */
function requireEditable({ status, edits, ...template }: Template, next: string, now: number): void {
  if (status === "PENDING" || status === "DISABLED") {
    throw templateRule("Only approved, rejected and paused templates can be edited");
  }
  if (status === "APPROVED" && next !== template.category) {
    throw templateRule("The category of an approved template cannot be changed");
  }
  const recent = edits.filter((at) => at > now - 30 * dayMs);
  if (status === "APPROVED" && (recent.length >= 10 || recent.some((at) => at > now - dayMs))) {
    throw templateRule("An approved template can be edited once in 24 hours and 10 times in 30 days");
  }
}

export function unpauseTemplate({ world, node: template }: GraphRequest<Template>): Answer {
  if (template.status !== "PAUSED") {
    return json({ success: false, reason: "The template is not paused." });
  }
  decide(world, template, { outcome: "unpause" });
  return json({ success: true });
}

/** By name every language, or with `hsm_id` too only one. */
export function deleteTemplates({ world, node: account, query }: GraphRequest<Account>): Answer {
  const { store, clock } = world;
  const name = query.get("name");
  const id = query.get("hsm_id");
  if (name === null) {
    throw invalidParameter("The parameter name is required.");
  }
  const found = nodesOf(store, "template").filter(
    (one) => one.account_id === account.id && one.name === name && (id === null || one.id === id),
  );
  if (found.length === 0) {
    throw new GraphError(100, "Message template not found", { subcode: 2593002, http: 404 });
  }
  if (found.some(({ status }) => status === "DISABLED")) {
    throw templateRule("A disabled template cannot be deleted");
  }
  for (const template of found) {
    if (template.status === "APPROVED") {
      store.reservedNames.set(`${account.id}:${name}`, clock.now() + 30 * dayMs);
    }
    store.nodes.delete(template.id);
    emitStatus(world, template, { event: "DELETED", reason: null });
  }
  return json({ success: true });
}

function parse<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    throw invalidParameter(parsed.error.issues[0]?.message ?? "Invalid parameter");
  }
  return parsed.data;
}
