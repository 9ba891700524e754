/** Reads phone numbers by the settings of an organization and its inboxes. */
import { failField } from "../../../../tools/errors.ts";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import type { Queries } from "../../../database/database.ts";
import { countryOf, hasCountryCode, type PhoneRegion, readPhone, toCountry } from "../phone/index.ts";

interface WrittenNumber {
  readonly text: string;
  /** Named in the failure. */
  readonly field: string;
  /** The inbox whose default country comes before the organization's. */
  readonly inbox_id?: string | undefined;
  /** Comes before both. */
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

/** How an organization's numbers without a country code are read; those sent from an inbox, if one is named. */
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
