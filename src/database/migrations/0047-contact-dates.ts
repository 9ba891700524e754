/**
 * Attributes in the metadata of contacts that are declared as dates, and the dates of each contact, which
 * conditions compare instead of the texts in the JSON.
 *
 * A date of a contact is null if it is not stored: conditions then read the JSON. A date that is stored was
 * computed from the metadata of its row, for a place whose name never changes. So the answers are right in
 * every state: while the dates of existing contacts are filled in, for a contact that was written while an
 * attribute was declared, and after the end of a declaration.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  // The function by which the earlier version reads a time, under another name: it reads every form.
  "alter function json_time(jsonb) rename to json_time_in_any_form",
  // The usual forms without regular expressions, which take most of the time, and with a variable: an inlined
  // function would read the text from the JSON a dozen times. Other days of a month are left to the other
  // function. Only a string has one of these forms.
  `create function json_time(jsonb) returns timestamptz language plpgsql immutable strict parallel safe as $$
  declare
    value text collate "C" := $1 #>> '{}';
    form text := translate(value, '123456789', '000000000');
  begin
    if substr(value, 6, 2) between '01' and '12' and substr(value, 9, 2) between '01' and '28' and value > '0001' then
      if form = '0000-00-00' then
        return (value || ' 00:00Z')::timestamptz;
      end if;
      if form in ('0000-00-00T00:00:00Z', '0000-00-00T00:00:00.000Z')
        and substr(value, 12, 2) <= '23' and substr(value, 15, 2) <= '59' and substr(value, 18, 2) <= '59'
      then
        return value::timestamptz;
      end if;
    end if;
    return json_time_in_any_form($1);
  end $$`,
  // Refers to the function, not to its name.
  `create or replace function json_times(jsonb) returns timestamptz[] language sql immutable parallel safe
    return array(select json_time(value) from jsonb_array_elements($1))`,

  `create table contact_date_attributes (
    organization_id text collate "C" not null references organizations (id),
    -- The path in the metadata, such as crm.signed_up.
    name text collate "C" not null,
    -- The place in contacts.dates. The row stays when the declaration ends, so that the place has one meaning.
    place integer not null,
    is_declared boolean not null,
    -- Whether the dates of the contacts that existed before are stored.
    is_ready boolean not null,
    declared_at timestamptz not null,
    primary key (organization_id, name),
    unique (organization_id, place)
  )`,
  "alter table contacts add column dates timestamptz[]",

  // Null if no declared attribute is a date. Not #>, for which a number in the path is a place in a list.
  `create function contact_dates(organization text, metadata jsonb) returns timestamptz[]
    language plpgsql stable as $$
  declare
    attribute record;
    member text;
    value jsonb;
    found timestamptz;
    dates timestamptz[];
  begin
    for attribute in
      select name, place from contact_date_attributes where organization_id = organization and is_declared
    loop
      value := metadata;
      foreach member in array string_to_array(attribute.name, '.') loop
        value := value -> member;
      end loop;
      found := json_time(value);
      if found is not null then
        dates[attribute.place] := found;
      end if;
    end loop;
    return dates;
  end $$`,
  // Triggers, because during a deployment the previous version still writes metadata.
  `create function set_contact_dates() returns trigger language plpgsql as $$
  begin
    new.dates := contact_dates(new.organization_id, new.metadata);
    return new;
  end $$`,
  `create trigger contacts_dates_of_new before insert on contacts
    for each row when (new.metadata <> '{}') execute function set_contact_dates()`,
  `create trigger contacts_dates_of_changed before update of metadata on contacts
    for each row when (new.metadata <> old.metadata) execute function set_contact_dates()`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
