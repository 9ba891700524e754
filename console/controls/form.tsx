/** A form with errors beside its fields: the service names a wrong field by its path in the input. */
import { type Signal, useSignal } from "@preact/signals";
import { type ComponentChildren, h, type JSX, type TargetedInputEvent } from "preact";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { describeError } from "../service/describe-error.ts";
import { ServiceError } from "../service/errors.ts";
import { texts } from "../texts.ts";

export interface FormState {
  readonly isBusy: Signal<boolean>;
  /** What is wrong, by the paths of fields. */
  readonly fieldProblems: Signal<ReadonlyMap<string, string>>;
  /** What is wrong with the whole, and with fields that the form does not show. */
  readonly problem: Signal<string>;
  /** The paths of the fields that are shown. */
  readonly shownFields: Set<string>;
  /** Runs the act once at a time. @returns whether it succeeded; if not, the form shows why */
  run(act: () => Promise<unknown>): Promise<boolean>;
}

export function useForm(): FormState {
  const isBusy = useSignal(false);
  const fieldProblems = useSignal<ReadonlyMap<string, string>>(new Map());
  const problem = useSignal("");
  return useMemo(() => {
    const shownFields = new Set<string>();
    const run: FormState["run"] = async (act) => {
      if (isBusy.value) {
        return false;
      }
      isBusy.value = true;
      problem.value = "";
      fieldProblems.value = new Map();
      try {
        await act();
        return true;
      } catch (error) {
        const found = readFieldProblems(error);
        fieldProblems.value = found;
        problem.value = describeRest(error, found, shownFields);
        return false;
      } finally {
        isBusy.value = false;
      }
    };
    return { isBusy, fieldProblems, problem, shownFields, run };
  }, []);
}

/** One entry of the error's `details`. */
interface Detail {
  readonly field: string;
  readonly message: string;
  readonly fix?: string;
}

function readFieldProblems(error: unknown): ReadonlyMap<string, string> {
  if (!(error instanceof ServiceError)) {
    return new Map();
  }
  const { details, param } = error.facts;
  const own = texts.errors.codes[error.code];
  if (!Array.isArray(details)) {
    return typeof param === "string" ? new Map([[param, own ?? error.message]]) : new Map();
  }
  const entries = details as Detail[]; // as the body of every error has it
  // The error's code is the code of its only field.
  const text = entries.length === 1 ? own : undefined;
  return new Map(entries.map(({ field, message, fix }) => [field, text ?? fix ?? message]));
}

function describeRest(
  error: unknown,
  found: ReadonlyMap<string, string>,
  shown: ReadonlySet<string>,
): string {
  if (found.size === 0) {
    return describeError(error);
  }
  const rest = [...found].filter(([field]) => !shown.has(field) && !shown.has(listOf(field)));
  return rest.length === 0
    ? texts.form.correct
    : rest.map(([field, message]) => texts.form.other(field, message)).join(" ");
}

/** The path of the list, of a path such as `rules.allow.operations[2]`. */
function listOf(field: string): string {
  return field.replace(/\[\d+\]$/, "");
}

function findProblem(problems: ReadonlyMap<string, string>, name: string): string | undefined {
  return [...problems].find(([field]) => field === name || listOf(field) === name)?.[1];
}

interface FormProps {
  readonly form: FormState;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}

/**
 * After an error the first wrong field has the focus. A field that the browser can't read, such as a date
 * without its time, has no value, and would be submitted as an empty one.
 */
export function Form({ form, onSubmit, children }: FormProps) {
  const element = useRef<HTMLFormElement>(null);
  const problems = form.fieldProblems.value;
  useEffect(() => {
    if (problems.size > 0) {
      element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    }
  }, [problems]);
  return (
    <form
      ref={element}
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const unreadable = findUnreadable(event.currentTarget);
        if (unreadable.size > 0) {
          form.fieldProblems.value = unreadable;
          form.problem.value = texts.form.correct;
        } else {
          onSubmit();
        }
      }}
    >
      {children}
    </form>
  );
}

function findUnreadable({ elements }: HTMLFormElement): ReadonlyMap<string, string> {
  const fields = [...elements].filter((element) => element instanceof HTMLInputElement);
  const unreadable = fields.filter(({ validity }) => validity.badInput);
  return new Map(unreadable.map(({ name }) => [name, texts.form.unreadable]));
}

/** What connects an input with its label, its hint and its error. */
interface InputAttributes {
  readonly id: string;
  readonly name: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
}

interface FieldProps {
  readonly form: FormState;
  /** The path of the field in the operation's input, such as `rules.approve.amount_above`. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** Renders the input with the attributes. */
  readonly children: (attributes: InputAttributes) => JSX.Element;
}

/** What is wrong with the field; the form then shows it nowhere else. */
export function useFieldProblem(form: FormState, name: string): string | undefined {
  useEffect(() => {
    form.shownFields.add(name);
    return () => void form.shownFields.delete(name);
  }, [form, name]);
  return findProblem(form.fieldProblems.value, name);
}

export function Field({ form, name, label, hint, children }: FieldProps) {
  const id = useId();
  const problem = useFieldProblem(form, name);
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(problem === undefined ? [] : [`${id}-error`]),
  ];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
        "aria-invalid": problem === undefined ? undefined : "true",
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="small muted">
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p id={`${id}-error`} class="small error">
          {problem}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, "children"> {
  readonly type?: "text" | "email" | "password" | "url" | "number" | "date" | "datetime-local";
  readonly autocomplete?: string;
  readonly placeholder?: string;
  readonly disabled?: boolean;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

export function TextField({ form, name, label, hint, value, onValue, ...rest }: TextFieldProps) {
  return (
    <Field form={form} name={name} label={label} hint={hint}>
      {(attributes) =>
        // Not as an element: its type must be one literal there.
        h("input", {
          type: "text",
          ...rest,
          ...attributes,
          value,
          onInput: ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => onValue(currentTarget.value),
        })
      }
    </Field>
  );
}

interface SaveProps {
  readonly form: FormState;
  readonly label: string;
  /** Further buttons. */
  readonly children?: ComponentChildren;
}

/** The button that submits, and above it what is wrong. It keeps the focus while it waits. */
export function FormEnd({ form, label, children }: SaveProps) {
  const isBusy = form.isBusy.value;
  return (
    <>
      <p class="error" role="alert">
        {form.problem.value}
      </p>
      <div class="row">
        <button type="submit" class="primary" aria-disabled={isBusy} aria-busy={isBusy}>
          {isBusy ? texts.form.busy : label}
        </button>
        {children}
      </div>
    </>
  );
}
