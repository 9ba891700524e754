/** Plans a message: reads and checks what sending reads and checks, and writes nothing. */
import { fail } from "../../../../../tools/errors.ts";
import type { KeptFiles } from "../../../content/media/index.ts";
import { textOfTemplate } from "../../../content/templates/index.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { failInsufficient, readAvailable } from "../../../money/wallet/index.ts";
import type { MessageRow } from "../progress/index.ts";
import type { MessageInput } from "./content.ts";
import { FrozenMessage, priceOfCharge, readLastMessage } from "./frozen-message.ts";
import { readMessage, sendAlone } from "./send.ts";

interface EarlierPlan {
  readonly files: KeptFiles;
  /** Of the plan before its files were downloaded. */
  readonly frozen?: unknown;
}

export async function planMessage(
  input: MessageInput,
  context: OrganizationChange,
  { files, frozen: before }: EarlierPlan,
) {
  const { tx, actor } = context;
  const { to, recipient, content, charge, hold, warnings } = await readMessage(input, context, files);
  const { contact, inbox, conversation } = recipient;
  if (content.sealed_code !== undefined) {
    throw fail("code_not_sendable", { sender: "a plan", param: "template" });
  }
  if (hold?.isLimited) {
    await requireAvailable(context, hold);
  }
  const price = priceOfCharge(charge);
  // What the contact writes while the files are downloaded makes the plan lapse too.
  const earlier = before === undefined ? undefined : FrozenMessage.parse(before);
  const frozen: FrozenMessage = {
    to,
    contact_id: contact?.id ?? null,
    inbox_id: inbox.id,
    content,
    price,
    after: earlier?.after ?? (await readLastMessage(tx, conversation)),
    planned_by: actor.id,
  };
  const text = textOf(content);
  const name = contact?.name ?? null;
  const target = { contact_id: contact?.id ?? null, to, name, text, reason: null, frozen: null };
  return {
    summary: `Send a message to ${nameInSummary({ name, to })} from ${inbox.phone_number}`,
    targets: [target],
    addresses: addressesIn(content),
    price,
    warnings,
    subjects: [to, ...(conversation ? [conversation.id] : [])],
    frozen,
  };
}

/** Customers choose their names: quoted, a name can't be taken for a part of the sentence. */
export function nameInSummary({ name, to }: { readonly name: string | null; readonly to: string }): string {
  return name === null ? to : JSON.stringify(name);
}

/** Sends the message that was planned. @throws Failure `plan_changed`, `plan_lapsed`. */
export function sendPlanned(
  input: MessageInput,
  context: OrganizationChange,
  { frozen, files }: Required<EarlierPlan>,
) {
  return sendAlone(input, context, { planned: FrozenMessage.parse(frozen), files });
}

/** Without a lock on the wallet: the run checks the balance again. */
async function requireAvailable(
  { tx, world, organization }: OrganizationChange,
  { simulated, amount }: { readonly simulated: boolean; readonly amount: number },
): Promise<void> {
  const account = { organization, simulated };
  if ((await readAvailable(tx, world, account)) < amount) {
    throw await failInsufficient(tx, world, { ...account, required: amount });
  }
}

type Interactive = NonNullable<MessageRow["content"]["interactive"]>;

/** The addresses of files elsewhere, which may be others when the plan runs. */
function addressesIn(content: MessageRow["content"]): readonly string[] {
  const { media, template, interactive, header_upload: upload } = content;
  const header = template?.header;
  const files = [
    media ?? [],
    header && "media" in header ? header.media : [],
    ...(template?.cards ?? []).map((card) => card.header.media),
    interactive?.header_media ? { url: interactive.header_media.url, upload } : [],
  ].flat();
  return files.flatMap(({ upload, url }) => (upload === undefined ? url : []));
}

function textsOfInteractive({ header, body, link, form, order_details }: Interactive) {
  const order = order_details && `[${order_details.total} ${order_details.currency}]`;
  return [header, body, link && `[${link.title}: ${link.url}]`, form && `[${form.button}]`, order];
}

/** What the person would read. */
function textOf({ text, media, interactive, template, summary }: MessageRow["content"]): string {
  const parts = [
    text?.body,
    media?.caption,
    media && `[${media.file_name ?? "file"}]`,
    ...(interactive ? textsOfInteractive(interactive) : []),
    template && textOfTemplate(template),
    summary,
  ];
  return parts.filter((part) => typeof part === "string" && part !== "").join("\n");
}
