/** The times of schedules in time zones: those over both changes of the clocks are written by hand. */
import { expect, test } from "vitest";
import { nextTime } from "../src/platform/automation/flows/schedule/next-time.ts";

/** The first times after an instant, in UTC to the minute. */
function timesOf(pattern: string, zone: string, { after, count }: { after: string; count: number }) {
  const times: string[] = [];
  let last = new Date(after);
  for (let n = 0; n < count; n += 1) {
    const next = nextTime(pattern, zone, last);
    if (!next) {
      break;
    }
    expect(next.getTime() % 60_000).toBe(0);
    times.push(next.toISOString().slice(5, 16));
    last = next;
  }
  return times;
}

const cases: readonly (readonly [string, string, string, readonly string[]])[] = [
  // 29 March 2026: 02:00 becomes 03:00, at 01:00 UTC. 25 October: 03:00 becomes 02:00, at 01:00 UTC.
  ["Europe/Berlin", "30 2 * * *", "2026-03-28T00:00Z", ["03-28T01:30", "03-29T01:00", "03-30T00:30"]],
  ["Europe/Berlin", "30 2 * * *", "2026-10-24T00:00Z", ["10-24T00:30", "10-25T00:30", "10-26T01:30"]],
  ["Europe/Berlin", "0 9 * * *", "2026-03-28T00:00Z", ["03-28T08:00", "03-29T07:00", "03-30T07:00"]],
  ["Europe/Berlin", "0 9 * * *", "2026-10-24T00:00Z", ["10-24T07:00", "10-25T08:00", "10-26T08:00"]],
  // All that is left out is one time, and 03:00 is that time.
  ["Europe/Berlin", "0,30 2,3 * * *", "2026-03-29T00:00Z", ["03-29T01:00", "03-29T01:30", "03-30T00:00"]],
  ["Europe/Berlin", "*/30 2 * * *", "2026-10-25T00:00Z", ["10-25T00:30", "10-26T01:00", "10-26T01:30"]],
  // By the time that passes: neither a second 03:30 nor an hour without one.
  ["Europe/Berlin", "30 * * * *", "2026-03-29T00:00Z", ["03-29T00:30", "03-29T01:30", "03-29T02:30"]],
  [
    "Europe/Berlin",
    "30 * * * *",
    "2026-10-24T23:00Z",
    ["10-24T23:30", "10-25T00:30", "10-25T01:30", "10-25T02:30"],
  ],
  // 8 March 2026: 02:00 becomes 03:00, at 07:00 UTC. 1 November: 02:00 becomes 01:00, at 06:00 UTC.
  ["America/New_York", "15 2 * * *", "2026-03-07T00:00Z", ["03-07T07:15", "03-08T07:00", "03-09T06:15"]],
  ["America/New_York", "15 1 * * *", "2026-10-31T00:00Z", ["10-31T05:15", "11-01T05:15", "11-02T06:15"]],
  [
    "America/New_York",
    "*/30 * * * *",
    "2026-11-01T05:00Z",
    ["11-01T05:30", "11-01T06:00", "11-01T06:30", "11-01T07:00"],
  ],
  ["America/New_York", "0 12 * * 0", "2026-03-02T00:00Z", ["03-08T16:00", "03-15T16:00"]],
  // By half an hour. 4 October 2026: 02:00 becomes 02:30, at 15:30 UTC. 5 April: 02:00 becomes
  // 01:30, at 15:00 UTC.
  ["Australia/Lord_Howe", "15 2 * * *", "2026-10-02T16:00Z", ["10-03T15:30", "10-04T15:15"]],
  ["Australia/Lord_Howe", "45 1 * * *", "2026-04-03T15:00Z", ["04-04T14:45", "04-05T15:15"]],
  ["Australia/Lord_Howe", "0 2 * * *", "2026-10-02T16:00Z", ["10-03T15:30", "10-04T15:00"]],
  // 4 November 2018: 00:00 becomes 01:00, at 03:00 UTC. 18 February: 00:00 becomes 23:00 of the day
  // before, at 02:00 UTC.
  ["America/Sao_Paulo", "0 0 * * *", "2018-11-03T04:00Z", ["11-04T03:00", "11-05T02:00"]],
  ["America/Sao_Paulo", "30 23 * * *", "2018-02-17T00:00Z", ["02-17T01:30", "02-18T01:30", "02-19T02:30"]],
  ["America/Sao_Paulo", "0 0 * * *", "2018-02-17T00:00Z", ["02-17T02:00", "02-18T03:00", "02-19T03:00"]],
  // Without changes.
  ["Asia/Kolkata", "30 2 * * *", "2026-03-28T00:00Z", ["03-28T21:00", "03-29T21:00", "03-30T21:00"]],
  ["Asia/Kolkata", "0 9 1 * *", "2026-10-15T00:00Z", ["11-01T03:30", "12-01T03:30"]],
  ["Asia/Kolkata", "*/20 * * * *", "2026-10-25T00:35Z", ["10-25T00:50", "10-25T01:10", "10-25T01:30"]],
  ["UTC", "0 9 29 2 *", "2026-01-01T00:00Z", ["02-29T09:00", "02-29T09:00"]],
];

test.each(cases)("in %s, %s after %s", (zone, pattern, after, expected) => {
  expect(timesOf(pattern, zone, { after, count: expected.length })).toEqual(expected);
});

test("in the second pass of an hour, a time of its first pass is over", () => {
  const times = timesOf("30 2 * * *", "Europe/Berlin", { after: "2026-10-25T01:10Z", count: 1 });
  expect(times).toEqual(["10-26T01:30"]);
});

test("after a time that was left out, it does not come again", () => {
  const times = timesOf("30 2 * * *", "Europe/Berlin", { after: "2026-03-29T01:00Z", count: 1 });
  expect(times).toEqual(["03-30T00:30"]);
});

test("over a year, each day has one time, and each hour another one", () => {
  for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]) {
    const daily = timesOf("30 2 * * *", zone, { after: "2026-01-01T23:00Z", count: 365 });
    expect(new Set(daily).size).toBe(365);
    const hourly = timesOf("0 * * * *", zone, { after: "2026-03-01T00:00Z", count: 24 * 40 });
    expect(new Set(hourly).size).toBe(24 * 40);
  }
});

test("a pattern that matches no day has no next time", () => {
  expect(nextTime("0 0 31 2 *", "Europe/Berlin", new Date("2026-01-01T00:00Z"))).toBeNull();
});
