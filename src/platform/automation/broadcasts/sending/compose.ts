/** Composes the messages of a batch, with what has changed since the execution. */
import type { ExclusionReason } from "../../../../../tools/broadcasts/index.ts";
import { Failure } from "../../../../../tools/contract/index.ts";
import type { SentTemplate } from "../../../../database/schema/index.ts";
import { capabilitiesOf } from "../../../account/inboxes/index.ts";
import {
  type ApprovedTemplate,
  createComposer,
  invalidValueCodes,
} from "../../../content/templates/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";

/** The contact of a recipient as it is now, and the values that the execution stored. */
interface RecipientState {
  readonly is_erased: boolean;
  readonly is_blocked: boolean;
  readonly opted_out: boolean;
  readonly variables: Readonly<Record<string, string>> | null;
}

export interface MessagesToCompose<Recipient extends RecipientState> {
  readonly broadcast: { readonly header_media_url: string | null };
  readonly inbox: { readonly channel: string };
  readonly recipients: readonly Recipient[];
  readonly template: ApprovedTemplate;
}

interface Composition {
  readonly content?: SentTemplate;
  readonly reason?: ExclusionReason;
}

type Composed<Recipient> = Composition & { readonly recipient: Recipient };

/** Undefined if the file of the header or of a card is gone. */
export async function composeMessages<Recipient extends RecipientState>(
  tx: Transaction,
  world: World,
  { broadcast, inbox, recipients, template }: MessagesToCompose<Recipient>,
): Promise<readonly Composed<Recipient>[] | undefined> {
  const { media } = capabilitiesOf(world, inbox);
  const composed: Composed<Recipient>[] = [];
  try {
    const compose = await createComposer(tx, { template, media }, broadcast.header_media_url ?? undefined);
    for (const recipient of recipients) {
      composed.push({ recipient, ...(await composeFor(recipient, compose)) });
    }
  } catch (error) {
    if (error instanceof Failure && error.code === "upload_not_found") {
      return undefined;
    }
    throw error;
  }
  return composed;
}

type Compose = Awaited<ReturnType<typeof createComposer>>;

/** The content for a recipient, or why there is none: the contact has changed since the execution. */
async function composeFor(
  { is_erased, is_blocked, opted_out, variables }: RecipientState,
  compose: Compose,
): Promise<Composition> {
  if (is_erased || is_blocked || opted_out) {
    return { reason: is_erased ? "erased" : is_blocked ? "blocked" : "opted_out" };
  }
  try {
    return { content: await compose(variables ?? {}) };
  } catch (error) {
    if (error instanceof Failure && isOfValue(error, Object.keys(variables ?? {}))) {
      return { reason: "invalid_value" };
    }
    throw error;
  }
}

/** A missing file is either a value of the recipient, or one of the template: then all messages lack it. */
function isOfValue({ code, detail }: Failure, names: readonly string[]): boolean {
  const isOwnFile = names.some((name) => detail.param === `template.variables.${name}`);
  return invalidValueCodes.includes(code) && (code !== "upload_not_found" || isOwnFile);
}
