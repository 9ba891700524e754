/** Contact cards and locations, as they are sent. */
import { z } from "zod";

const text = (max: number) => z.string().min(1).max(max);
const kind = text(32).optional().describe("For example HOME or WORK");

const phone = z.object({
  phone: text(64),
  type: kind,
  wa_id: z.string().regex(/^\d+$/, "Send digits only.").max(20).optional().describe("Its WhatsApp number"),
});
const email = z.object({ email: text(256), type: kind });
const url = z.object({ url: text(2048), type: kind });

const address = z.object({
  street: text(256).optional(),
  city: text(128).optional(),
  state: text(128).optional(),
  zip: text(32).optional(),
  country: text(128).optional(),
  country_code: z.string().length(2).optional(),
  type: kind,
});

const maxEntries = 20;

/** The members of its name are optional: without them, the whole name is the first name. */
export const SentCard = z.object({
  name: text(256).describe("The whole name"),
  first_name: text(128).optional(),
  middle_name: text(128).optional(),
  last_name: text(128).optional(),
  prefix: text(32).optional(),
  suffix: text(32).optional(),
  organization: text(256).optional(),
  department: text(128).optional(),
  job_title: text(128).optional(),
  birthday: z.iso.date().max(10).optional(),
  phones: z.array(phone).max(maxEntries).optional(),
  emails: z.array(email).max(maxEntries).optional(),
  urls: z.array(url).max(maxEntries).optional(),
  addresses: z.array(address).max(maxEntries).optional(),
});
export type SentCard = z.output<typeof SentCard>;

export const SentLocation = z.object({
  latitude: z.number().min(-90).max(90).describe("In degrees"),
  longitude: z.number().min(-180).max(180).describe("In degrees"),
  name: text(256).optional(),
  address: text(1024).optional().describe("Shown if there is a name too"),
});
export type SentLocation = z.output<typeof SentLocation>;
