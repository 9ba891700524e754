/** The routes that control the simulated review authority. */
import { z } from "zod";
import {
  type ControlHandler,
  type ControlRoute,
  createRouteFactory,
  ListMeta,
  ListQuery,
  parseControlInput,
} from "../control-route.ts";
import type { TemplateControls } from "./controls.ts";
import { ReviewDecision, ReviewSettings } from "./input.ts";
import type { StoredTemplate } from "./store.ts";

export function createTemplateRoutes(controls: TemplateControls): readonly ControlRoute[] {
  const route = createRouteFactory(controls, { read: "templates:read", write: "templates:manage" });
  return [
    route("GET", "/simulator/templates", {
      name: "list_simulated_templates",
      title: "List templates in review",
      description: "Get how templates are reviewed, and the submitted templates, newest first.",
      query: ListQuery,
      response: {
        status: 200,
        body: z.object({
          data: z.object({ review: ReviewSettings, templates: z.array(ReviewedTemplate) }),
          meta: ListMeta,
        }),
      },
      handle: getTemplates,
    }),
    route("PUT", "/simulator/templates", {
      name: "review_simulated_templates",
      title: "Review templates",
      description:
        "Without name, replace how templates are reviewed; an empty object restores the defaults. With name, decide about the submitted templates of this name at once.",
      body: {
        schema: z.union([ReviewSettings, ReviewDecision]),
        example: { name: "order_update", outcome: "approve" },
      },
      response: {
        status: 200,
        body: z.object({
          data: z.object({
            review: ReviewSettings.optional(),
            templates: z.array(ReviewedTemplate).optional(),
          }),
        }),
      },
      handle: putTemplates,
    }),
  ];
}

/** The form of a template in a response. */
const ReviewedTemplate = z.object({
  external_id: z.string(),
  phone_number: z.string(),
  name: z.string(),
  language: z.string(),
  category: z.string(),
  status: z.string(),
  rejection_reason: z.string().nullable(),
  quality_rating: z.string().nullable(),
  template_data: z.record(z.string(), z.unknown()),
  variables: z.array(z.unknown()),
  created_at: z.string(),
});

type RouteHandler = ControlHandler<TemplateControls>;

const getTemplates: RouteHandler = async (controls, { organization_id, query }) => {
  const { limit } = parseControlInput(ListQuery, query);
  const review = await controls.getSettings(organization_id);
  const { templates, total } = await controls.listTemplates(organization_id, limit);
  return {
    status: 200,
    body: { data: { review, templates: templates.map(toListedTemplate) }, meta: { limit, total } },
  };
};

const unknownSetting = "There is no such setting.";

/** With a name, the body is a decision about templates; without one, the settings of the review. */
const putTemplates: RouteHandler = async (controls, { organization_id, body }) => {
  if (typeof body === "object" && body !== null && "name" in body) {
    const decision = parseControlInput(ReviewDecision, body, unknownSetting);
    const templates = await controls.decide(organization_id, decision);
    return { status: 200, body: { data: { templates: templates.map(toListedTemplate) } } };
  }
  const settings = parseControlInput(ReviewSettings, body, unknownSetting);
  const review = await controls.replaceSettings(organization_id, settings);
  return { status: 200, body: { data: { review } } };
};

function toListedTemplate(template: StoredTemplate) {
  const { external_id, phone_number, name, language, category, status, rejection_reason } = template;
  const { quality_rating, template_data, variables, created_at } = template;
  return {
    external_id,
    phone_number,
    name,
    language,
    category,
    status,
    rejection_reason,
    quality_rating,
    template_data,
    variables,
    created_at,
  };
}
