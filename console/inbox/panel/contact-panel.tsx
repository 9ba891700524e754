/** The right pane: the contact with tags and consent, the assignment, and what is not possible now. */
import type { ComponentChildren } from "preact";
import { attempt } from "../../controls/attempt.ts";
import { Icon } from "../../controls/icon.tsx";
import { SavedCheck } from "../../controls/saved-check.tsx";
import { call } from "../../service/call.ts";
import { holdsScope } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { formatMoment } from "../../time.ts";
import { changeConversation } from "../acts.ts";
import type { Context } from "../conversation/open-conversation.ts";
import { nameOf, nameOfPerson } from "../names.ts";
import { TagEditor } from "./tag-editor.tsx";

interface Props {
  readonly context: Context;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

export function ContactPanel({ context, onChange, onClose }: Props) {
  const { contact, conversation } = context;
  const run = async (act: () => Promise<unknown>) => {
    const isDone = await attempt(act);
    if (isDone) {
      onChange();
    }
    return isDone;
  };
  const changeTags = (changes: { add?: string[]; remove?: string[] }) =>
    run(() => call("tag_contact", { id: contact.id, ...changes }));
  const changeConversationTags = async (changes: { add_tags?: string[]; remove_tags?: string[] }) => {
    if (await changeConversation(conversation.id, changes)) {
      onChange();
    }
  };
  const mayTag = holdsScope("contacts:manage");
  return (
    <aside class="panel stack" aria-label={texts.panel.title}>
      <header class="row spread">
        <h2>{texts.panel.title}</h2>
        <button type="button" class="plain icon" aria-label={texts.panel.hide} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <Warnings context={context} />
      <ContactFacts context={context} />
      {contact.tags && (
        <TagEditor
          label={texts.panel.contactTags}
          tags={contact.tags}
          onAdd={mayTag ? (tag) => void changeTags({ add: [tag] }) : undefined}
          onRemove={(tag) => void changeTags({ remove: [tag] })}
        />
      )}
      <TagEditor
        label={texts.panel.conversationTags}
        tags={conversation.tags}
        onAdd={(tag) => void changeConversationTags({ add_tags: [tag] })}
        onRemove={(tag) => void changeConversationTags({ remove_tags: [tag] })}
      />
      <Consent context={context} run={run} />
      <AssignmentFacts context={context} />
      <Automation context={context} />
      <Refusals context={context} />
    </aside>
  );
}

interface FactProps {
  readonly context: Context;
}

function Warnings({ context: { warnings } }: FactProps) {
  // The closed window concerns the reply alone, whose box says it.
  const shown = warnings.filter(({ code }) => code !== "outside_service_window");
  return shown.map(({ code, message }) => (
    <p class="notice" key={code}>
      {texts.warnings[code] ?? message}
    </p>
  ));
}

function Facts({
  title,
  facts,
}: {
  title: string;
  facts: readonly (readonly [string, ComponentChildren])[];
}) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return known.length === 0 ? null : (
    <section class="stack" aria-label={title}>
      <h3>{title}</h3>
      <dl class="facts-list">
        {known.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function ContactFacts({ context }: FactProps) {
  const { contact, conversation } = context;
  const attributes = Object.entries(contact.metadata ?? {}).map(
    ([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const,
  );
  return (
    <Facts
      title={nameOf(context)}
      facts={[
        [texts.panel.number, conversation.phone_number],
        [texts.panel.username, contact.username],
        [texts.panel.since, formatMoment(contact.created_at)],
        ...attributes,
      ]}
    />
  );
}

interface ConsentProps extends FactProps {
  /** Returns whether the act succeeded. */
  readonly run: (act: () => Promise<unknown>) => Promise<boolean>;
}

function Consent({ context: { contact }, run }: ConsentProps) {
  const mayChange = holdsScope("contacts:write");
  return (
    <section class="stack" aria-label={texts.panel.consent}>
      <h3>{texts.panel.consent}</h3>
      <SavedCheck
        label={texts.panel.optedOut}
        isChecked={contact.opted_out}
        isDisabled={!mayChange}
        save={(opted_out) => run(() => call("update_contact", { id: contact.id, opted_out }))}
      />
      <p class="small muted">{texts.panel.optedOutHint}</p>
      <SavedCheck
        label={texts.panel.blocked}
        isChecked={contact.blocked}
        isDisabled={!mayChange}
        save={(blocked) => run(() => call("update_contact", { id: contact.id, blocked }))}
      />
      {contact.blocked_reason && <p class="small muted">{contact.blocked_reason}</p>}
    </section>
  );
}

function AssignmentFacts({ context }: FactProps) {
  const { assignment, conversation, waiting_reason } = context;
  return (
    <Facts
      title={texts.panel.assignment}
      facts={[
        [texts.panel.agent, conversation.assigned_to_name ?? texts.panel.unassigned],
        [texts.panel.how, assignment && describeAssigner(assignment)],
        [texts.panel.why, waiting_reason ?? assignment?.reason],
        [texts.panel.at, assignment && formatMoment(assignment.created_at)],
      ]}
    />
  );
}

/** People by name; a key and a flow have only an id here. */
function describeAssigner({
  assigned_by,
  assigned_by_type,
}: NonNullable<Context["assignment"]>): string | null {
  return assigned_by_type === "user" && assigned_by !== null
    ? nameOfPerson(assigned_by)
    : assigned_by_type && texts.panel.assigners[assigned_by_type];
}

function Automation({ context: { chatbot, flow_run } }: FactProps) {
  return (
    <Facts
      title={texts.panel.automation}
      facts={[
        [texts.panel.flow, flow_run?.flow_name],
        [texts.panel.bot, chatbot && texts.panel.botStates[chatbot.state]],
        [texts.panel.handedOff, chatbot?.handed_off?.reason],
        [texts.panel.question, chatbot?.handed_off?.question],
      ]}
    />
  );
}

/** What can't be done now, with the reason of each. */
function Refusals({ context: { actions } }: FactProps) {
  return (
    <Facts
      title={texts.panel.notAllowed}
      facts={actions
        .filter(({ is_allowed, tool }) => !is_allowed && texts.actions[tool] !== undefined)
        .map(({ tool, reason }) => [texts.actions[tool] ?? tool, describeReason(reason ?? "")])}
    />
  );
}

function describeReason(reason: string): string {
  const known = texts.reasons.find(([beginning]) => reason.startsWith(beginning));
  return known?.[1] ?? texts.otherReason(reason);
}
