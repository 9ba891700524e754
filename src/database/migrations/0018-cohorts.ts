/** Cohorts, and the values of a contact that conditions compare. */
import { type Kysely, sql } from "kysely";

/** The characters that `String.prototype.trim` removes. */
const whitespace =
  "\\t\\n\\u000b\\f\\r \\u00a0\\u1680\\u2000\\u2001\\u2002\\u2003\\u2004\\u2005\\u2006\\u2007\\u2008\\u2009\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";

/** Every existing date with a four-digit year, and a time with its offset. */
const calendarDate =
  "(?:(?:[0-9][0-9][2468][048]|[0-9][0-9][13579][26]|[0-9][0-9]0[48]|[02468][048]00|[13579][26]00)-02-29|[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])))";
const timeOfDay =
  "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";

/** Not strict, so that the planner can inline the body. */
const immutable = "language sql immutable parallel safe";

/**
 * Converts a JSON value to text, number and time, with the same meaning as in memory. Null if the value has
 * no such form. No function fails for any JSON value; PostgreSQL's own casts do fail, for example for an
 * offset of 16 hours or the number 1e400.
 */
const jsonFunctions = [
  // For a value whose texts are normalized except for ASCII letters. JavaScript writes very large and small
  // numbers with an exponent.
  `create function json_text(jsonb) returns text ${immutable} return
    case jsonb_typeof($1)
      when 'string' then lower(($1 #>> '{}') collate "C")
      when 'boolean' then $1 #>> '{}'
      when 'number' then case
        when abs(($1 #>> '{}')::numeric) >= 1e21
          or (abs(($1 #>> '{}')::numeric) < 1e-6 and ($1 #>> '{}')::numeric <> 0)
        then regexp_replace(($1 #>> '{}')::float8::text, 'e([+-])0', 'e\\1')
        else trim_scale(($1 #>> '{}')::numeric)::text end
    end`,
  // For a text of digits, also beyond the range of float8: the limits are the numbers at which rounding gives
  // 0 and Infinity.
  `create function digits_number(text) returns float8 ${immutable} return
    case
      when length($1) <= 300 then $1::float8
      when $1::numeric >= 1.7976931348623158079e308 then 'Infinity'::float8
      when $1::numeric <= -1.7976931348623158079e308 then '-Infinity'::float8
      when abs($1::numeric) <= 2.4703282292062327e-324 then 0::float8
      else $1::float8
    end`,
  `create function json_number(jsonb) returns float8 ${immutable} return
    case jsonb_typeof($1)
      when 'number' then ($1 #>> '{}')::float8
      when 'string' then case
        when btrim($1 #>> '{}', E'${whitespace}') ~ '^[+-]?[0-9]+(\\.[0-9]+)?$'
        then digits_number(btrim($1 #>> '{}', E'${whitespace}')) end
    end`,
  // The year 0 is PostgreSQL's year -1.
  `create function iso_time(text) returns timestamptz ${immutable} return
    (make_timestamp(
      coalesce(nullif(left($1, 4)::int, 0), -1), substr($1, 6, 2)::int, substr($1, 9, 2)::int,
      substr($1, 12, 2)::int, substr($1, 15, 2)::int,
      (substr($1, 18, 2) || '.' || rpad(left(coalesce(substring($1 from '\\.([0-9]+)'), ''), 3), 3, '0'))::float8
    ) - case left(right($1, 6), 1)
      when '+' then make_interval(hours => left(right($1, 5), 2)::int, mins => right($1, 2)::int)
      when '-' then -make_interval(hours => left(right($1, 5), 2)::int, mins => right($1, 2)::int)
      else '0'::interval
    end) at time zone 'UTC'`,
  // A date without a time is checked without the regular expression where possible, because the expression
  // takes most of the time. An offset can lead outside the years 1 to 9999.
  `create function json_time(jsonb) returns timestamptz ${immutable} return
    case when jsonb_typeof($1) = 'string' then case
      when translate($1 #>> '{}', '123456789', '000000000') = '0000-00-00' then case
        when left($1 #>> '{}', 4) <> '0000' and (
          (substr($1 #>> '{}', 6, 2) collate "C" between '01' and '12'
            and right($1 #>> '{}', 2) collate "C" between '01' and '28')
          or ($1 #>> '{}') ~ '^${calendarDate}$')
        then make_date(left($1 #>> '{}', 4)::int, substr($1 #>> '{}', 6, 2)::int, right($1 #>> '{}', 2)::int)::timestamp
          at time zone 'UTC' end
      when ($1 #>> '{}') ~ '^${calendarDate}T${timeOfDay}$' then case
        when iso_time($1 #>> '{}') >= '0001-01-01 00:00:00+00' and iso_time($1 #>> '{}') < '10000-01-01 00:00:00+00'
        then iso_time($1 #>> '{}') end
    end end`,
  // For the elements of a list. These are functions, because a subquery in a condition prevents the planner
  // from using several workers.
  `create function json_texts(jsonb) returns text[] ${immutable}
    return array(select json_text(value) from jsonb_array_elements($1))`,
  `create function json_numbers(jsonb) returns float8[] ${immutable}
    return array(select json_number(value) from jsonb_array_elements($1))`,
  `create function json_times(jsonb) returns timestamptz[] ${immutable}
    return array(select json_time(value) from jsonb_array_elements($1))`,
  `create function any_between(anyarray, anyelement, anyelement) returns boolean ${immutable}
    as 'select exists (select from unnest($1) as element where element between $2 and $3)'`,
  `create function any_starts_with(text[], text) returns boolean ${immutable}
    return exists (select from unnest($1) as element where starts_with(element, $2))`,
  `create function any_ends_with(text[], text) returns boolean ${immutable}
    return exists (select from unnest($1) as element where right(element, length($2)) = $2)`,
];

const statements = [
  ...jsonFunctions,

  `alter table contacts
    -- By the number; null for a number without a country, and without a number.
    add column country text,
    -- The texts whose normalized form differs from the text with small ASCII letters. Null: none does.
    add column normalized jsonb,
    -- The value of updated_at for which both were computed. Another value: by an earlier version, so not at all.
    add column normalized_at timestamptz`,

  `create table cohorts (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    name text not null,
    description text,
    type text not null check (type in ('query', 'csv')),
    csv_url text,
    query jsonb not null,
    contact_count integer not null default 0,
    status text not null check (status in ('building', 'ready', 'failed')),
    -- The file of a csv cohort until it is built.
    upload_id text collate "C",
    -- Rows of the file read so far, the header not counted.
    position integer not null default 0,
    rejected integer not null default 0,
    errors jsonb not null default '[]',
    failure text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id)
  )`,

  // The contacts of csv cohorts.
  `create table cohort_members (
    organization_id text collate "C" not null,
    cohort_id text collate "C" not null,
    contact_id text collate "C" not null,
    primary key (organization_id, cohort_id, contact_id),
    foreign key (organization_id, cohort_id) references cohorts (organization_id, id) on delete cascade,
    foreign key (organization_id, contact_id) references contacts (organization_id, id) on delete cascade
  )`,
  // Finds the cohorts of an erased contact.
  "create index cohort_members_contact on cohort_members (organization_id, contact_id)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
