/**
 * Thirty simulated days with daylight saving in four zones: schedules, retries and
 * credentials keep their times.
 */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { retryDelaysMs } from "../src/platform/automation/webhooks/schedule.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { webhooks } from "../tools/webhooks.ts";
import { startTestApp } from "./support/app.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createFlowHelpers } from "./support/flows.ts";
import { modulesWithRareUpkeep } from "./support/rare-upkeep.ts";
import { openPhone } from "./support/simulator.ts";
import { createUserWithRole, signIn } from "./support/users.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

const [second, hour, day] = [1_000, 3_600_000, 24 * 3_600_000];
const start = Date.parse("2026-03-07T00:00:00Z");
const end = Date.parse("2026-04-07T00:00:00Z");

/** A daily time, and what it is in UTC until a change of the clocks, at it, and afterwards. */
const schedules = [
  // 02:30 does not exist on 8 March: the first minute after the change.
  {
    zone: "America/New_York",
    pattern: "30 2 * * *",
    until: "2026-03-07",
    before: "07:30",
    change: "2026-03-08T07:00:00.000Z",
    after: "06:30",
  },
  // The same on 29 March.
  {
    zone: "Europe/Berlin",
    pattern: "30 2 * * *",
    until: "2026-03-28",
    before: "01:30",
    change: "2026-03-29T01:00:00.000Z",
    after: "00:30",
  },
  // 02:30 comes twice on 5 April: the first time counts.
  {
    zone: "Australia/Sydney",
    pattern: "30 2 * * *",
    until: "2026-04-03",
    before: "15:30",
    change: "2026-04-04T15:30:00.000Z",
    after: "16:30",
  },
  // 23:30 comes twice on 4 April.
  {
    zone: "America/Santiago",
    pattern: "30 23 * * *",
    until: "2026-04-04",
    before: "02:30",
    change: "2026-04-05T02:30:00.000Z",
    after: "03:30",
  },
] as const;

function expectedTimes({ until, before, change, after }: (typeof schedules)[number]): string[] {
  const days = Array.from({ length: 32 }, (_, index) =>
    new Date(start + index * day).toISOString().slice(0, 10),
  );
  const times = days.map((date) =>
    date <= until ? `${date}T${before}:00.000Z` : `${date}T${after}:00.000Z`,
  );
  return [...times.filter((time) => time.slice(0, 10) !== change.slice(0, 10)), change]
    .filter((time) => Date.parse(time) > start && Date.parse(time) <= end)
    .sort();
}

test("every schedule, retry and expiry of thirty days has its time", async () => {
  await using app = await startTestApp({
    startsAt: new Date(start),
    env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" },
    enabledModules: modulesWithRareUpkeep(),
  });
  await using receiver = await startWebhookReceiver();
  const { create } = createFlowHelpers(app);
  const { id: cohort_id } = await createBroadcastHelpers(app).fillCohort(1);
  const flows = await Promise.all(
    schedules.map(({ zone, pattern }) =>
      create([{ id: "end", node_type: "end" }], {
        trigger_type: "schedule",
        trigger_keyword: undefined,
        settings: { cohort_id },
        trigger_schedule: pattern,
        trigger_schedule_timezone: zone,
      }),
    ),
  );

  const attempts: number[] = [];
  const { data: webhook } = await app.call(webhooks.create_webhook, {
    url: receiver.url,
    events: ["message.received"],
  });
  receiver.secret = webhook.signing_secret;
  receiver.respond = () => {
    attempts.push(app.now().getTime());
    return { status: attempts.length <= retryDelaysMs.length ? 503 : 200 };
  };
  await openPhone(app, "+14155550177").write("hello");
  await app.runDueJobs();

  const keyEnds = start + 10 * day + 12 * hour;
  const { data: key } = await app.call(apiKeys.create_api_key, {
    name: "Ten days",
    scopes: ["contacts:read"],
    expires_at: new Date(keyEnds).toISOString(),
  });
  const { email } = await createUserWithRole(app, "agent");
  const session = await signIn(app, email);
  const credentials = [
    { key: key.secret_key, endsAt: keyEnds },
    { key: session.access_token, endsAt: start + session.expires_in * second },
  ];
  const refreshEnds = start + session.refresh_expires_in * second;

  const checks = [...credentials.map(({ endsAt }) => endsAt), refreshEnds, end].flatMap((time) => [
    time - second,
    time,
  ]);
  const advanceTo = (time: number) => app.advanceTime(time - app.now().getTime());
  while (app.now().getTime() < end) {
    const now = app.now().getTime();
    const { rows } = await sql<{ due: string }>`
      select min(due) as due from (
        select next_run_at as due from flows union all select run_at from jobs where name = 'webhook.deliver'
      ) as due
    `.execute(app.server.database.queries);
    const later = [Date.parse(rows[0]?.due ?? ""), ...checks].filter((time) => time > now);
    await advanceTo(Math.min(...later, end));
    const isCheck = checks.includes(app.now().getTime());
    for (const { key: secret, endsAt } of isCheck ? credentials : []) {
      const list = () => app.call(contacts.list_contacts, {}, { key: secret });
      if (app.now().getTime() < endsAt) {
        await list();
      } else {
        expect(await expectFailure(list())).toMatchObject({ status: 401 });
      }
    }
    if (app.now().getTime() === refreshEnds) {
      const refresh = app.call(auth.refresh, { refresh_token: session.refresh_token });
      expect(await expectFailure(refresh)).toMatchObject({ code: "refresh_token_invalid" });
    }
  }

  for (const [index, schedule] of schedules.entries()) {
    const { rows } = await sql<{ at: string }>`
      select created_at as at from flow_runs where flow_id = ${flows[index]?.id ?? ""} order by created_at
    `.execute(app.server.database.queries);
    expect(
      rows.map(({ at }) => new Date(at).toISOString()),
      schedule.zone,
    ).toEqual(expectedTimes(schedule));
  }
  expect(attempts).toHaveLength(retryDelaysMs.length + 1);
  for (const [index, delayMs] of retryDelaysMs.entries()) {
    const waited = (attempts[index + 1] ?? 0) - (attempts[index] ?? 0);
    expect(Math.abs(waited - delayMs)).toBeLessThanOrEqual(Math.max(delayMs * 0.2, 60 * second));
  }
}, 120_000);
