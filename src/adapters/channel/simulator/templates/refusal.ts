/** Refuses messages with templates that the authority has not approved, as WhatsApp does. */

import type { Queries } from "../../../../database/database.ts";
import { columnsOf, rowsOf } from "../../../../database/query/index.ts";
import { coalesce } from "../../../../database/sharing/index.ts";
import type { ChannelFailure, OutboundMessage } from "../../../../ports/channel/channel.ts";
import { reasonOf } from "../../failure-reasons.ts";

interface SentTemplate {
  readonly organization_id: string;
  readonly phone_number: string;
  /** In lower case. */
  readonly name: string;
  readonly language: string;
}

/** WhatsApp's codes by the status of the template; any other one is refused as missing. */
const failures: Readonly<Record<string, ChannelFailure | null>> = {
  APPROVED: null,
  PAUSED: failureOf(132015, "Template is paused"),
  DISABLED: failureOf(132016, "Template is disabled"),
};
const missing = failureOf(
  132001,
  "Template name does not exist in the translation",
  "There is no approved template of this name and language.",
);

function failureOf(code: number, title: string, detail: string | null = null): ChannelFailure {
  return { reason: reasonOf(code), channel_code: code, title, detail };
}

/** Why the message is refused; null if it has no template, or an approved one. */
export async function findRefusal(
  queries: Queries,
  { organization_id, from: phone_number, content }: OutboundMessage,
): Promise<ChannelFailure | null> {
  if (content.type !== "template") {
    return null;
  }
  const { name, language } = content.template;
  const template = { organization_id, phone_number, name: name.toLowerCase(), language };
  const failure = failures[(await readStatus(queries, template)) ?? ""];
  return failure === undefined ? missing : failure;
}

/** Messages that are sent together share one read. */
const readStatus = coalesce(
  async (queries: Queries, templates: readonly SentTemplate[]): Promise<readonly (string | undefined)[]> => {
    const { rows } = await rowsOf(
      columnsOf("simulator_templates", "phone_number", "name", "language", "status"),
    )`
      select phone_number, name, language, status from simulator_templates
      where organization_id = ${templates[0]?.organization_id}
        and name = any(${templates.map(({ name }) => name)}::text[])
    `.execute(queries);
    const statuses = new Map(rows.map((row) => [keyOf(row), row.status]));
    return templates.map((template) => statuses.get(keyOf(template)));
  },
  ({ organization_id }) => organization_id,
);

function keyOf({ phone_number, name, language }: Omit<SentTemplate, "organization_id">): string {
  return `${phone_number} ${name} ${language}`;
}
