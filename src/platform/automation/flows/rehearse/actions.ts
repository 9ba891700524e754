/** The actions of a rehearsal: they apply the rules of the real actions, and record what would change. */
import type { Interactive } from "../../../../../tools/messages/index.ts";
import { getOrganization, nextOpening, nextTimeOfDay } from "../../../account/organization/index.ts";
import { changeTags, requireAddress } from "../../../inbox/contacts/index.ts";
import { changedState, requireSettable } from "../../../inbox/conversations/index.ts";
import { composeMessage } from "../../../inbox/messages/index.ts";
import { failInsufficient, readAvailable } from "../../../money/wallet/index.ts";
import { requireBot } from "../../chatbot/index.ts";
import { getFlow } from "../definitions/find.ts";
import { type Choice, choicesOf } from "../graph/index.ts";
import type { Actions, OutgoingMessage } from "../nodes/index.ts";
import { addressMessage, changeAttribute, nameTemplate, requireStartable } from "../run/index.ts";
import { rehearseAssignment } from "./assign.ts";
import { record, type Stage, show, type Transcript } from "./stage.ts";
import { sampleId } from "./subject.ts";

export function createRehearsalActions(stage: Stage): Actions {
  const { db, world, organization, inbox } = stage;

  async function send(message: OutgoingMessage): Promise<string> {
    const { contact, conversation, held, choices } = stage.scene;
    const { inbox_id } = conversation;
    const input = addressMessage(message, { to: await addressOf(stage), inbox_id });
    const composed = await composeMessage(input, stage, { contact, inbox, conversation });
    const required = held + composed.held;
    const { simulated } = composed;
    if (composed.held > 0 && required > (await readAvailable(db, world, { organization, simulated }))) {
      throw await failInsufficient(db, world, { organization, simulated, required: composed.held });
    }
    const { choices: sent, ...shown } = describeContent(composed.content);
    return show(
      stage,
      { from: "flow", type: input.type, ...shown },
      { held: required, choices: [...sent, ...choices] },
    );
  }

  return {
    send,

    async sendTemplate(template) {
      return send(await nameTemplate(db, organization, template));
    },

    assign: (target) => rehearseAssignment(stage, target),

    async unassign() {
      const { conversation } = stage.scene;
      record(stage, "unassigns the conversation", { conversation: { ...conversation, assigned_to: null } });
    },

    async handToBot() {
      await requireBot(db, organization);
      const { conversation } = stage.scene;
      record(stage, "gives the conversation to the chatbot", {
        conversation: { ...conversation, assigned_to: null },
      });
      return true;
    },

    async changeTags(on, { add = [], remove = [] }) {
      const { contact, conversation } = stage.scene;
      const did = [
        ...add.map((tag) => `adds the tag ${tag} to the ${on}`),
        ...remove.map((tag) => `removes the tag ${tag} from the ${on}`),
      ].join(", ");
      const changeOf = (row: { readonly tags: string[] }) => changeTags(row.tags, { add, remove }, "tag");
      const changes =
        on === "contact"
          ? { contact: { ...contact, tags: changeOf(contact) } }
          : { conversation: { ...conversation, tags: changeOf(conversation) } };
      record(stage, did, changes);
    },

    async setAttribute(name, value) {
      const { contact } = stage.scene;
      const metadata = changeAttribute(contact.metadata, name, value);
      const did = value === null ? `removes ${name}` : `sets ${name} to ${String(value)}`;
      record(stage, did, { contact: { ...contact, metadata } });
    },

    async setStatus(status, until) {
      const { conversation } = stage.scene;
      const snoozed_until = until?.toISOString();
      requireSettable(conversation, { status, snoozed_until }, stage.now);
      const state = changedState(conversation, { type: "set", status, snoozed_until });
      const during = snoozed_until === undefined ? "" : ` until ${snoozed_until}`;
      const changes = { conversation: { ...conversation, ...state } };
      record(stage, `sets the status to ${status}${during}`, changes);
    },

    async addNote(text) {
      record(stage, `adds the note: ${text}`);
    },

    async startFlow(flow_id) {
      const flow = await getFlow(db, organization, flow_id);
      requireStartable(flow, stage.scene.conversation);
      record(stage, `starts the flow ${flow.name} (${flow_id}), which is not rehearsed`);
      return stage.isInteractive && flow.is_interactive;
    },

    async nextTimeOfDay(time) {
      const { time_zone } = await getOrganization(db, organization);
      return nextTimeOfDay(time, time_zone, stage.now);
    },

    async nextOpening() {
      const { time_zone, business_hours } = await getOrganization(db, organization);
      return nextOpening(business_hours, time_zone, stage.now);
    },
  };
}

type Content = Awaited<ReturnType<typeof composeMessage>>["content"];
type ShownContent = Pick<Transcript[number], "text" | "buttons" | "media_url"> & {
  readonly choices: readonly Choice[];
};

/** A message as the transcript shows it. */
function describeContent({ text, interactive, template, media }: Content): ShownContent {
  if (interactive) {
    // `NewMessage` validated it.
    const { header, body, footer } = interactive as Partial<Interactive>;
    const choices = choicesOf({ action_config: { interactive } });
    return { text: lines(header, body, footer), choices, buttons: choices.map(({ title }) => title) };
  }
  if (template) {
    const { header, body, footer, buttons } = template;
    const quickReplies = buttons.filter(({ type }) => type === "quick_reply");
    return {
      text: lines(header?.type === "text" ? header.text : undefined, body, footer),
      choices: quickReplies.map(({ text: title, payload }) => ({ id: payload ?? title, title })),
      ...(buttons.length > 0 ? { buttons: buttons.map((button) => button.text) } : {}),
    };
  }
  return media
    ? { text: media.caption ?? "", media_url: media.url, choices: [] }
    : { text: text?.body ?? "", choices: [] };
}

function lines(...texts: readonly (string | null | undefined)[]): string {
  return texts.filter(Boolean).join("\n");
}

/** Sample values reach every channel. @throws Failure `contact_unreachable`. */
async function addressOf({ db, world, inbox, scene: { contact } }: Stage): Promise<string> {
  return contact.id === sampleId
    ? (contact.phone_number ?? "")
    : (await requireAddress(db, world, { contact, channel: inbox.channel })).value;
}
