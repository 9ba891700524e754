/**
 * The conditions of a policy as rows of a form. Conditions that rows can't show, which the API allows, are
 * edited as JSON, so that nothing is lost.
 */
export const conditionKinds = ["text", "tags", "contactTags", "inbox", "country"] as const;
export type ConditionKind = (typeof conditionKinds)[number];

export interface ConditionRow {
  readonly kind: ConditionKind;
  readonly value: string;
}

export interface Conditions {
  readonly mode: "and" | "or";
  readonly rows: readonly ConditionRow[];
  /** Null: the rows are all. */
  readonly json: string | null;
}

type Json = Readonly<Record<string, unknown>>;

interface Form {
  readonly attribute: string;
  readonly operator: string;
  readonly isList: boolean;
}

const forms: Readonly<Record<ConditionKind, Form>> = {
  text: { attribute: "message.text", operator: "contains", isList: false },
  tags: { attribute: "conversation.tags", operator: "has_any", isList: true },
  contactTags: { attribute: "tags", operator: "has_any", isList: true },
  inbox: { attribute: "conversation.inbox_id", operator: "eq", isList: false },
  country: { attribute: "country", operator: "eq", isList: false },
};

export function readConditions(conditions: Json): Conditions {
  const [key = "", ...others] = Object.keys(conditions);
  if (key === "") {
    return { mode: "and", rows: [], json: null };
  }
  const isGroup = (key === "and" || key === "or") && others.length === 0;
  const members = isGroup ? conditions[key] : [conditions];
  const rows = Array.isArray(members) ? members.map(readRow) : [undefined];
  const known = rows.filter((row) => row !== undefined);
  if (known.length < rows.length) {
    return { mode: "and", rows: [], json: JSON.stringify(conditions, null, 2) };
  }
  return { mode: key === "or" ? "or" : "and", rows: known, json: null };
}

function readRow({ attribute, operator, value }: Json): ConditionRow | undefined {
  const kind = conditionKinds.find(
    (each) => forms[each].attribute === attribute && forms[each].operator === operator,
  );
  if (kind === undefined) {
    return undefined;
  }
  if (!forms[kind].isList) {
    return typeof value === "string" ? { kind, value } : undefined;
  }
  const isSimple =
    Array.isArray(value) && value.every((tag) => typeof tag === "string" && !tag.includes(","));
  return isSimple ? { kind, value: value.join(", ") } : undefined;
}

/** @throws SyntaxError for JSON that is wrong */
export function writeConditions({ mode, rows, json }: Conditions): Json {
  if (json !== null) {
    return JSON.parse(json) as Json; // the service checks the form
  }
  const members = rows.map(writeRow);
  const [only] = members;
  if (only === undefined) {
    return {};
  }
  return members.length === 1 ? only : { [mode]: members };
}

function writeRow({ kind, value }: ConditionRow): Json {
  const { attribute, operator, isList } = forms[kind];
  const list = value.split(",").map((word) => word.trim());
  return { attribute, operator, value: isList ? list.filter(Boolean) : value.trim() };
}
