/** Sends the message of a broadcast to one contact, to see it before everyone does. */
import { rowsOf, typed } from "../../../../database/query/index.ts";
import type { OrganizationChange, WriteContext } from "../../../foundation/kernel/index.ts";
import {
  contactIdOf,
  planMessage,
  readAddress,
  sendMessage,
  sendPlanned,
} from "../../../inbox/messages/index.ts";
import { getBroadcast } from "../find.ts";
import { broadcastContent, prepareContent } from "../prepare.ts";
import { selectValues } from "../sending/index.ts";

interface TestInput {
  readonly id: string;
  readonly to: string;
}

export async function sendTest(input: TestInput, context: WriteContext) {
  const { message } = await readTest(input, context);
  return serializeTest(await sendMessage(message, context));
}

/** Plans the message like any other, with its text, its price and its file. */
export async function planTest(
  input: TestInput,
  context: OrganizationChange,
  earlier: Parameters<typeof planMessage>[2],
) {
  const { name, message } = await readTest(input, context);
  const planned = await planMessage(message, context, earlier);
  return { ...planned, summary: `Test the broadcast ${name}: ${planned.summary}` };
}

/** @throws Failure `plan_changed` if the message would be another now, `plan_lapsed`. */
export async function runTest(
  input: TestInput,
  context: WriteContext,
  planned: Parameters<typeof sendPlanned>[2],
) {
  const { message } = await readTest(input, context);
  return serializeTest(await sendPlanned(message, context, planned));
}

function serializeTest({ id, conversation_id }: Awaited<ReturnType<typeof sendMessage>>) {
  return { message_id: id, conversation_id };
}

/**
 * A variable for which the contact has no value is shown as its name in brackets, and so are all variables if
 * the number belongs to no contact.
 */
async function readTest({ id, to }: TestInput, context: OrganizationChange) {
  const { tx, world, organization } = context;
  const broadcast = await getBroadcast(tx, organization, id);
  const { template, mapping } = await prepareContent(context, organization, broadcastContent(broadcast));
  const { inbox_id } = template;
  const address = await readAddress({ db: tx, world, organization }, { to, inbox_id });
  const { rows } = await rowsOf({
    variables: typed<Readonly<Record<string, string | null>>>("jsonb"),
  })`
    select ${selectValues(mapping)} as variables from contacts
    where organization_id = ${organization} and id = ${contactIdOf(organization, address.to)} and erased_at is null
  `.execute(tx);
  const known = rows[0]?.variables ?? {};
  const variables = Object.fromEntries(
    Object.keys(mapping).map((name) => [name, known[name] ?? `[${name}]`]),
  );
  const { name, language } = template;
  const { header_media_url } = broadcast;
  const content = { name, language, variables, ...(header_media_url === null ? {} : { header_media_url }) };
  const message = { to: address.to.value, type: "template" as const, inbox_id, template: content };
  return { name: broadcast.name, message };
}
