/** The alerts. docs/runbook.md has a section for each, with what it means and what to do. */

export interface Alert {
  readonly name: string;
  /** page: a person must act now. ticket: a person must act on the next working day. */
  readonly severity: "page" | "ticket";
  readonly expr: string;
  /** How long the expression must hold. */
  readonly for: string;
  /** With templates of Prometheus. */
  readonly summary: string;
}

export const alerts: readonly Alert[] = [
  {
    name: "TidingsUnavailable",
    severity: "page",
    expr: 'sum(up{job="tidings"}) == 0 or absent(up{job="tidings"})',
    for: "1m",
    summary: "No process of Tidings answers.",
  },
  {
    name: "TidingsProcessDown",
    severity: "ticket",
    expr: 'up{job="tidings"} == 0',
    for: "5m",
    summary: "The process {{ $labels.instance }} does not answer.",
  },
  {
    name: "TidingsRestarts",
    severity: "ticket",
    expr: 'changes(process_start_time_seconds{job="tidings"}[30m]) > 2',
    for: "0m",
    summary: "The process {{ $labels.instance }} started {{ $value }} times in 30 minutes.",
  },
  {
    name: "TidingsVersionsDiffer",
    severity: "ticket",
    expr: "count(count by (version) (tidings_build_info)) > 1",
    for: "1h",
    summary: "Processes of {{ $value }} versions have run for an hour.",
  },
  {
    name: "TidingsDatabaseDown",
    severity: "page",
    expr: "tidings_database_up == 0",
    for: "1m",
    summary: "The database does not answer {{ $labels.instance }}.",
  },
  {
    name: "TidingsDatabaseBusy",
    severity: "ticket",
    expr: 'min_over_time(tidings_database_connections{what="waiting"}[5m]) > 0',
    for: "5m",
    summary: "Requests of {{ $labels.instance }} have waited for a connection for ten minutes.",
  },
  {
    name: "TidingsClockDifference",
    severity: "ticket",
    expr: "abs(tidings_clock_difference_seconds) > 2",
    for: "5m",
    summary: "The clock of {{ $labels.instance }} is {{ $value }} seconds from the database's.",
  },
  {
    name: "TidingsRequestsFail",
    severity: "page",
    expr: "tidings:http_errors:ratio5m > 0.02",
    for: "5m",
    summary: "{{ $value | humanizePercentage }} of the requests are answered with 5xx.",
  },
  {
    name: "TidingsRequestsSlow",
    severity: "ticket",
    expr: "tidings:http_request_duration_seconds:p95_5m > 1",
    for: "10m",
    summary: "One request in 20 takes longer than {{ $value | humanizeDuration }}.",
  },
  {
    name: "TidingsJobsLate",
    severity: "page",
    expr: 'tidings:jobs_oldest_due_seconds:max{priority="normal",group!~"webhook|flow-call"} > 300',
    for: "5m",
    summary: "A job of {{ $labels.group }} has been due for {{ $value | humanizeDuration }}.",
  },
  {
    name: "TidingsReceiversLate",
    severity: "ticket",
    expr: 'tidings:jobs_oldest_due_seconds:max{priority="normal",group=~"webhook|flow-call"} > 1800',
    for: "15m",
    summary: "A job of {{ $labels.group }} has been due for {{ $value | humanizeDuration }}.",
  },
  {
    name: "TidingsBulkJobsLate",
    severity: "ticket",
    expr: 'tidings:jobs_oldest_due_seconds:max{priority="bulk"} > 14400',
    for: "15m",
    summary: "A message of a broadcast has been due for {{ $value | humanizeDuration }}.",
  },
  {
    name: "TidingsJobsDead",
    severity: "ticket",
    expr: "tidings:jobs_dead:max - (tidings:jobs_dead:max offset 1h or tidings:jobs_dead:max * 0) > 0",
    for: "0m",
    summary: "{{ $value }} jobs {{ $labels.name }} have failed for the last time within an hour.",
  },
  {
    name: "TidingsSendsFail",
    severity: "page",
    expr: 'tidings:channel_failures:ratio15m{channel!="simulator"} > 0.2 and sum by (channel) (increase(tidings_channel_sends_total[15m])) > 20',
    for: "5m",
    summary:
      "The channel {{ $labels.channel }} does not accept {{ $value | humanizePercentage }} of the messages.",
  },
  {
    name: "TidingsReceiptsMissing",
    severity: "page",
    expr: 'sum(increase(tidings_channel_sends_total{channel!="simulator",outcome="accepted"}[30m])) > 20 unless sum(increase(tidings_messages_total{state=~"delivered|read"}[30m])) > 0',
    for: "10m",
    summary: "Messages were accepted by the channel, but none was reported as delivered for 30 minutes.",
  },
  {
    name: "TidingsWebhooksFail",
    severity: "ticket",
    expr: "tidings:webhook_failures:ratio15m > 0.5 and sum(increase(tidings_webhook_deliveries_total[15m])) > 20",
    for: "15m",
    summary: "{{ $value | humanizePercentage }} of the attempts at webhook deliveries fail.",
  },
  {
    name: "TidingsWebhookDeliveriesLost",
    severity: "ticket",
    expr: "sum(increase(tidings_webhook_deliveries_failed_total[1h])) > 0",
    for: "0m",
    summary: "Webhook deliveries have failed for the last time within an hour.",
  },
  {
    name: "TidingsEventLoopSlow",
    severity: "ticket",
    expr: 'nodejs_eventloop_lag_p99_seconds{job="tidings"} > 0.5',
    for: "10m",
    summary: "The event loop of {{ $labels.instance }} is blocked for {{ $value | humanizeDuration }}.",
  },
  {
    name: "TidingsMemoryHigh",
    severity: "ticket",
    expr: 'process_resident_memory_bytes{job="tidings"} > 1.5e9',
    for: "15m",
    summary: "The process {{ $labels.instance }} uses {{ $value | humanize1024 }}B of memory.",
  },
  {
    name: "TidingsFilesExhausted",
    severity: "ticket",
    expr: 'process_open_fds{job="tidings"} / process_max_fds{job="tidings"} > 0.8',
    for: "10m",
    summary:
      "The process {{ $labels.instance }} has {{ $value | humanizePercentage }} of its files and sockets open.",
  },
];
