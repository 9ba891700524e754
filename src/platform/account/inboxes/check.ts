/**
 * Checks an inbox: asks its channel whether it accepts the account. The inbox's health stays as it is,
 * because a message can be rejected for more reasons than a check can find.
 */
import type { OutputOf } from "../../../../tools/contract/index.ts";
import type { inboxes as contract } from "../../../../tools/inboxes.ts";
import type { ChannelFailure, CheckedInbox, CheckResult } from "../../../ports/channel/channel.ts";
import { withDeadline } from "../../../time/deadline.ts";
import type { ReadContext, World } from "../../foundation/kernel/index.ts";
import { readAccount } from "./accounts.ts";
import { channelOf } from "./channel.ts";
import { getInboxById } from "./find.ts";

/** A person waits for the result, and a channel that needs longer is not well. */
const timeoutMs = 5_000;

type InboxCheck = OutputOf<typeof contract.check_inbox>["data"];

/** @throws Failure `inbox_not_found`. */
export async function checkInbox(
  { id }: { readonly id: string },
  { db, world, organization, now, signal }: ReadContext,
): Promise<{ data: InboxCheck }> {
  const { channel, phone_number } = await getInboxById(db, organization, id);
  const found = await readAccount(db, world, { organization_id: organization, inbox_id: id });
  const startedAt = performance.now();
  const inbox = { id, channel, address: phone_number, account: found?.account };
  const result = await askChannel(world, inbox, signal);
  const problem = result.outcome === "working" ? null : explain(result);
  return {
    data: {
      inbox_id: id,
      ok: problem === null,
      checked_at: now.toISOString(),
      latency_ms: Math.round(performance.now() - startedAt),
      limits: result.outcome === "working" ? result.limits : null,
      problem,
    },
  };
}

interface InboxToCheck extends CheckedInbox {
  readonly id: string;
  readonly channel: string;
}

async function askChannel(world: World, inbox: InboxToCheck, signal: AbortSignal): Promise<CheckResult> {
  const { id: inbox_id, channel: name, address, account } = inbox;
  const channel = channelOf(world, name);
  if (channel.provider && !account) {
    // The secret of the service was replaced, and the credentials can't be opened any more.
    return { outcome: "refused", field: "", reason: "they can't be read any more." };
  }
  return withDeadline(timeoutMs, [signal], async (deadline) => {
    try {
      return await deadline.within(channel.check({ address, account }, { signal: deadline.signal }));
    } catch (error) {
      if (deadline.ended === "aborted") {
        throw error;
      }
      if (deadline.ended === "timeout") {
        return unavailable(`The channel did not answer within ${timeoutMs / 1000} seconds`);
      }
      world.log.warn({ err: error, inbox_id }, "An inbox could not be checked at its channel");
      return unavailable("The request to the channel failed; the log of the service says why");
    }
  });
}

type Rejection = Exclude<CheckResult, { outcome: "working" }>;

const unavailable = (title: string): Rejection => ({
  outcome: "unavailable",
  failure: { reason: "channel_unreachable", channel_code: null, title, detail: null },
});

function explain(result: Rejection): NonNullable<InboxCheck["problem"]> {
  if (result.outcome === "refused") {
    const field = result.field === "" ? "credentials" : `credentials.${result.field}`;
    return {
      code: "credentials_rejected",
      field,
      message: `The channel does not accept the credentials: ${result.reason}`,
      fix: "Compare them with the dashboard of the channel's provider, and send all of them again with update_inbox (PUT /v1/inboxes/{id}).",
    };
  }
  const message = describe(result.failure);
  return result.outcome === "stopped"
    ? {
        code: "account_rejected",
        field: null,
        message,
        fix: "Settle it in the dashboard of the channel's provider.",
      }
    : {
        code: "channel_unreachable",
        field: null,
        message,
        fix: "Try again in a minute. If it stays, check that the service's network reaches the provider.",
      };
}

function describe({ title, detail }: ChannelFailure): string {
  return `${[title, detail].filter(Boolean).join(": ")}.`.replace(/\.+$/, ".");
}
