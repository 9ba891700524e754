/**
 * Traces: one from a tool call to the channel, continued from the caller's, and without
 * delays by the collector.
 */
import { expect, test, vi } from "vitest";
import { simulatorCapabilities } from "../src/adapters/channel/capabilities.ts";
import { createRazorpay } from "../src/adapters/payments/razorpay/index.ts";
import { createInstruments, openTelemetry } from "../src/adapters/telemetry/index.ts";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { startTestApp } from "./support/app.ts";
import { callTool } from "./support/mcp-tool.ts";
import { type CollectedSpan, startTraceCollector } from "./support/trace-collector.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;
const send = { to: "+14155550123", type: "text", text: { body: "A secret word" } } as const;

test("a tool call, its request, its job and the channel are one trace", async () => {
  await using collector = await startTraceCollector();
  {
    await using app = await startTestApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    await callTool(app, "send_message", { to: send.to, body: send.text.body });
    await app.runDueJobs();
  }
  expect(pathTo("send by simulator", collector.spans)).toEqual([
    "/mcp",
    "tools/call send_message",
    "send_message",
    "call send_message",
    "enqueue message.deliver",
    "job message.deliver",
    "send by simulator",
  ]);
  expect(new Set(collector.spans.map((span) => span.traceId)).size).toBe(1);
  expect(collector.text).not.toMatch(/415555|secret word|sk_live|msg_|con_/);
});

test("the caller's trace is continued: from a header, and from the meta of a tool call", async () => {
  await using collector = await startTraceCollector();
  {
    await using app = await startTestApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` } });
    await app.call(contacts.list_contacts, {}, { headers: { traceparent } });
    await callTool(app, "list_contacts", {}, { traceparent });
    await app.fetch("/v1/contacts", { headers: { traceparent: "00-nonsense-01" } });
    await app.fetch("/v1/contacts", { headers: { traceparent: traceparent.replace(/1$/, "0") } });
  }
  const continued = collector.spans.filter((span) => span.parentSpanId === spanId);
  expect(continued.map(({ name }) => name).sort()).toEqual(["list_contacts", "tools/call list_contacts"]);
  expect(continued.map((span) => span.traceId)).toEqual([traceId, traceId]);
  // An invalid header starts a new trace; a trace that the caller does not sample is not sent.
  expect(collector.spans.filter(({ name }) => name === "list_contacts")).toHaveLength(3);
});

test("the environment names the service and its attributes", async () => {
  vi.stubEnv("OTEL_SERVICE_NAME", "chat");
  vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=staging");
  await using collector = await startTraceCollector();
  try {
    await using app = await startTestApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    await app.fetch("/v1/contacts");
  } finally {
    vi.unstubAllEnvs();
  }
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  expect(JSON.parse(collector.text).resourceSpans[0].resource.attributes).toEqual([
    attribute("deployment.environment", "staging"),
    attribute("service.name", "chat"),
    attribute("service.version", expect.any(String)),
  ]);
});

test("a failed span contains only the error code", async () => {
  await using collector = await startTraceCollector();
  {
    await using app = await startTestApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    await app.fetch("/v1/contacts/con_none");
    await app.fetch("/healthz");
  }
  const failed = collector.spans.filter(({ status }) => status.code === 2).map(({ name }) => name);
  expect(failed).toEqual(["call get_contact"]);
  expect(collector.text).toContain("contact_not_found");
  expect(collector.text).not.toContain("con_none");
  expect(collector.spans.some(({ name }) => name === "/healthz")).toBe(false);
});

test("an unreachable or silent collector causes no failure or delay", async () => {
  await using silent = await startTraceCollector({ isSilent: true });
  const use = async (url: string) => {
    const app = await startTestApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
    await app.call(messages.send_message, send);
    await app.runDueJobs();
    const { data } = await app.call(contacts.list_contacts, {});
    expect(data).toHaveLength(1);
    await app[Symbol.asyncDispose]();
  };
  await Promise.all(["http://127.0.0.1:1", silent.url].map(use));
});

/** The names of the spans from the root to the span of this name. */
function pathTo(name: string, spans: readonly CollectedSpan[]): string[] {
  const names: string[] = [];
  let span = spans.find((one) => one.name === name);
  while (span) {
    names.unshift(span.name);
    const { parentSpanId } = span;
    span = spans.find((one) => one.spanId === parentSpanId);
  }
  return names;
}

test("each check of an inbox, and each call of the review authority and the payment processor is a span without the template's data", async () => {
  await using collector = await startTraceCollector();
  const telemetry = await openTelemetry({ isScraped: false, collector: collector.url, version: "1" });
  const inbox = { organization_id: "org_1", id: "inb_1", phone_number: "+15550000001" };
  const { ports } = createInstruments(telemetry, () => new Date());
  const settings = { baseUrl: "http://127.0.0.1:1", keyId: "rzp", keySecret: "s", webhookSecret: "w" };
  const { channels, payments } = ports({
    channels: {
      simulator: {
        capabilities: simulatorCapabilities,
        send: async () => expect.fail("nothing is sent"),
        find: async () => expect.fail("nothing is looked up"),
        check: async () => ({ outcome: "working", limits: null }),
        templates: {
          languages: [],
          statusOf: () => null,
          submit: async () => ({ outcome: "accepted", external_id: "1" }),
          list: async () => ({ templates: [], next: null }),
          delete: async () => ({ outcome: "deleted" }),
        },
      },
    },
    payments: { ...createRazorpay(settings), findPayment: async () => undefined },
  });
  const instrumented = channels.simulator?.templates ?? expect.fail("there is no authority");
  const { signal } = new AbortController();
  await channels.simulator?.check({ address: "+15550000001", account: undefined }, { signal });
  const version = { category: "utility" as const, template_data: { body: "A secret word" }, variables: [] };
  const template = { inbox, name: "secret_name", language: "en", external_id: null, ...version };
  expect(await instrumented.submit(template, signal)).toEqual({ outcome: "accepted", external_id: "1" });
  expect(await instrumented.list({ inbox, cursor: null }, signal)).toEqual({ templates: [], next: null });
  expect(await instrumented.delete({ ...template, external_id: "1" }, signal)).toEqual({
    outcome: "deleted",
  });
  await payments.findPayment({ organization_id: "org_1", payment_id: "pay_secret" }, signal);
  await telemetry.close();
  expect(collector.spans.map(({ name }) => name).sort()).toEqual([
    "check by simulator",
    "delete templates at simulator",
    "find payment at razorpay",
    "list templates at simulator",
    "submit templates at simulator",
  ]);
  expect(collector.text).not.toMatch(/secret|15550000001|org_1|inb_1/);
});
