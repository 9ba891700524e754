/**
 * A JSON value as text, number and time, in SQL with the same meaning as in `facts.ts`.
 *
 * Each expression is null where the value has no such form, and none of them fails for any JSON value: PostgreSQL's own
 * casts do, for example for an offset of 16 hours or the number 1e400.
 */
import { type RawBuilder, sql } from "kysely";

type Expression = RawBuilder<unknown>;

/** The text of a value whose texts are normalized except for ASCII letters. */
export function textIn(value: Expression): Expression {
  return sql`case jsonb_typeof(${value})
    when 'string' then lower((${value} #>> '{}') collate "C")
    when 'number' then ${numberText(sql`(${value} #>> '{}')::numeric`)}
    when 'boolean' then ${value} #>> '{}' end`;
}

/** The text that JavaScript gives a number: very large and very small ones have an exponent. */
function numberText(number: Expression): Expression {
  return sql`case when abs(${number}) >= 1e21 or (abs(${number}) < 1e-6 and ${number} <> 0)
    then regexp_replace(${number}::float8::text, 'e([+-])0', 'e\\1')
    else trim_scale(${number})::text end`;
}

/** A number, or text that is one. */
export function numberIn(value: Expression): Expression {
  const trimmed = sql`btrim(${value} #>> '{}', ${whitespace}::text)`;
  return sql`case jsonb_typeof(${value})
    when 'number' then (${value} #>> '{}')::float8
    when 'string' then case when ${trimmed} ~ '^[+-]?[0-9]+(\\.[0-9]+)?$' then
      case when length(${trimmed}) <= 300 then ${trimmed}::float8 else ${longNumber(trimmed)} end end end`;
}

/** Half of the smallest number, and the largest number with half of the distance to the next one. */
const [tooSmall, tooLarge] = ["2.4703282292062327e-324", "1.7976931348623158079e308"];

/** The number of a text of many digits, which may be beyond the range of float8. */
function longNumber(text: Expression): Expression {
  const number = sql`${text}::numeric`;
  return sql`case
    when ${number} >= ${tooLarge}::numeric then 'Infinity'::float8
    when ${number} <= -${tooLarge}::numeric then '-Infinity'::float8
    when abs(${number}) <= ${tooSmall}::numeric then 0::float8
    else ${number}::float8 end`;
}

/** What `String.prototype.trim` removes. */
const whitespace =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";

/** A date, or a time with its offset. */
export function timeIn(value: Expression): Expression {
  const text = sql`(${value} #>> '{}')`;
  return sql`case when jsonb_typeof(${value}) = 'string' then case
    when ${text} ~ ${`^(?!0000)${calendarDate}$`} then ${text}::date::timestamp at time zone 'UTC'
    when ${text} ~ ${`^${calendarDate}T${timeOfDay}$`} then case
      when left(${text}, 4) in ('0000', '0001', '9999') then ${withinYears(timeOf(text))}
      else ${timeOf(text)} end end end`;
}

/** Every existing date with a year of four digits. */
const calendarDate =
  "(?:(?:[0-9][0-9][2468][048]|[0-9][0-9][13579][26]|[0-9][0-9]0[48]|[02468][048]00|[13579][26]00)-02-29|[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])))";
const timeOfDay =
  "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";

/** The time of a text in ISO 8601, to the millisecond. The year 0 is PostgreSQL's year -1. */
function timeOf(text: Expression): Expression {
  const milliseconds = sql`rpad(left(coalesce(substring(${text} from '\\.([0-9]+)'), ''), 3), 3, '0')`;
  const offset = sql`make_interval(hours => left(right(${text}, 5), 2)::int, mins => right(${text}, 2)::int)`;
  return sql`(make_timestamp(
      coalesce(nullif(left(${text}, 4)::int, 0), -1), substr(${text}, 6, 2)::int, substr(${text}, 9, 2)::int,
      substr(${text}, 12, 2)::int, substr(${text}, 15, 2)::int,
      (substr(${text}, 18, 2) || '.' || ${milliseconds})::float8
    ) - case left(right(${text}, 6), 1)
      when '+' then ${offset} when '-' then -${offset} else '0'::interval end
  ) at time zone 'UTC'`;
}

/** Null outside the years 1 to 9999, which an offset can lead to. */
function withinYears(time: Expression): Expression {
  return sql`(select result from (select ${time} as result) as computed
    where result >= '0001-01-01 00:00:00+00' and result < '10000-01-01 00:00:00+00')`;
}
