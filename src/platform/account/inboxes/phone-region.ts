/** Reads phone numbers by the settings of an organization and its inboxes. */
import { failField } from "../../../../tools/errors.ts";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import type { Queries } from "../../../database/database.ts";
import { countryOf, hasCountryCode, type PhoneRegion, readPhone, toCountry } from "../phone/index.ts";

interface WrittenNumber {
  readonly text: string;
  /** The field that the failure names. */
  readonly field: string;
  /** The default country of this inbox has precedence over the organization's. */
  readonly inbox_id?: string | undefined;
  /** Has precedence over both default countries. */
  readonly country?: string | undefined;
}

/**
 * The E.164 form of a number in any notation.
 * @throws Failure `invalid_phone_number` naming `field`.
 */
export async function normalizePhone(
  db: Queries,
  organization: string,
  { text, field, inbox_id, country }: WrittenNumber,
): Promise<string> {
  const region = hasCountryCode(text) ? anyRegion : await getPhoneRegion(db, organization, inbox_id);
  const reading = readPhone(text, { ...region, defaultCountry: toCountry(country) ?? region.defaultCountry });
  if (reading.reason !== undefined) {
    const { reason, suggestions } = reading;
    throw failField(field, "invalid_phone_number", { value: text, reason, suggestions });
  }
  return reading.number;
}

const anyRegion: PhoneRegion = { defaultCountry: undefined, likelyCountry: undefined };

/** How numbers without a country code are read for an organization, or for one of its inboxes. */
export async function getPhoneRegion(
  db: Queries,
  organization: string,
  inbox_id?: string,
): Promise<PhoneRegion> {
  const row = await db
    .selectFrom("organizations")
    .leftJoin("inboxes", (join) => {
      const own = join.onRef("inboxes.organization_id", "=", "organizations.id");
      return inbox_id === undefined ? own : own.on("inboxes.id", "=", inbox_id);
    })
    .select(["organizations.default_country", "inboxes.phone_number", "inboxes.settings"])
    .where("organizations.id", "=", organization)
    .orderBy("inboxes.id")
    .limit(1)
    .executeTakeFirst();
  const settings = inbox_id === undefined ? {} : InboxSettings.parse(row?.settings ?? {});
  return {
    defaultCountry: toCountry(settings.default_country ?? row?.default_country),
    likelyCountry: toCountry(countryOf(row?.phone_number ?? null)),
  };
}
