/**
 * Selects the contacts of a cohort as candidates of a broadcast: the values of the template's variables, the
 * price, and why a contact is excluded.
 */
import { type RawBuilder, sql } from "kysely";
import type { ExclusionReason, VariableMapping } from "../../../../../tools/broadcasts/index.ts";
import { columnsOf, type InputRow, matchesKey, recordset } from "../../../../database/query/index.ts";
import type { AddressKind } from "../../../../ports/channel/address.ts";
import { selectAddress } from "../../../inbox/contacts/index.ts";
import { priceOf, type Rates } from "../../../money/prices/index.ts";
import { type Cohort, isMember } from "../../cohorts/index.ts";
import type { BroadcastRow } from "../find.ts";

export interface RecipientCandidate {
  readonly contact_id: string;
  readonly to: string | null;
  readonly country: string | null;
  /** In millionths of the currency's unit; null: there are no prices. */
  readonly price: number | null;
  /** Keyed by the names of the variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** Null: the contact is not excluded. */
  readonly reason: ExclusionReason | null;
}

interface Pricing {
  readonly rates: Rates;
  readonly category: string;
}

interface Selection extends Pricing {
  readonly organization: string;
  readonly cohort: Cohort;
  readonly mapping: VariableMapping;
  /** How the channel of the inbox addresses persons. */
  readonly addresses: readonly AddressKind[];
  readonly now: Date;
  /** Only the contacts with ids after `after`, in order, at most `limit`. */
  readonly part?: { readonly after: string; readonly limit: number };
}

/** One statement, so that all candidates are read at the same moment. Call `normalizeContacts` before. */
export function selectCandidates(selection: Selection): RawBuilder<RecipientCandidate> {
  const { organization, cohort, mapping, addresses, now, part } = selection;
  const page = part ? sql`and contacts.id > ${part.after} order by contacts.id limit ${part.limit}` : sql``;
  const names = Object.keys(mapping);
  const values = Object.values(mapping).map(valueFor);
  return sql<RecipientCandidate>`
    select contact_id, "to", country, ${priceIn(selection)} as price,
      jsonb_object(${names}::text[], "values") as variables,
      case
        when "to" is null then 'no_number'
        when blocked_at is not null then 'blocked'
        when opted_out then 'opted_out'
        when array_position("values", null) is not null then 'missing_variable'
        when exists (select from unnest("values") as value where value ~ ${unsendable}) then 'invalid_value'
      end as reason
    from (
      select contacts.id as contact_id, ${selectAddress(addresses)} as "to", contacts.country,
        contacts.blocked_at, contacts.opted_out, array[${sql.join(values)}]::text[] as "values"
      from contacts
      where contacts.organization_id = ${organization} and contacts.erased_at is null
        and ${isMember(organization, cohort, now)}
      ${page}
    ) as candidate`;
}

/** Stores candidates as recipients of a broadcast. */
export function insertCandidates(
  { organization_id, id }: Pick<BroadcastRow, "organization_id" | "id">,
  candidates: RawBuilder<RecipientCandidate>,
): RawBuilder<unknown> {
  return sql`
    insert into broadcast_recipients
      (organization_id, broadcast_id, contact_id, "to", status, reason, country, price, variables)
    select ${organization_id}, ${id}, contact_id, "to", case when reason is null then 'pending' else 'excluded' end,
      reason, country, price, case when reason is null then variables end
    from (${candidates}) as candidate`;
}

const frozenColumns = columnsOf("broadcast_recipients", "contact_id", "to", "country", "variables", "reason");

/**
 * The candidates that a plan has frozen, with the present prices. A contact to whom nothing may be sent any
 * more, or who has another address, is excluded; an erased contact is missing.
 */
export function selectFrozen(
  { organization, addresses, ...pricing }: Pick<Selection, "organization" | "addresses"> & Pricing,
  frozen: readonly InputRow<typeof frozenColumns>[],
): RawBuilder<RecipientCandidate> {
  const contacts = frozen.map(({ contact_id }) => contact_id);
  return sql<RecipientCandidate>`
    select contact_id, "to", country, ${priceIn(pricing)} as price, variables, reason
    from (
      select target.contact_id, target."to", target.country, target.variables,
        case
          when target.reason is not null then target.reason
          when contacts.blocked_at is not null then 'blocked'
          when contacts.opted_out then 'opted_out'
          when ${selectAddress(addresses)} is distinct from target."to" then 'address_changed'
        end as reason
      from ${recordset("target", frozenColumns, frozen)}
      join contacts on contacts.organization_id = ${organization}
        and ${matchesKey("contacts.id", "target.contact_id", contacts)}
      where contacts.erased_at is null
    ) as candidate`;
}

/** Line breaks, tabs and many spaces, which no value of a variable may have. */
const unsendable = "[\\n\\v\\f\\r\\t\\u2028\\u2029]| {5}";

/** The values of the variables for a row of `contacts`, as an object; null where the contact has none. */
export function selectValues(mapping: VariableMapping): RawBuilder<unknown> {
  const values = sql.join(Object.values(mapping).map(valueFor));
  return sql`jsonb_object(${Object.keys(mapping)}::text[], array[${values}]::text[])`;
}

type Mapping = VariableMapping[string];

/** The text for a contact; null if it has none. */
function valueFor(mapping: Mapping): RawBuilder<unknown> {
  if (typeof mapping === "string") {
    return attributeOf(mapping);
  }
  if ("value" in mapping) {
    return sql`${mapping.value}::text`;
  }
  return sql`coalesce(${attributeOf(mapping.attribute)}, ${mapping.default ?? null}::text)`;
}

const columns = ["name", "phone_number", "country", "username"];

function attributeOf(attribute: string): RawBuilder<unknown> {
  return sql`nullif(btrim(${columns.includes(attribute) ? sql.ref(`contacts.${attribute}`) : metadataOf(attribute)}), '')`;
}

/** The value of an attribute: a text, a number or a boolean. A list or an object counts as no value. */
function metadataOf(attribute: string): RawBuilder<unknown> {
  const path = attribute.split(".").slice(1);
  return sql`case when jsonb_typeof(contacts.metadata #> ${path}::text[]) in ('string', 'number', 'boolean')
    then contacts.metadata #>> ${path}::text[] end`;
}

/** The price for the country of the contact's number. */
function priceIn({ rates, category }: Pricing): RawBuilder<unknown> {
  const { table } = rates;
  const other = priceOf(rates, null, category);
  if (table === null || other === null) {
    return sql`null::bigint`;
  }
  const prices = Object.fromEntries(
    [...table.keys()].map((country) => [country, priceOf(rates, country, category)]),
  );
  return sql`coalesce((${JSON.stringify(prices)}::jsonb ->> country)::bigint, ${other}::bigint)`;
}
