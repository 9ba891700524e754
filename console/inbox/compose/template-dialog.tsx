/** Chooses an approved template, fills in its variables with a preview, and sends it. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "../../controls/dialog.tsx";
import { isPlaygroundOffered } from "../../playground/available.ts";
import { type Answer, call, type Input } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { texts } from "../../texts.ts";
import { TemplateText } from "../conversation/message-content.tsx";
import { fillTemplate, type Template } from "./fill-template.ts";
import { sendLater } from "./outbox.ts";

type Listed = Answer<"list_templates">["data"][number];

interface Props {
  /** The id of the conversation. */
  readonly to: string;
  /** Suggested for the first variable. */
  readonly contactName: string | null;
  readonly onClose: () => void;
}

export function TemplateDialog({ to, contactName, onClose }: Props) {
  const send = (content: NonNullable<Input<"send_message">["template"]>, preview: string) => {
    sendLater(to, { to, type: "template", template: content }, preview);
    onClose();
  };
  return (
    <Dialog title={texts.templates.title} onClose={onClose}>
      <TemplateForm contactName={contactName} onSend={send} />
    </Dialog>
  );
}

interface FormProps {
  readonly contactName: string | null;
  readonly onSend: (content: NonNullable<Input<"send_message">["template"]>, preview: string) => void;
}

export function TemplateForm({ contactName, onSend }: FormProps) {
  const found = useSignal<readonly Listed[] | null>(null);
  const search = useSignal("");
  const template = useSignal<Template | null>(null);
  const problem = useSignal("");
  const searchField = useRef<HTMLInputElement>(null);

  useEffect(() => {
    const controller = new AbortController();
    findSendable(search.value, controller.signal).then(
      (result) => {
        found.value = result;
        problem.value = "";
      },
      (error: unknown) => {
        if (!controller.signal.aborted) {
          problem.value = describeError(error);
        }
      },
    );
    return () => controller.abort();
  }, [search.value]);

  if (template.value !== null) {
    return (
      <Variables
        key={template.value.id}
        template={template.value}
        contactName={contactName}
        onSend={onSend}
        onBack={() => {
          template.value = null;
          requestAnimationFrame(() => searchField.current?.focus());
        }}
      />
    );
  }
  const choose = async ({ id }: Listed) => {
    try {
      template.value = (await call("get_template", { id })).data;
      problem.value = "";
    } catch (error) {
      problem.value = describeError(error);
    }
  };
  return (
    <>
      <label>
        {texts.templates.search}
        <input
          type="search"
          ref={searchField}
          autofocus
          value={search.value}
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
          }}
        />
      </label>
      <p class="error" role="alert">
        {problem.value}
      </p>
      {found.value?.length === 0 && <NoTemplate isSearched={search.value.trim() !== ""} />}
      <ul class="stack">
        {found.value?.map((one) => (
          <li key={one.id}>
            <button type="button" class="found" onClick={() => void choose(one)}>
              <strong>{one.name}</strong>
              <span class="small muted">{describeTemplate(one)}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

const pageSize = 100;
/** More are found by a search. */
const mostFound = 50;

/** A draft may be sendable too, as its approved version: no status selects these templates. */
async function findSendable(search: string, signal: AbortSignal): Promise<readonly Listed[]> {
  const sought = search === "" ? {} : { search };
  const found: Listed[] = [];
  for (let page = 1; ; page += 1) {
    const { data, meta } = await call("list_templates", { ...sought, page, per_page: pageSize }, { signal });
    found.push(...data.filter(({ is_sendable }) => is_sendable));
    if (found.length >= mostFound || page * pageSize >= meta.total) {
      return found.slice(0, mostFound);
    }
  }
}

/** The playground has a sample with a template, and a customer who can write first. */
function NoTemplate({ isSearched }: { isSearched: boolean }) {
  return (
    <>
      <p class="muted">{isSearched ? texts.templates.none : texts.templates.noneYet}</p>
      {!isSearched && isPlaygroundOffered() && (
        <p>
          {texts.templates.tryPlayground} <a href="/console/playground">{texts.playground.openIt}</a>
        </p>
      )}
    </>
  );
}

function describeTemplate({ language, category }: Pick<Listed, "language" | "category">): string {
  return `${language} · ${texts.templates.categories[category]}`;
}

type Variable = Template["variables"][number];

interface VariablesProps extends FormProps {
  readonly template: Template;
  readonly onBack: () => void;
}

function Variables({ template, contactName, onSend, onBack }: VariablesProps) {
  const values = useSignal<Readonly<Record<string, string>>>(
    Object.fromEntries(
      template.variables.map(({ name }, index) => [name, index === 0 ? (contactName ?? "") : ""]),
    ),
  );
  const filled = fillTemplate(template, values.value);
  const { cards, buttons } = template.template_data;
  // The file of a card has a sample, and a form has a default token and no data.
  const isOptional = ({ component, card_index = 0, button_index = -1 }: Variable) =>
    (component === "CARD_HEADER" && cards?.[card_index]?.header.media_url !== undefined) ||
    (component === "BUTTONS" && buttons?.[button_index]?.type === "form");
  const form = useRef<HTMLFormElement>(null);
  // The button that had the focus is no longer there.
  useEffect(() => form.current?.querySelector<HTMLElement>("input, [type=submit]")?.focus(), []);
  return (
    <form
      ref={form}
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const { name, language } = template;
        const given = Object.entries(values.value).filter(([, value]) => value !== "");
        onSend({ name, language, variables: Object.fromEntries(given) }, filled.body);
      }}
    >
      <h3>
        {template.name} · {describeTemplate(template)}
      </h3>
      {template.variables.map(({ name, example, ...variable }) => (
        <label key={name}>
          {texts.templates.variable(name)}
          <input
            required={!isOptional({ name, ...variable })}
            maxLength={1024}
            placeholder={example}
            value={values.value[name]}
            onInput={({ currentTarget }) => {
              values.value = { ...values.value, [name]: currentTarget.value };
            }}
          />
        </label>
      ))}
      <section aria-label={texts.templates.preview} class="bubble outbound">
        <TemplateText template={filled} />
      </section>
      <div class="row spread">
        <button type="button" onClick={onBack}>
          {texts.templates.other}
        </button>
        <button type="submit" class="primary">
          {texts.compose.send}
        </button>
      </div>
    </form>
  );
}
