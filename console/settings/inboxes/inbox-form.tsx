/** The settings of an inbox. What the form does not show stays as it is. */
import { useSignal } from "@preact/signals";
import { Choice } from "../../controls/choice.tsx";
import { Field, Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { readList } from "../../controls/read-list.ts";
import { call } from "../../service/call.ts";
import { texts } from "../../texts.ts";
import { listCountries } from "../organization/places.ts";
import { useSaveParts } from "../save-parts.ts";
import { findInbox, type Inbox } from "./inbox-state.ts";
import { ReplyField } from "./reply-field.tsx";

const words = texts.channels.inboxes.form;

interface Props {
  readonly inbox: Inbox;
  readonly onSaved: (inbox: Inbox) => void;
}

type Settings = Inbox["settings"];

export function InboxForm({ inbox, onSaved }: Props) {
  const form = useForm();
  const name = useSignal(inbox.name);
  const draft = useSignal(toDraft(inbox.settings));
  const set = (change: Partial<Draft>) => (draft.value = { ...draft.value, ...change });
  const { id } = inbox;
  const saveParts = useSaveParts({
    shown: inbox,
    read: () => findInbox(id),
    write: async (part: Pick<Inbox, "name" | "settings">) =>
      (await call("update_inbox", { id, ...part })).data,
    onRead: onSaved,
  });
  const save = () => saveParts({ name: name.value, settings: fromDraft(draft.value, inbox.settings) });
  const text = (key: TextKey, label: string, hint?: string) => (
    <TextField
      form={form}
      name={`settings.${key}`}
      label={label}
      hint={hint}
      value={draft.value[key]}
      onValue={(value) => set({ [key]: value })}
    />
  );
  const reply = (key: ReplyKey, label: string) => (
    <ReplyField
      form={form}
      name={`settings.${key}`}
      label={label}
      value={draft.value[key]}
      onValue={(value) => set({ [key]: value })}
    />
  );
  return (
    <section class="stack">
      <h3>{words.title}</h3>
      <Form form={form} onSubmit={() => void form.run(save)}>
        <TextField
          form={form}
          name="name"
          label={words.name}
          value={name.value}
          onValue={(next) => (name.value = next)}
        />
        {inbox.simulated ? (
          <>
            <Choice
              form={form}
              name="settings.service_window"
              label={words.window}
              options={words.windows}
              value={draft.value.service_window}
              onValue={(service_window) => set({ service_window })}
            />
            <Choice
              form={form}
              name="settings.wallet"
              label={words.wallet}
              options={words.wallets}
              value={draft.value.wallet}
              onValue={(wallet) => set({ wallet })}
            />
          </>
        ) : (
          <Choice
            form={form}
            name="settings.read_marks"
            label={words.readMarks}
            options={words.marks}
            value={draft.value.read_marks}
            onValue={(read_marks) => set({ read_marks })}
          />
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={draft.value.chatbot}
            onChange={({ currentTarget }) => set({ chatbot: currentTarget.checked })}
          />
          {words.chatbot}
        </label>
        <Field form={form} name="settings.default_country" label={words.country}>
          {(attributes) => (
            <select
              {...attributes}
              value={draft.value.default_country}
              onChange={({ currentTarget }) => set({ default_country: currentTarget.value })}
            >
              <option value="">{words.noCountry}</option>
              {listCountries().map(({ code, name: label }) => (
                <option key={code} value={code}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        {text("messages_per_second", words.rate, words.rateHint)}
        {text("daily_limit", words.daily, words.dailyHint)}
        {text("stop_words", words.stopWords, words.stopWordsHint)}
        {reply("stop_reply", words.stopReply)}
        {text("start_words", words.startWords, words.startWordsHint)}
        {reply("start_reply", words.startReply)}
        <FormEnd form={form} label={texts.form.save} />
      </Form>
    </section>
  );
}

type TextKey = "messages_per_second" | "daily_limit" | "stop_words" | "start_words";
type ReplyKey = "stop_reply" | "start_reply";

interface Draft extends Readonly<Record<TextKey, string>> {
  readonly service_window: NonNullable<Settings["service_window"]>;
  readonly wallet: NonNullable<Settings["wallet"]>;
  readonly read_marks: NonNullable<Settings["read_marks"]>;
  readonly chatbot: boolean;
  readonly stop_reply: string | undefined;
  readonly start_reply: string | undefined;
  readonly default_country: string;
}

function toDraft(settings: Settings): Draft {
  return {
    service_window: settings.service_window ?? "advisory",
    wallet: settings.wallet ?? "recorded",
    read_marks: settings.read_marks ?? "off",
    chatbot: settings.chatbot ?? false,
    default_country: settings.default_country ?? "",
    messages_per_second: settings.messages_per_second?.toString() ?? "",
    daily_limit: settings.daily_limit?.toString() ?? "",
    stop_words: settings.stop_words?.join(", ") ?? "",
    start_words: settings.start_words?.join(", ") ?? "",
    stop_reply: settings.stop_reply,
    start_reply: settings.start_reply,
  };
}

/** A setting that was never made and is still empty stays out, so that the channel's default holds. */
function fromDraft(draft: Draft, current: Settings): Settings {
  const before = toDraft(current);
  const list = (text: string) => {
    const found = readList(text);
    return found.length > 0 ? found : undefined;
  };
  const count = (text: string) => (text.trim() === "" ? undefined : Number(text));
  const all: Settings = {
    service_window: draft.service_window,
    wallet: draft.wallet,
    read_marks: draft.read_marks,
    chatbot: draft.chatbot,
    default_country: draft.default_country === "" ? undefined : draft.default_country,
    messages_per_second: count(draft.messages_per_second),
    daily_limit: count(draft.daily_limit),
    stop_words: list(draft.stop_words),
    start_words: list(draft.start_words),
    stop_reply: draft.stop_reply,
    start_reply: draft.start_reply,
  };
  const changed = Object.entries(all).filter(
    // The keys are those of both literals.
    ([key]) => draft[key as keyof Draft] !== before[key as keyof Draft],
  );
  return { ...current, ...Object.fromEntries(changed) };
}
