/**
 * A small sample, made by ordinary operations: contacts, a flow with a keyword, and a template. What is there
 * already is kept, so a second run makes nothing.
 */
import { call, type Input } from "../../service/call.ts";
import { ServiceError } from "../../service/errors.ts";
import { type Inbox, mayDo } from "../available.ts";

type Kind = "contact" | "flow" | "template";

export interface SamplePart {
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
  readonly isNew: boolean;
}

const contacts = [
  { phone_number: "+14155550123", name: "Ada Lovelace" },
  { phone_number: "+14155550124", name: "Grace Hopper" },
  { phone_number: "+14155550125", name: "Alan Turing" },
] as const;

const sampleFlow = {
  name: "Sample: menu",
  trigger_type: "keyword",
  trigger_keyword: "menu, hours",
  end_action_type: "none",
  nodes: [
    {
      id: "menu",
      node_type: "send_message",
      action_config: {
        interactive: {
          body: "What can we do for *you*?",
          buttons: [
            { id: "hours", title: "Opening hours" },
            { id: "person", title: "A person" },
          ],
        },
      },
    },
    {
      id: "hours",
      node_type: "send_message",
      parent_node_id: "menu",
      connection_type: "button",
      connection_value: "hours",
      action_config: { text: "We are open from 9 to 5." },
    },
    {
      id: "person",
      node_type: "send_message",
      parent_node_id: "menu",
      connection_type: "button",
      connection_value: "person",
      action_config: { text: "A person will answer you soon." },
    },
  ],
} as const satisfies Input<"create_flow">;

const sampleTemplate = {
  name: "sample_order_ready",
  category: "utility",
  language: "en",
  template_data: {
    header: { type: "text", text: "Your order" },
    body: "Hello {{1}}, your order {{2}} is ready at the desk.",
    footer: "The shop",
    buttons: [{ type: "quick_reply", text: "On my way" }],
  },
  variables: [
    { name: "customer", component: "BODY", example: "Ada" },
    { name: "order", component: "BODY", example: "A-17" },
  ],
} as const satisfies Input<"create_template">;

const mostListed = 100;

export function mayMakeSample(): boolean {
  return mayDo("inbox:write", "contacts:read", "contacts:write", "templates:create", "templates:read");
}

/** Two tabs do not make the parts twice. @throws ServiceError, ConnectionError */
export async function makeSample(inbox: Inbox): Promise<readonly SamplePart[]> {
  return navigator.locks
    ? navigator.locks.request("tidings-sample", () => makeParts(inbox))
    : makeParts(inbox);
}

async function makeParts({ id }: Inbox): Promise<readonly SamplePart[]> {
  const made: SamplePart[] = [];
  for (const contact of contacts) {
    made.push(await makeContact(contact));
  }
  // On the simulated inbox alone: customers of other inboxes get nothing of it.
  return [...made, await makeFlow(id), await makeTemplate(id)];
}

async function makeContact(contact: (typeof contacts)[number]): Promise<SamplePart> {
  const part = { kind: "contact", name: contact.name } as const;
  const { data: found } = await call("list_contacts", { search: contact.phone_number, per_page: 1 });
  const [known] = found.filter(({ phone_number }) => phone_number === contact.phone_number);
  if (known !== undefined) {
    return { ...part, name: known.name ?? contact.name, id: known.id, isNew: false };
  }
  const { data } = await call("create_contact", contact);
  return { ...part, id: data.id, isNew: true };
}

async function makeFlow(inbox_id: string): Promise<SamplePart> {
  const part = { kind: "flow", name: sampleFlow.name } as const;
  for (let page = 1; ; page += 1) {
    const { data } = await call("list_flows", { page, per_page: mostListed });
    const known = data.find(({ name }) => name === sampleFlow.name);
    if (known !== undefined) {
      return { ...part, id: known.id, isNew: false };
    }
    if (data.length < mostListed) {
      break;
    }
  }
  const { data } = await call("create_flow", { ...sampleFlow, inbox_id });
  return { ...part, id: data.id, isNew: true };
}

/** A template that an interrupted run has left as a draft is submitted. */
async function makeTemplate(inbox_id: string): Promise<SamplePart> {
  const part = { kind: "template", name: sampleTemplate.name } as const;
  const { data: found } = await call("list_templates", { search: sampleTemplate.name, per_page: mostListed });
  const known = found.find((each) => each.name === sampleTemplate.name && each.inbox_id === inbox_id);
  if (known !== undefined && known.status !== "draft") {
    return { ...part, id: known.id, isNew: false };
  }
  const id = known?.id ?? (await call("create_template", { ...sampleTemplate, inbox_id })).data.id;
  await submit(id);
  return { ...part, id, isNew: known === undefined };
}

async function submit(id: string): Promise<void> {
  try {
    await call("submit_template", { id });
  } catch (error) {
    // Another run has submitted it.
    if (!(error instanceof ServiceError && error.status === 409)) {
      throw error;
    }
  }
}
