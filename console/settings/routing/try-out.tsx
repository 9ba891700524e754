/** Shows to whom a new conversation would go, and why, without storing anything. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Field, Form, FormEnd, TextField, useForm } from "../../controls/form.tsx";
import { readList } from "../../controls/read-list.ts";
import { type Answer, call, type Input } from "../../service/call.ts";
import { texts } from "../../texts.ts";
import { fromLocal } from "../../time.ts";
import type { NamedRecords } from "./policies.ts";

type Simulated = Answer<"simulate_routing">["data"];
type Described = NonNullable<Input<"simulate_routing">["new_conversation"]>;

const words = texts.routing.tryOut;

interface Draft {
  readonly inbox: string;
  readonly text: string;
  readonly from: string;
  readonly tags: string;
  readonly at: string;
}

export function TryOut({ named }: { named: NamedRecords }) {
  const form = useForm();
  const draft = useSignal<Draft>({ inbox: named.inboxes[0]?.id ?? "", text: "", from: "", tags: "", at: "" });
  const result = useSignal<Simulated | null>(null);
  /** It is below the form: a small window would not show it. */
  const answer = useRef<HTMLDivElement>(null);
  const inbox = named.inboxes.find(({ id }) => id === draft.value.inbox);
  const set = (change: Partial<Draft>) => {
    draft.value = { ...draft.value, ...change };
    // It would stand beside other values than those that it is about.
    result.value = null;
  };
  const run = async () => {
    result.value = null;
    const new_conversation = describe(draft.value);
    result.value = (await call("simulate_routing", { new_conversation })).data;
    requestAnimationFrame(() => answer.current?.scrollIntoView({ block: "nearest" }));
  };
  const text = (key: Exclude<keyof Draft, "at" | "inbox">, path: string, label: string, hint?: string) => (
    <TextField
      form={form}
      name={`new_conversation.${path}`}
      label={label}
      hint={hint}
      value={draft.value[key]}
      onValue={(value) => set({ [key]: value })}
    />
  );
  return (
    <section class="stack" aria-label={words.title}>
      <h3>{words.title}</h3>
      <p class="muted">{words.about}</p>
      <Form form={form} onSubmit={() => void form.run(run)}>
        <Field form={form} name="new_conversation.inbox_id" label={words.inbox}>
          {(attributes) => (
            <select
              {...attributes}
              value={draft.value.inbox}
              onChange={({ currentTarget }) => set({ inbox: currentTarget.value })}
            >
              {named.inboxes.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        {text("text", "text", words.text)}
        {text("from", "from", words.from, words.fromHint)}
        {text("tags", "tags", words.tags, words.tagsHint)}
        <TextField
          form={form}
          name="new_conversation.at"
          type="datetime-local"
          label={words.at}
          hint={words.atHint}
          value={draft.value.at}
          onValue={(at) => set({ at })}
        />
        <FormEnd form={form} label={words.act} />
      </Form>
      <div ref={answer} role="status">
        {result.value !== null && <Result result={result.value} hasBot={inbox?.settings.chatbot === true} />}
      </div>
    </section>
  );
}

function describe({ inbox, text, from, tags, at }: Draft): Described {
  const time = fromLocal(at);
  return {
    ...(inbox === "" ? {} : { inbox_id: inbox }),
    ...(text === "" ? {} : { text }),
    ...(from.trim() === "" ? {} : { from: from.trim() }),
    ...(time === null ? {} : { at: time }),
    tags: readList(tags),
  };
}

function Result({ result, hasBot }: { result: Simulated; hasBot: boolean }) {
  const { outcome, assigned_to, explanation, candidates } = result;
  const chosen = candidates.find(
    ({ user_id, passed_over }) => user_id === assigned_to && passed_over === null,
  );
  return (
    <div class="stack">
      <div class={`notice stack ${outcome === "assigned" ? "good" : ""}`}>
        <p>
          <strong>{outcome === "assigned" ? words.assigned(chosen?.name ?? "") : words[outcome]}</strong>
        </p>
        <p>{explanation}</p>
        {hasBot && <p>{words.chatbot}</p>}
      </div>
      {candidates.length > 0 && (
        <>
          <h4>{words.candidates}</h4>
          <ul class="candidates">
            {candidates.map(
              ({ user_id, team_id, name, passed_over, current_chat_count, max_concurrent_chats }) => (
                <li key={`${user_id} ${team_id}`}>
                  <span>
                    {name}{" "}
                    {current_chat_count !== null && max_concurrent_chats !== null && (
                      <span class="small muted">
                        {texts.teams.member.load(current_chat_count, max_concurrent_chats)}
                      </span>
                    )}
                  </span>
                  <span class={`chip ${passed_over === null ? "good" : ""}`}>
                    {passed_over === null ? words.chosen : words.reasons[passed_over]}
                  </span>
                </li>
              ),
            )}
          </ul>
        </>
      )}
    </div>
  );
}
