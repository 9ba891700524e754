/**
 * The simulated conversation of a rehearsal: its clock, the contact, and the messages of both sides. Nothing
 * is stored.
 */
import type { z } from "zod";
import type { FlowRehearsal } from "../../../../../tools/flows/index.ts";
import { InboxSettings } from "../../../../../tools/inboxes.ts";
import type { getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import type { Actor, ReadContext } from "../../../foundation/kernel/index.ts";
import type { ContactRow } from "../../../inbox/contacts/index.ts";
import { type ConversationRow, changedState } from "../../../inbox/conversations/index.ts";
import { readConsent } from "../../../inbox/messages/index.ts";
import type { Choice } from "../graph/index.ts";
import type { InboundText } from "../run/index.ts";

export type Transcript = z.input<typeof FlowRehearsal>["messages"];

/** The state that steps change. A step that fails leaves the scene as it was before the step. */
export interface Scene {
  readonly contact: ContactRow;
  readonly conversation: ConversationRow;
  readonly messages: Transcript;
  /** The buttons and rows that the flow has sent, the newest first. */
  readonly choices: readonly Choice[];
  /** What the messages would hold in the wallet, in millionths of the currency. */
  readonly held: number;
  /** What the present step has done, apart from sending. */
  readonly did: readonly string[];
}

export interface Stage extends Pick<ReadContext, "db" | "world" | "organization"> {
  readonly inbox: Awaited<ReturnType<typeof getOrDefaultInbox>>;
  /** The flow itself. */
  readonly actor: Actor;
  readonly isInteractive: boolean;
  now: Date;
  scene: Scene;
}

/** Moves the clock, and reopens a snoozed conversation whose time has come. */
export function moveTo(stage: Stage, now: Date): void {
  stage.now = now;
  const { conversation } = stage.scene;
  const { snoozed_until: until } = conversation;
  if (until !== null && new Date(until) <= now) {
    change(stage, {
      conversation: { ...conversation, ...changedState(conversation, { type: "wake", until }) },
    });
  }
}

export function change(stage: Stage, changes: Partial<Scene>): void {
  stage.scene = { ...stage.scene, ...changes };
}

/** Records what the present step does. */
export function record(stage: Stage, did: string, changes: Partial<Scene> = {}): void {
  change(stage, { ...changes, did: [...stage.scene.did, did] });
}

/** Adds a message to the transcript, and returns its id. Ids sort in the order of the messages. */
export function show(
  stage: Stage,
  message: Omit<Transcript[number], "number" | "at">,
  changes: Partial<Scene> = {},
): string {
  const { messages } = stage.scene;
  const number = messages.length + 1;
  const at = stage.now.toISOString();
  const { from, type, text, ...others } = message;
  const conversation = { ...(changes.conversation ?? stage.scene.conversation), last_message_at: at };
  change(stage, {
    ...changes,
    conversation,
    messages: [...messages, { number, from, at, ...(type === "text" ? {} : { type }), text, ...others }],
  });
  return idOf(number);
}

/** The ids of messages sort in the order of the messages. */
export function idOf(number: number): string {
  return String(number).padStart(6, "0");
}

/** The customer writes, or chooses a button or row. The conversation changes as with a real message. */
export function receive(
  stage: Stage,
  text: string,
  { choice, isTaken = false }: { readonly choice?: Choice | undefined; readonly isTaken?: boolean } = {},
): InboundText {
  const { contact, conversation } = stage.scene;
  const at = stage.now.toISOString();
  const type = choice ? "interactive" : "text";
  const written = choice?.title ?? text;
  const opted_out = choice ? undefined : readConsent(written, InboxSettings.parse(stage.inbox.settings));
  const message_id = show(
    stage,
    { from: "customer", type, text: written },
    {
      contact: { ...contact, opted_out: opted_out ?? contact.opted_out },
      conversation: {
        ...conversation,
        ...changedState(conversation, { type: "inbound", isTaken }),
        last_user_message_at: at,
      },
    },
  );
  return { message_id, type, text: written, button: choice?.id ?? null };
}
