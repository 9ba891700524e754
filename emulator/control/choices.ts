/** Finds the button or list row that a customer chooses, in the latest message that has it. */
import type { SentMessage } from "../state/messages.ts";
import { findNode } from "../state/store.ts";
import type { TemplateComponent } from "../state/template.ts";
import { findTemplate } from "../templates/sendable.ts";
import type { World } from "../world.ts";
import { type Content, type Conversation, interactive, message } from "./content.ts";
import { ControlError } from "./input.ts";

/** @throws ControlError when no message to this customer has it */
export function findChoice(world: World, { phone, customer }: Conversation, wanted: string): Content {
  const candidates = [...world.store.sent.values()].filter(
    ({ user_id, phone_number_id }) => user_id === customer.user_id && phone_number_id === phone.id,
  );
  for (const sent of candidates.reverse()) {
    const choice = listChoices(world, sent).find(({ labels }) => labels.includes(wanted));
    if (choice) {
      return { ...choice.content, chosenFrom: sent.id };
    }
  }
  throw new ControlError(`choose: no message to this customer has a button or row "${wanted}".`);
}

interface Choice {
  readonly labels: readonly string[];
  readonly content: Content;
}

function listChoices(world: World, { type, body, phone_number_id }: SentMessage): Choice[] {
  if (type === "template") {
    return listQuickReplies(world, phone_number_id, body.template);
  }
  const { action } = Object(body.interactive);
  const { buttons, sections } = Object(action);
  const replies = list(buttons).map(({ reply }): Choice => {
    const { id, title } = Object(reply);
    return {
      labels: [id, title],
      content: interactive({ type: "button_reply", button_reply: { id, title } }),
    };
  });
  const rows = list(sections)
    .flatMap((section) => list(section.rows))
    .map(({ id, title, description }): Choice => {
      const list_reply = { id, title, ...(description === undefined ? {} : { description }) };
      return {
        labels: [String(id), String(title)],
        content: interactive({ type: "list_reply", list_reply }),
      };
    });
  return [...replies, ...rows];
}

/** The payload is the one of the message, otherwise the label. */
function listQuickReplies({ store }: World, phoneId: string, sent: unknown): Choice[] {
  const { name, language, components } = Object(sent);
  const accountId = findNode(store, "phone", phoneId)?.account_id ?? "";
  const template = findTemplate(store, accountId, { name, language: Object(language).code });
  const ofTemplate = quickRepliesOf(template?.components ?? [], components);
  const cards = list(template?.components.find(({ type }) => type === "CAROUSEL")?.cards);
  const sentCards = list(list(components).find(({ type }) => type === "carousel")?.cards);
  const ofCards = cards.map((card, index) =>
    // The emulator has checked the components of a card.
    quickRepliesOf(card.components as readonly TemplateComponent[], sentCards[index]?.components),
  );
  return [ofTemplate, ...ofCards].flat();
}

function quickRepliesOf(defined: readonly TemplateComponent[], components: unknown): Choice[] {
  const buttons = defined.find(({ type }) => type === "BUTTONS")?.buttons ?? [];
  return buttons.flatMap(({ type, text = "" }, index) => {
    if (type.toUpperCase() !== "QUICK_REPLY") {
      return [];
    }
    const own = list(components).find((one) => one.sub_type === "quick_reply" && Number(one.index) === index);
    const payload = String(list(own?.parameters)[0]?.payload ?? text);
    return { labels: [payload, text], content: { body: message("button", { payload, text }) } };
  });
}

function list(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(Object) : [];
}
