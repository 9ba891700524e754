/** Each alert fires on series that show the problem, and not on series that come near it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { alerts } from "../scripts/docs/monitoring/alerts.ts";
import { hasProgram, runProgram } from "./support/installed-program.ts";

/** By series, the value of each minute in promtool's notation: `0+2x60` rises by 2 a minute for an hour. */
type Series = Readonly<Record<string, string>>;

interface AlertCase {
  readonly fires: Series;
  readonly silent: Series;
  /** Labels of the alert, beside the severity. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
}

const job = 'job="tidings"';
const [a, b] = [`instance="a",${job}`, `instance="b",${job}`];
const ofA = { instance: "a", job: "tidings" };

/** When the alerts are evaluated. */
const at = "90m";

const cases: Readonly<Record<string, AlertCase>> = {
  TidingsUnavailable: {
    fires: { [`up{${a}}`]: "1x80 0x20", [`up{${b}}`]: "0x100" },
    silent: { [`up{${a}}`]: "1x100", [`up{${b}}`]: "0x100" },
    summary: "No process of Tidings answers.",
  },
  TidingsProcessDown: {
    fires: { [`up{${a}}`]: "1x80 0x20", [`up{${b}}`]: "1x100" },
    // A restart.
    silent: { [`up{${a}}`]: "1x86 0x2 1x20", [`up{${b}}`]: "1x100" },
    labels: ofA,
    summary: "The process a does not answer.",
  },
  TidingsRestarts: {
    fires: { [`process_start_time_seconds{${a}}`]: "1x65 2x5 3x5 4x30" },
    silent: { [`process_start_time_seconds{${a}}`]: "1x65 2x10 3x30" },
    labels: ofA,
    summary: "The process a started 3 times in 30 minutes.",
  },
  TidingsVersionsDiffer: {
    fires: {
      [`tidings_build_info{${a},version="1"}`]: "1x100",
      [`tidings_build_info{${b},version="2"}`]: "1x100",
    },
    // A deployment.
    silent: {
      [`tidings_build_info{${a},version="1"}`]: "1x80 _x20",
      [`tidings_build_info{${a},version="2"}`]: "_x80 1x20",
      [`tidings_build_info{${b},version="2"}`]: "1x100",
    },
    summary: "Processes of 2 versions have run for an hour.",
  },
  TidingsDatabaseDown: {
    fires: { [`tidings_database_up{${a}}`]: "1x80 0x20" },
    silent: { [`tidings_database_up{${a}}`]: "1x89 0x20" },
    labels: ofA,
    summary: "The database does not answer a.",
  },
  TidingsDatabaseBusy: {
    fires: { [`tidings_database_connections{${a},what="waiting"}`]: "0x70 5x30" },
    silent: { [`tidings_database_connections{${a},what="waiting"}`]: "0x70 5x8 0 5x30" },
    labels: { ...ofA, what: "waiting" },
    summary: "Requests of a have waited for a connection for ten minutes.",
  },
  TidingsClockDifference: {
    fires: { [`tidings_clock_difference_seconds{${a}}`]: "-3x100" },
    silent: { [`tidings_clock_difference_seconds{${a}}`]: "-1.5x100" },
    labels: ofA,
    summary: "The clock of a is 3 seconds from the database's.",
  },
  TidingsRequestsFail: {
    fires: {
      [`tidings_http_requests_total{${a},operation="send_message",status="2xx"}`]: "0+90x100",
      [`tidings_http_requests_total{${a},operation="send_message",status="5xx"}`]: "0+10x100",
      // Health checks hide no errors.
      [`tidings_http_requests_total{${a},operation="/readyz",status="2xx"}`]: "0+900x100",
      // Nor do the requests over MCP, which are counted as their operations too.
      [`tidings_http_requests_total{${a},operation="/mcp",status="2xx"}`]: "0+100x100",
    },
    silent: {
      [`tidings_http_requests_total{${a},operation="send_message",status="2xx"}`]: "0+90x100",
      [`tidings_http_requests_total{${a},operation="send_message",status="4xx"}`]: "0+50x100",
      [`tidings_http_requests_total{${a},operation="send_message",status="5xx"}`]: "0+1x100",
    },
    summary: "10% of the requests are answered with 5xx.",
  },
  TidingsRequestsSlow: {
    fires: {
      [`tidings_http_request_duration_seconds_bucket{${a},operation="list_contacts",le="1"}`]: "0+90x100",
      [`tidings_http_request_duration_seconds_bucket{${a},operation="list_contacts",le="2.5"}`]: "0+100x100",
      [`tidings_http_request_duration_seconds_bucket{${a},operation="list_contacts",le="+Inf"}`]: "0+100x100",
    },
    // Only calls that wait are slow.
    silent: {
      [`tidings_http_request_duration_seconds_bucket{${a},operation="list_contacts",le="1"}`]: "0+100x100",
      [`tidings_http_request_duration_seconds_bucket{${a},operation="list_contacts",le="+Inf"}`]: "0+100x100",
      [`tidings_http_request_duration_seconds_bucket{${a},operation="wait_for_message",le="1"}`]: "0x100",
      [`tidings_http_request_duration_seconds_bucket{${a},operation="wait_for_message",le="+Inf"}`]:
        "0+100x100",
      [`tidings_http_request_duration_seconds_bucket{${a},operation="send_message",le="1"}`]: "0x100",
      [`tidings_http_request_duration_seconds_bucket{${a},operation="send_message",le="+Inf"}`]: "0+100x100",
      [`tidings_http_request_duration_seconds_bucket{${a},operation="/mcp",le="1"}`]: "0x100",
      [`tidings_http_request_duration_seconds_bucket{${a},operation="/mcp",le="+Inf"}`]: "0+100x100",
    },
    summary: "One request in 20 takes longer than 1.75s.",
  },
  TidingsJobsLate: {
    fires: {
      [`tidings_jobs_oldest_due_seconds{${a},group="channel",priority="normal"}`]: "0+60x100",
      [`tidings_jobs_oldest_due_seconds{${b},group="channel",priority="normal"}`]: "0+60x100",
    },
    // A broadcast, and a receiver that does not answer.
    silent: {
      [`tidings_jobs_oldest_due_seconds{${a},group="webhook",priority="normal"}`]: "0+60x100",
      [`tidings_jobs_oldest_due_seconds{${a},group="channel",priority="bulk"}`]: "0+60x100",
      [`tidings_jobs_oldest_due_seconds{${a},group="channel",priority="normal"}`]: "200x100",
    },
    labels: { group: "channel", priority: "normal" },
    summary: "A job of channel has been due for 1h 30m 0s.",
  },
  TidingsReceiversLate: {
    fires: { [`tidings_jobs_oldest_due_seconds{${a},group="webhook",priority="normal"}`]: "0+60x100" },
    silent: {
      [`tidings_jobs_oldest_due_seconds{${a},group="webhook",priority="normal"}`]: "1200x100",
      [`tidings_jobs_oldest_due_seconds{${a},group="channel",priority="normal"}`]: "0+60x100",
    },
    labels: { group: "webhook", priority: "normal" },
    summary: "A job of webhook has been due for 1h 30m 0s.",
  },
  TidingsBulkJobsLate: {
    fires: { [`tidings_jobs_oldest_due_seconds{${a},group="channel",priority="bulk"}`]: "18000x100" },
    silent: { [`tidings_jobs_oldest_due_seconds{${a},group="channel",priority="bulk"}`]: "7200x100" },
    labels: { group: "channel", priority: "bulk" },
    summary: "A message of a broadcast has been due for 5h 0m 0s.",
  },
  TidingsJobsDead: {
    fires: { [`tidings_jobs_dead{${a},name="message.deliver"}`]: "_x70 2x30" },
    silent: { [`tidings_jobs_dead{${a},name="message.deliver"}`]: "2x100" },
    labels: { name: "message.deliver" },
    summary: "2 jobs message.deliver have failed for the last time within an hour.",
  },
  TidingsSendsFail: {
    fires: {
      [`tidings_channel_sends_total{${a},channel="whatsapp",outcome="accepted"}`]: "0+6x100",
      [`tidings_channel_sends_total{${a},channel="whatsapp",outcome="stopped"}`]: "0+4x100",
    },
    // Few messages, and simulated ones.
    silent: {
      [`tidings_channel_sends_total{${a},channel="whatsapp",outcome="accepted"}`]: "0+0.5x100",
      [`tidings_channel_sends_total{${a},channel="whatsapp",outcome="refused"}`]: "0+0.5x100",
      [`tidings_channel_sends_total{${a},channel="simulator",outcome="refused"}`]: "0+50x100",
    },
    labels: { channel: "whatsapp" },
    summary: "The channel whatsapp does not accept 40% of the messages.",
  },
  TidingsReceiptsMissing: {
    fires: {
      [`tidings_channel_sends_total{${a},channel="whatsapp",outcome="accepted"}`]: "0+6x100",
      [`tidings_messages_total{${a},state="sent"}`]: "0+6x100",
      [`tidings_messages_total{${a},state="delivered"}`]: "300x100",
    },
    silent: {
      [`tidings_channel_sends_total{${a},channel="whatsapp",outcome="accepted"}`]: "0+6x100",
      [`tidings_messages_total{${b},state="delivered"}`]: "0+1x100",
    },
    summary: "Messages were accepted by the channel, but none was reported as delivered for 30 minutes.",
  },
  TidingsWebhooksFail: {
    fires: {
      [`tidings_webhook_deliveries_total{${a},outcome="delivered"}`]: "0+2x100",
      [`tidings_webhook_deliveries_total{${a},outcome="refused"}`]: "0+3x100",
      [`tidings_webhook_deliveries_total{${a},outcome="unreachable"}`]: "0+5x100",
    },
    silent: {
      [`tidings_webhook_deliveries_total{${a},outcome="delivered"}`]: "0+6x100",
      [`tidings_webhook_deliveries_total{${a},outcome="unreachable"}`]: "0+4x100",
    },
    summary: "80% of the attempts at webhook deliveries fail.",
  },
  TidingsWebhookDeliveriesLost: {
    fires: { [`tidings_webhook_deliveries_failed_total{${a}}`]: "0x70 1x30" },
    silent: { [`tidings_webhook_deliveries_failed_total{${a}}`]: "5x100" },
    summary: "Webhook deliveries have failed for the last time within an hour.",
  },
  TidingsEventLoopSlow: {
    fires: { [`nodejs_eventloop_lag_p99_seconds{${a}}`]: "0.8x100" },
    silent: { [`nodejs_eventloop_lag_p99_seconds{${a}}`]: "0.02x85 0.8x3 0.02x20" },
    labels: ofA,
    summary: "The event loop of a is blocked for 800ms.",
  },
  TidingsMemoryHigh: {
    fires: { [`process_resident_memory_bytes{${a}}`]: "2147483648x100" },
    silent: { [`process_resident_memory_bytes{${a}}`]: "1e9x100" },
    labels: ofA,
    summary: "The process a uses 2GiB of memory.",
  },
  TidingsFilesExhausted: {
    fires: { [`process_open_fds{${a}}`]: "900x100", [`process_max_fds{${a}}`]: "1000x100" },
    silent: { [`process_open_fds{${a}}`]: "700x100", [`process_max_fds{${a}}`]: "1000x100" },
    labels: ofA,
    summary: "The process a has 90% of its files and sockets open.",
  },
};

test("every alert has its cases", () => {
  expect(Object.keys(cases)).toEqual(alerts.map(({ name }) => name));
});

describe.skipIf(!hasProgram("promtool"))("promtool (skipped if it is not installed)", () => {
  test("finds that each alert fires in its first case, and not in its second one", async () => {
    const result = await testRules(
      alerts.flatMap(({ name, severity }) => {
        const { fires, silent, labels, summary } = cases[name] ?? { fires: {}, silent: {}, summary: "" };
        const annotations = {
          summary,
          runbook_url: `https://tidings.example.com/docs/runbook#${name.toLowerCase()}`,
        };
        return [
          toTest(`${name} fires`, name, fires, [
            { exp_labels: { severity, ...labels }, exp_annotations: annotations },
          ]),
          toTest(`${name} is silent`, name, silent, []),
        ];
      }),
    );
    expect(result).toEqual({ code: 0, output: expect.stringContaining("SUCCESS") });
  });

  test("finds that no other alert fires while the service works", async () => {
    const series = Object.assign(
      {},
      ...["TidingsRequestsFail", "TidingsWebhooksFail"].map((name) => cases[name]?.silent),
    );
    const working = { [`up{${a}}`]: "1x100", [`tidings_database_up{${a}}`]: "1x100", ...series };
    const result = await testRules(alerts.map(({ name }) => toTest(name, name, working, [])));
    expect(result).toEqual({ code: 0, output: expect.stringContaining("SUCCESS") });
  });
});

function toTest(name: string, alertname: string, series: Series, expected: readonly object[]) {
  return {
    name,
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: at, alertname, exp_alerts: expected }],
  };
}

async function testRules(tests: readonly object[]) {
  const folder = await mkdtemp(join(tmpdir(), "tidings-monitoring-"));
  try {
    const file = join(folder, "tests.yml");
    const rule_files = [resolve("deploy/monitoring/tidings-rules.yml")];
    // Otherwise promtool chooses the order, and alerts may see the recorded value of the minute before.
    const group_eval_order = ["tidings-recorded", "tidings-alerts"];
    // YAML contains JSON.
    await writeFile(file, JSON.stringify({ rule_files, evaluation_interval: "1m", group_eval_order, tests }));
    return await runProgram("promtool", ["test", "rules", file]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
