/** Sends the message of a broadcast to one contact, to see it before everyone does. */
import { rowsOf, typed } from "../../../../database/query/index.ts";
import type { WriteContext } from "../../../foundation/kernel/index.ts";
import { contactIdOf, readAddress, sendMessage } from "../../../inbox/messages/index.ts";
import { getBroadcast } from "../find.ts";
import { broadcastContent, prepareContent } from "../prepare.ts";
import { selectValues } from "../sending/index.ts";

/**
 * A variable for which the contact has no value is shown as its name in brackets, and so are all variables if
 * the number belongs to no contact.
 */
export async function sendTest(
  { id, to }: { readonly id: string; readonly to: string },
  context: WriteContext,
): Promise<{ readonly message_id: string; readonly conversation_id: string }> {
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
  const message = await sendMessage(
    {
      to: address.to.value,
      type: "template",
      inbox_id,
      template: { name, language, variables, ...(header_media_url === null ? {} : { header_media_url }) },
    },
    context,
  );
  return { message_id: message.id, conversation_id: message.conversation_id };
}
