/** The organization: its name and the settings that apply to everything in it. */
import { z } from "zod";
import { country, type ErrorEntry, errorEntry, one, operation, timestamp } from "./contract/index.ts";

const Organization = z.object({
  id: z.string(),
  name: z.string(),
  /** An IANA name. */
  time_zone: z.string(),
  /** ISO 3166-1 alpha-2; null: phone numbers need a country code. */
  default_country: z.string().nullable(),
  created_at: timestamp,
});

/** As `whoami` shows it. */
export const OrganizationSummary = Organization.omit({ created_at: true });

const time_zone = z
  .string()
  .max(64)
  .refine(isTimeZone, { error: "Send an IANA time zone, for example Europe/Berlin.", abort: true })
  .overwrite(correctCase)
  .describe("IANA time zone, for example Europe/Berlin");

/** Runtimes also accept offsets like +01:00, which have no daylight saving time. */
function isTimeZone(name: string): boolean {
  try {
    return /^[a-z]/i.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** Runtimes accept any case; other programs that read the name do not. An alias such as Asia/Kolkata stays as it is. */
function correctCase(name: string): string {
  const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
  return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
}

export const organization = {
  get_organization: operation({
    method: "GET",
    path: "/v1/organization",
    scope: null,
    title: "Get organization",
    description: "Get the organization's name, time zone and default country.",
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
      "Change the organization's name, time zone or default country. Only the fields sent change. Phone numbers without a country code are read as numbers of the default country; without one they are rejected.",
    input: z.object({
      name: z.string().trim().min(1).max(255).optional().describe("Name"),
      time_zone: time_zone.optional(),
      default_country: country
        .nullable()
        .optional()
        .describe("Two-letter country code (ISO 3166), for example DE; null removes it"),
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
