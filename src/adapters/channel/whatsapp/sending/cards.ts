/** Contact cards in the form of the Cloud API. */
import type { SentCard } from "../../../../ports/channel/message-content.ts";
import type { ContactObject } from "../contract.ts";

export function toContact({
  name,
  first_name,
  middle_name,
  last_name,
  prefix,
  suffix,
  organization,
  department,
  job_title,
  birthday,
  phones,
  emails,
  urls,
  addresses,
}: SentCard): ContactObject {
  const parts = { first_name, middle_name, last_name, prefix, suffix };
  const hasParts = Object.values(parts).some((part) => part !== undefined);
  const hasOrganization = [organization, department, job_title].some((part) => part !== undefined);
  return {
    // WhatsApp requires a part of the name besides the whole name.
    name: { formatted_name: name, ...(hasParts ? parts : { first_name: name }) },
    org: hasOrganization ? { company: organization, department, title: job_title } : undefined,
    birthday,
    phones,
    emails,
    urls,
    addresses,
  };
}
