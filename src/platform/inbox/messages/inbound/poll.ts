/**
 * Asks the providers that do not report what their accounts receive.
 *
 * Each account has one job, which asks repeatedly. A scheduled job adds it for new accounts, and for accounts
 * whose job has failed too often. The cursor of a page is stored after the page's updates, so a page may be
 * received twice, which has no effect.
 */
import { z } from "zod";
import { columnsOf, rowsOf } from "../../../../database/query/index.ts";
import { newJob } from "../../../../jobs/job.ts";
import type { UpdatePage } from "../../../../ports/channel/channel.ts";
import { withDeadline } from "../../../../time/deadline.ts";
import { providerOf, readAccount, storeCursor } from "../../../account/inboxes/index.ts";
import { defineJob, defineScheduledJob } from "../../../foundation/kernel/index.ts";
import { receiveUpdates } from "./updates.ts";

const timeoutMs = 30_000;

/** The time until a provider that did not answer is asked again. */
const retryMs = 30_000;

const keyPrefix = "inbox.poll:";

export const pollInboxJob = defineJob({
  name: "inbox.poll",
  payload: z.object({ organization_id: z.string(), inbox_id: z.string() }),

  async run(inbox, world, attempt) {
    const found = await readAccount(world.database.queries, world, inbox);
    const polling = found && providerOf(world, found.channel)?.polling;
    if (!polling) {
      return undefined;
    }
    const { account, cursor } = found;
    let page: UpdatePage;
    try {
      page = await withDeadline(timeoutMs, [attempt.signal], ({ signal }) =>
        polling.readUpdates(account, cursor, signal),
      );
    } catch (error) {
      attempt.signal.throwIfAborted();
      world.log.warn({ err: error, ...inbox }, "A channel could not be asked for new messages");
      return { runAgainAt: new Date(world.now().getTime() + retryMs) };
    }
    await receiveUpdates(world, { ...inbox, ...found }, page.updates);
    if (page.cursor !== cursor) {
      const { account_id } = account;
      await world.database.transaction((tx) =>
        storeCursor(tx, inbox, { account_id, from: cursor, to: page.cursor }),
      );
    }
    return { runAgainAt: new Date(world.now().getTime() + (page.hasMore ? 0 : polling.intervalMs)) };
  },
});

export const startPollingJob = defineScheduledJob({
  name: "inbox.start-polling",
  schedule: "* * * * *",

  async run(world) {
    const polled = Object.entries(world.channels).flatMap(([name, { provider }]) =>
      provider?.polling ? [name] : [],
    );
    if (polled.length === 0) {
      return;
    }
    await world.database.transaction(async (tx) => {
      const { rows: inboxes } = await rowsOf(columnsOf("inbox_accounts", "organization_id", "inbox_id"))`
        select account.organization_id, account.inbox_id
        from inbox_accounts as account
        join inboxes on inboxes.organization_id = account.organization_id and inboxes.id = account.inbox_id
        where inboxes.channel = any(${polled}::text[])
          and not exists (select from jobs where jobs.key = ${keyPrefix}::text || account.inbox_id)
      `.execute(tx);
      await tx.enqueue(
        inboxes.map((inbox) => newJob(pollInboxJob, inbox, { key: `${keyPrefix}${inbox.inbox_id}` })),
      );
    });
  },
});
