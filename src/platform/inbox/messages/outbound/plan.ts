/** Plans a message: reads and checks what sending reads and checks, and writes nothing. */
import { fail } from "../../../../../tools/errors.ts";
import { textOfTemplate } from "../../../content/templates/index.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { failInsufficient, readAvailable } from "../../../money/wallet/index.ts";
import type { MessageRow } from "../progress.ts";
import type { MessageInput } from "./content.ts";
import { FrozenMessage, priceOfCharge, readLastMessage } from "./frozen-message.ts";
import { readMessage, sendAlone } from "./send.ts";

export async function planMessage(input: MessageInput, context: OrganizationChange) {
  const { tx, actor } = context;
  const { to, recipient, content, charge, hold, warnings } = await readMessage(input, context);
  const { contact, inbox, conversation } = recipient;
  requireStoredFiles(content);
  if (hold?.isLimited) {
    await requireAvailable(context, hold);
  }
  const price = priceOfCharge(charge);
  const frozen: FrozenMessage = {
    to,
    contact_id: contact?.id ?? null,
    inbox_id: inbox.id,
    content,
    price,
    after: await readLastMessage(tx, conversation),
    planned_by: actor.id,
  };
  const text = textOf(content);
  const name = contact?.name ?? null;
  const target = { contact_id: contact?.id ?? null, to, name, text, reason: null, frozen: null };
  return {
    summary: `Send a message to ${name ?? to} from ${inbox.phone_number}`,
    targets: [target],
    price,
    warnings,
    subjects: [to, ...(conversation ? [conversation.id] : [])],
    frozen,
  };
}

/** Sends the message that was planned. @throws Failure `plan_changed`, `plan_lapsed`. */
export function sendPlanned(input: MessageInput, context: OrganizationChange, frozen: unknown) {
  return sendAlone(input, context, FrozenMessage.parse(frozen));
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

/** A file elsewhere may be another when the plan runs. @throws Failure `plan_needs_upload`. */
function requireStoredFiles({ media, template }: MessageRow["content"]): void {
  const header = template?.header;
  const files = [media ?? [], header && "media" in header ? header.media : []].flat();
  if (files.some(({ upload }) => upload === undefined)) {
    throw fail("plan_needs_upload");
  }
}

/** What the person would read. */
function textOf({ text, media, interactive, template }: MessageRow["content"]): string {
  const parts = [
    text?.body,
    media?.caption,
    media && `[${media.file_name ?? "file"}]`,
    interactive?.body,
    template && textOfTemplate(template),
  ];
  return parts.filter((part) => typeof part === "string" && part !== "").join("\n");
}
