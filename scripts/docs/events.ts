/** docs/reference/events.md: every public event with an example of its body. */
import { eventEnvelope, eventExamples } from "../../tools/event-examples.ts";
import { isEventOnDemand, type PublicEventName, publicEvents } from "../../tools/events.ts";
import { code, json, type Page } from "./markdown.ts";

export function eventsPage(): Page {
  const names = Object.keys(publicEvents) as PublicEventName[]; // the keys of a literal
  const body = `# Events

Webhooks deliver these events, and \`GET /v1/events\` lists them. \`id\` is the same in every delivery of an event. \`sequence\` rises with each event of one message and may skip numbers. A webhook needs the scope of each of its events when it is created or changed. \`actor\` is who caused an event: a user, an API key, a flow, a bot, or the service itself. [webhooks.md](../webhooks.md) describes delivery and signatures.

${names.map(section).join("\n\n")}`;
  return { source: "tools/events.ts", body };
}

const more: Readonly<Partial<Record<PublicEventName, string>>> = {
  "message.reaction": " See [replies, reactions and edits](../whatsapp.md#replies-reactions-and-edits).",
};

/** @throws ZodError if an example does not match its schema. */
function section(name: PublicEventName): string {
  const { when, data } = eventExamples[name];
  const { id, created_at, organization_id } = eventEnvelope;
  const event = {
    id,
    created_at,
    type: name,
    organization_id,
    data: publicEvents[name].data.strict().parse(data),
  };
  const recorded = isEventOnDemand(name) ? " Recorded [on demand](../webhooks.md#events-on-demand)." : "";
  return `## ${code(name)}\n\n${when}${more[name] ?? ""} Scope: ${code(publicEvents[name].scope)}.${recorded}\n\n${json(event)}`;
}
