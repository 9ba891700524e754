/**
 * The actions of a run. Each action runs in the step's transaction, by the functions of its module, with the
 * flow as actor.
 */

import { metadata } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { NewMessage } from "../../../../../tools/messages/index.ts";
import type { Queries } from "../../../../database/database.ts";
import { getOrganization, nextOpening, nextTimeOfDay } from "../../../account/organization/index.ts";
import { requireApprovedById } from "../../../content/templates/index.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { changeContact, changeTags, replaceTags, requireAddress } from "../../../inbox/contacts/index.ts";
import {
  assign,
  assignByPolicy,
  openIfPending,
  requestRouting,
  requireConversation,
  type Subject,
  unassign,
  updateConversation,
} from "../../../inbox/conversations/index.ts";
import { sendMessage } from "../../../inbox/messages/index.ts";
import { addNote } from "../../../inbox/notes.ts";
import { startBot } from "../../chatbot/index.ts";
import type { Actions, AssignTarget, OutgoingMessage } from "../nodes/index.ts";
import type { RunRow } from "./rows.ts";
import { findOpenQuestion } from "./subject.ts";

/**
 * `startFlow` is passed in, because starting runs depends on this file. Messages continue the trace of
 * `traceparent`.
 */
export function createActions(
  change: OrganizationChange & { readonly traceparent: string | undefined },
  { run, contact, conversation, channel }: Subject & { readonly run: RunRow },
  startFlow: Actions["startFlow"],
): Actions {
  const { tx, world, organization, now } = change;
  const { id, inbox_id } = conversation;
  const update = { id, add_tags: [], remove_tags: [] };

  async function send(message: OutgoingMessage): Promise<string> {
    const { value: to } = await requireAddress(tx, world, { contact, channel });
    return (await sendMessage(addressMessage(message, { to, inbox_id }), change)).id;
  }

  return {
    send,

    async sendTemplate(template) {
      return send(await nameTemplate(tx, organization, template));
    },

    async assign(target) {
      await assignTo(change, id, target);
    },

    async unassign() {
      await unassign({ id }, change);
    },

    async handToBot() {
      const message_id = await findOpenQuestion(change, run);
      const isRequested = run.trigger_type !== "event" && run.trigger_type !== "schedule";
      const locked = await requireConversation(tx, organization, id, { locks: true });
      return startBot(change, locked, { message_id, isRequested });
    },

    async changeTags(on, { add = [], remove = [] }) {
      if (on === "conversation") {
        await updateConversation({ ...update, add_tags: add, remove_tags: remove }, change);
        return;
      }
      const tags = changeTags(contact.tags, { add, remove }, "tag");
      await replaceTags(change, contact, tags);
    },

    async setAttribute(name, value) {
      await changeContact(change, contact.id, { metadata: changeAttribute(contact.metadata, name, value) });
    },

    async setStatus(status, until) {
      const snooze = until === null ? {} : { snoozed_until: until.toISOString() };
      await updateConversation({ ...update, status, ...snooze }, change);
    },

    async addNote(text) {
      await addNote(change, { conversation_id: id, text });
    },

    startFlow,

    async nextTimeOfDay(time) {
      const { time_zone } = await getOrganization(tx, organization);
      return nextTimeOfDay(time, time_zone, now);
    },

    async nextOpening() {
      const { time_zone, business_hours } = await getOrganization(tx, organization);
      return nextOpening(business_hours, time_zone, now);
    },
  };
}

/** A message of a flow to its contact. @throws Failure `flow_message_invalid`. */
export function addressMessage(
  message: OutgoingMessage,
  target: { readonly to: string; readonly inbox_id: string },
) {
  // Filled-in placeholders may have made a text blank or too long.
  const parsed = NewMessage.safeParse({ ...message, ...target });
  if (!parsed.success) {
    throw fail("flow_message_invalid");
  }
  return parsed.data;
}

/** A message with a template, which may be named by its id. @throws Failure of `requireApprovedById`. */
export async function nameTemplate(
  db: Queries,
  organization: string,
  { template_id, name, language, variables, header_media_url }: Parameters<Actions["sendTemplate"]>[0],
): Promise<OutgoingMessage> {
  const named =
    template_id === undefined ? { name, language } : await requireApprovedById(db, organization, template_id);
  const { name: wanted = "", language: wantedLanguage = "" } = named;
  const values = { ...(variables && { variables }), ...(header_media_url && { header_media_url }) };
  return { type: "template", template: { name: wanted, language: wantedLanguage, ...values } };
}

/** The attributes after changing one; null removes the attribute. @throws Failure `attributes_too_large`. */
export function changeAttribute(before: Subject["contact"]["metadata"], name: string, value: unknown) {
  const { [name]: _, ...others } = before;
  const changed = value === null ? others : { ...others, [name]: value };
  if (!metadata.safeParse(changed).success) {
    throw fail("attributes_too_large");
  }
  return changed;
}

async function assignTo(
  change: OrganizationChange,
  id: string,
  { team_id, user_id: assigned_to, policy }: AssignTarget,
): Promise<void> {
  const { tx, organization } = change;
  if (policy !== undefined) {
    await assignByPolicy(change, id, policy);
  } else if (team_id !== undefined || assigned_to !== undefined) {
    await assign({ id, team_id, assigned_to }, change);
  } else {
    const conversation = await requireConversation(tx, organization, id, { locks: true });
    await requestRouting(change, [conversation], "inbound");
  }
  // Routing takes open conversations without an agent.
  await openIfPending(change, id);
}
