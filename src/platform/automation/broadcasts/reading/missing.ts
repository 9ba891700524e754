/** Which variables of the contacts who are excluded for that have no value, and which attribute was meant. */
import type { RawBuilder } from "kysely";
import type { VariableMapping } from "../../../../../tools/broadcasts/index.ts";
import { nearestName } from "../../../../../tools/contract/index.ts";
import { rowsOf } from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import type { RecipientCandidate } from "../sending/index.ts";

/** The numbers of contacts without a value, by variable. */
export type MissingVariables = Readonly<Record<string, number>>;

export async function countMissing(
  tx: Transaction,
  candidates: RawBuilder<RecipientCandidate>,
): Promise<MissingVariables> {
  const { rows } = await rowsOf({ variable: "text", count: "bigint" })`
    select variable, count(*) as count
    from (${candidates}) as candidate, jsonb_each_text(candidate.variables) as given (variable, value)
    where reason = 'missing_variable' and value is null
    group by variable order by variable
  `.execute(tx);
  return Object.fromEntries(rows.map(({ variable, count }) => [variable, count]));
}

export interface MappedCandidates {
  readonly organization: string;
  readonly mapping: VariableMapping;
  readonly candidates: RawBuilder<RecipientCandidate>;
}

/** Warns of attributes that no contact of `missing` has, and names those with nearly the same name. */
export async function warnOfAttributes(
  tx: Transaction,
  missing: readonly string[],
  { organization, mapping, candidates }: MappedCandidates,
): Promise<string[]> {
  const attributes = missing.flatMap((variable) => attributeOf(mapping[variable]));
  if (attributes.length === 0) {
    return [];
  }
  const known = await listAttributes(tx, organization, candidates);
  return attributes.map((attribute) => {
    const nearest = nearestAttribute(attribute, known);
    const found =
      nearest === undefined ? "." : `; ${nearest} exists. Names of attributes are case-sensitive.`;
    return `No contact of the cohort has ${attribute}${found}`;
  });
}

const prefix = "metadata.";

function attributeOf(mapping: VariableMapping[string] | undefined): string[] {
  const attribute = typeof mapping === "object" && "attribute" in mapping ? mapping.attribute : mapping;
  return typeof attribute === "string" && attribute.startsWith(prefix) ? [attribute] : [];
}

/** Enough to meet the names that an import or a program gives to all its contacts. */
const maxContacts = 200;

/** The names of attributes of contacts who are excluded because they have no value. */
async function listAttributes(
  tx: Transaction,
  organization: string,
  candidates: RawBuilder<RecipientCandidate>,
): Promise<readonly string[]> {
  const { rows } = await rowsOf({ name: "text" })`
    select distinct attribute.name
    from (
      select contact_id from (${candidates}) as candidate where reason = 'missing_variable'
      order by contact_id limit ${maxContacts}
    ) as excluded
    join contacts on contacts.organization_id = ${organization} and contacts.id = excluded.contact_id,
    jsonb_object_keys(contacts.metadata) as attribute (name)
    order by attribute.name
  `.execute(tx);
  return rows.map(({ name }) => name);
}

/** Only the first name of a path is compared. */
function nearestAttribute(attribute: string, known: readonly string[]): string | undefined {
  const [name = "", ...path] = attribute.slice(prefix.length).split(".");
  const sameLetters = known.find((other) => other.toLowerCase() === name.toLowerCase());
  const nearest = sameLetters ?? nearestName(name, known);
  return nearest === undefined || nearest === name ? undefined : `${prefix}${[nearest, ...path].join(".")}`;
}
