/** Checks of the inboxes at their channels, which change nothing, beside what their last messages show. */
import type { OutputOf } from "../../../tools/contract/index.ts";
import { inboxes } from "../../../tools/inboxes.ts";
import { CallFailure, type Client } from "../../client/index.ts";
import { checkCallback } from "./callback.ts";
import { about, type Finding } from "./finding.ts";

/** Each check asks a channel, which can take seconds and counts against its limits. */
const maxChecked = 20;

type Inbox = Pick<
  OutputOf<typeof inboxes.list_inboxes>["data"][number],
  "id" | "phone_number" | "channel" | "health"
>;
type InboxCheck = Pick<OutputOf<typeof inboxes.check_inbox>["data"], "latency_ms" | "limits" | "problem">;

const { ok, warning, problem } = about("channel");

export async function checkInboxes(client: Client): Promise<readonly Finding[]> {
  const { data } = await client.call(inboxes.list_inboxes, {});
  const checked = data.slice(0, maxChecked).map(async (inbox) => {
    const check = await checkInbox(client, inbox);
    return [describeInbox(inbox, check), ...(await checkCallback(client, inbox))];
  });
  return [...(await Promise.all(checked)).flat(), ...describeRest(data.length - maxChecked)];
}

/** The result, or why the service did not check the inbox. */
async function checkInbox(client: Client, { id }: Inbox): Promise<InboxCheck | CallFailure> {
  try {
    return (await client.call(inboxes.check_inbox, { id })).data;
  } catch (error) {
    if (error instanceof CallFailure) {
      return error;
    }
    throw error;
  }
}

function describeRest(count: number): readonly Finding[] {
  const inboxesWere = count === 1 ? "inbox was" : "inboxes were";
  return count > 0
    ? [
        warning(
          `${count} more ${inboxesWere} not checked: a run checks the first ${maxChecked}.`,
          "Check one with check_inbox (POST /v1/inboxes/{id}/check).",
        ),
      ]
    : [];
}

/** The texts of a channel could have control characters for the terminal, so they are quoted. */
export function describeInbox(
  { id, phone_number, channel, health }: Inbox,
  check: InboxCheck | CallFailure,
): Finding {
  const inbox = `Inbox ${phone_number} (${channel})`;
  if (!(check instanceof CallFailure) && check.problem) {
    const { code, field, message, fix } = check.problem;
    const find = code === "channel_unreachable" ? warning : problem;
    const place = field === null ? "" : `, because of ${field}`;
    return find(`${inbox} can't use its channel${place}: ${JSON.stringify(message)}`, fix);
  }
  const reason = JSON.stringify(health.reason ?? `code ${health.code}`);
  if (health.status === "stopped") {
    return problem(
      `${inbox} can't send: ${reason}.`,
      "Correct the account at the channel, or the inbox's credentials.",
    );
  }
  if (health.status === "unreachable") {
    return warning(
      `${inbox} did not reach its channel: ${reason}.`,
      "Check the network. Messages are tried again.",
    );
  }
  return check instanceof CallFailure
    ? warning(`${inbox} could not be checked: ${check.message}`, `Call check_inbox with the id ${id}.`)
    : ok(`${inbox} works: its channel answered in ${check.latency_ms} ms${describeLimits(check.limits)}.`);
}

function describeLimits(limits: InboxCheck["limits"]): string {
  const { messaging_limit = null, quality = null } = limits ?? {};
  const parts = [
    ...(quality === null ? [] : [`quality ${quality}`]),
    ...(messaging_limit === null ? [] : [`${messaging_limit.toLocaleString("en")} people a day`]),
  ];
  return parts.map((part) => `, ${part}`).join("");
}
