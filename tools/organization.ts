/** The organization: its name and the settings that apply to everything in it. */
import { z } from "zod";
import {
  country,
  describedForTools,
  type ErrorEntry,
  errorEntry,
  one,
  operation,
  timestamp,
} from "./contract/index.ts";
import { money } from "./money.ts";
import { templateLanguage } from "./templates/index.ts";

const timeOfDay = z
  .string()
  .max(5)
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: "Send a time like 09:00.", abort: true });

const Interval = z
  .object({
    from: timeOfDay,
    to: z
      .string()
      .max(5)
      .regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, {
        error: "Send a time like 17:00, or 24:00 for midnight.",
        abort: true,
      }),
  })
  .refine(({ from, to }) => from < to, { path: ["to"], error: "Send a time after from." });

type Interval = z.infer<typeof Interval>;

const openingTimes = z
  .array(Interval)
  .max(12)
  .overwrite((intervals) => [...intervals].sort((one, other) => (one.from < other.from ? -1 : 1)))
  .refine(haveNoOverlap, "Send intervals that do not overlap.")
  .default([]);

function haveNoOverlap(sorted: readonly Interval[]): boolean {
  return sorted.every(({ from }, index) => (sorted[index - 1]?.to ?? "") <= from);
}

/** Used instead of Zod's own check, whose format some clients reject in a schema. */
function isDate(text: string): boolean {
  return z.iso.date().safeParse(text).success;
}

const holidays = z
  .array(
    z.object({
      date: z.string().max(10).refine(isDate, "Send a date like 2026-12-25."),
      name: z.string().trim().min(1).max(255).optional(),
    }),
  )
  .max(400)
  .refine((days) => new Set(days.map(({ date }) => date)).size === days.length, "Send each date once.")
  .default([]);

/** In the organization's time zone. A weekday without times is closed. */
export const BusinessHours = z.object({
  monday: openingTimes,
  tuesday: openingTimes,
  wednesday: openingTimes,
  thursday: openingTimes,
  friday: openingTimes,
  saturday: openingTimes,
  sunday: openingTimes,
  holidays,
});

const Organization = z.object({
  id: z.string(),
  name: z.string(),
  /** An IANA name. */
  time_zone: z.string(),
  /** ISO 3166-1 alpha-2; null if phone numbers need a country code. */
  default_country: z.string().nullable(),
  /** ISO 4217. */
  currency: z.string(),
  /** Null: always open. */
  business_hours: BusinessHours.nullable(),
  /** An event is emitted when less than this amount is available, in the currency's unit; null: no event. */
  low_balance_threshold: z.number().nullable(),
  /** The language of new templates that name none; null: en. */
  default_language: z.string().nullable(),
  created_at: timestamp,
});

/** The organization as `whoami` shows it. */
export const OrganizationSummary = Organization.pick({
  id: true,
  name: true,
  time_zone: true,
  default_country: true,
  currency: true,
});

export const organizationName = z.string().trim().min(1).max(255).describe("Name");

export const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, { error: "Send an IANA time zone, for example Europe/Berlin.", abort: true })
  .overwrite(correctCase)
  .describe("IANA time zone, for example Europe/Berlin");

/** Excludes offsets like +01:00, which runtimes also accept but which have no daylight saving time. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[a-z]/i.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Runtimes accept names in any case; other programs that read the name do not. An alias such as Asia/Kolkata
 * is kept.
 */
export function correctCase(name: string): string {
  const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
  return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
}

export const currency = z
  .string()
  .max(16)
  .trim()
  .toUpperCase()
  .refine(
    (code) => Intl.supportedValuesOf("currency").includes(code),
    "Send a three-letter currency code (ISO 4217), for example EUR.",
  )
  .describe("Three-letter currency code (ISO 4217), for example EUR");

export const organization = {
  get_organization: operation({
    method: "GET",
    path: "/v1/organization",
    scope: null,
    title: "Get organization",
    description:
      "Get the organization's name, time zone, default country, currency, business hours and default language.",
    input: z.object({}),
    output: one(Organization),
    tier: "extended",
  }),

  update_organization: operation({
    method: "PUT",
    path: "/v1/organization",
    scope: "tokens:create",
    title: "Update organization",
    description:
      "Change the organization's settings. Only the fields sent change; business_hours replaces all hours. Phone numbers without a country code are read as numbers of the default country; without one they are rejected.",
    input: z.object({
      name: organizationName.optional(),
      time_zone: timeZone.optional(),
      default_country: describedForTools(
        country
          .nullable()
          .optional()
          .describe("Two-letter country code (ISO 3166), for example DE; null removes it"),
        "Two-letter country code (ISO 3166), for example DE; empty removes it",
      ),
      currency: currency.optional(),
      low_balance_threshold: describedForTools(
        money
          .nullable()
          .optional()
          .describe("The event wallet.low_balance is sent when less is available; null: never"),
        "The event wallet.low_balance is sent when less is available; an empty text: never",
      ),
      business_hours: describedForTools(
        BusinessHours.nullable()
          .optional()
          .describe('Opening times like {"from":"09:00","to":"17:00"}, in time_zone; null: always open'),
        'Opening times like {"from":"09:00","to":"17:00"}, in time_zone; an empty text: always open',
      ),
      default_language: describedForTools(
        templateLanguage
          .nullable()
          .optional()
          .describe("Language of new templates that name none, for example en or en_US; null removes it"),
        "Language of new templates that name none, for example en or en_US; empty removes it",
      ),
    }),
    output: one(Organization),
    tier: "extended",
  }),
};

export const organizationErrors = {
  unknown_country: errorEntry(
    "invalid_request",
    400,
    "{value} is not a country with phone numbers.",
    "Send a two-letter country code (ISO 3166), for example DE.",
  ),
} as const satisfies Record<string, ErrorEntry>;
