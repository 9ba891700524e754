/** The settings: defaults, parsing, error messages, and values that are never printed. */
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { appSecrets, ConfigError, readConfig, settings } from "../src/config/index.ts";
import { allScopes } from "../tools/contract/index.ts";

const secret = "a secret that must never be shown";

test("without settings the service is embedded, on loopback, with the documented defaults", () => {
  expect(readConfig({})).toEqual({
    config: {
      host: "127.0.0.1",
      port: 3000,
      dataDir: join(homedir(), ".tidings"),
      databaseUrl: undefined,
      databaseStartWaitMs: 60_000,
      databaseWaitMs: 10_000,
      databasePoolSize: 10,
      drainDelayMs: 0,
      secret: undefined,
      previousSecret: undefined,
      isSecretLost: false,
      operatorKey: undefined,
      upstream: undefined,
      owner: { email: undefined, password: undefined, key: undefined },
      logLevel: "info",
      logFormat: "auto",
      rateLimits: { perSecond: 50, burst: 100 },
      quotas: {
        storedBytes: 10_240_000_000,
        apiKeys: 100,
        webhooks: 100,
        imports: 20,
        waitingCalls: 200,
        inboxes: 100,
        quickReplies: 500,
        templates: 6_000,
        routingPolicies: 100,
        teamMembers: 2_000,
        cohorts: 1_000,
        flows: 200,
        knowledgeDocuments: 1_000,
        knowledgeChunks: 20_000,
        knowledgeQaPairs: 5_000,
        knowledgeReadingSeconds: 600,
      },
      wallet: { mode: "off", creditLimit: 0 },
      retention: {
        receipts: 90,
        decisions: 90,
        assignments: 730,
        events: 30,
        imports: 30,
        deadJobs: 30,
        activity: 90,
      },
      allowedHosts: [],
      allowedOrigins: [],
      corsOrigins: [],
      trustedProxies: [],
      countries: { file: undefined, fallback: "US" },
      bodyLimit: 1_048_576,
      web: { allow: [], areLocalReceiversAllowed: false, areLocalSourcesAllowed: false },
      isSimulatorControllable: true,
      isClockMovable: false,
      telemetry: { token: undefined, collector: undefined },
      scopes: undefined,
      toolFilter: { toolsets: [], readOnly: false, allow: [], deny: [], mode: "core" },
      whatsapp: { baseUrl: "https://graph.facebook.com", version: "v26.0" },
      whatsappSecrets: {},
      resultLimit: 80_000,
      models: { chat: undefined, embeddings: undefined },
    },
    warnings: [],
  });
});

test("an empty or blank value counts as unset", () => {
  expect(
    readConfig({ PORT: "", DATABASE_URL: " ", TIDINGS_API_KEY: "", TIDINGS_TRUSTED_PROXIES: "" }),
  ).toEqual(readConfig({}));
});

test("every setting is read", () => {
  const { config } = readConfig({
    HOST: "0.0.0.0",
    PORT: "0",
    TIDINGS_DATA_DIR: "~/elsewhere",
    DATABASE_URL: "postgresql://tidings:pass@db:5432/tidings?sslmode=require",
    TIDINGS_SECRET: secret,
    TIDINGS_PREVIOUS_SECRET: `previous ${secret}`,
    TIDINGS_SECRET_LOST: "true",
    TIDINGS_BASE_URL: "https://tidings.example.com",
    TIDINGS_API_KEY: "sk_live_upstream",
    TIDINGS_OWNER_EMAIL: "ada@example.com",
    TIDINGS_OWNER_PASSWORD: "correct horse",
    TIDINGS_BOOTSTRAP_KEY: "sk_live_0123456789abcdef01234567",
    TIDINGS_LOG_LEVEL: "silent",
    TIDINGS_LOG_FORMAT: "text",
    TIDINGS_DATABASE_START_WAIT: "33",
    TIDINGS_DATABASE_WAIT: "34",
    TIDINGS_DATABASE_POOL: "36",
    TIDINGS_DRAIN_DELAY: "35",
    TIDINGS_RATE_LIMIT: "5000",
    TIDINGS_RATE_BURST: "10000",
    TIDINGS_QUOTA_STORED_MB: "5",
    TIDINGS_QUOTA_API_KEYS: "6",
    TIDINGS_QUOTA_COHORTS: "26",
    TIDINGS_QUOTA_WEBHOOKS: "7",
    TIDINGS_QUOTA_IMPORTS: "8",
    TIDINGS_QUOTA_INBOXES: "10",
    TIDINGS_QUOTA_QUICK_REPLIES: "11",
    TIDINGS_QUOTA_TEMPLATES: "15",
    TIDINGS_QUOTA_FLOWS: "18",
    TIDINGS_QUOTA_KNOWLEDGE_DOCUMENTS: "31",
    TIDINGS_QUOTA_KNOWLEDGE_CHUNKS: "32",
    TIDINGS_QUOTA_KNOWLEDGE_QA_PAIRS: "33",
    TIDINGS_QUOTA_KNOWLEDGE_READING_SECONDS: "34",
    TIDINGS_QUOTA_ROUTING_POLICIES: "12",
    TIDINGS_QUOTA_TEAM_MEMBERS: "13",
    TIDINGS_WALLET: "credit_limit",
    TIDINGS_CREDIT_LIMIT: "27",
    TIDINGS_RETENTION_RECEIPTS_DAYS: "21",
    TIDINGS_RETENTION_DECISIONS_DAYS: "22",
    TIDINGS_RETENTION_ASSIGNMENTS_DAYS: "23",
    TIDINGS_RETENTION_EVENTS_DAYS: "24",
    TIDINGS_RETENTION_IMPORTS_DAYS: "25",
    TIDINGS_RETENTION_DEAD_JOBS_DAYS: "26",
    TIDINGS_RETENTION_ACTIVITY_DAYS: "27",
    TIDINGS_QUOTA_WAITING_CALLS: "9",
    TIDINGS_ALLOWED_HOSTS: "Tidings.example.com, [::1]",
    TIDINGS_ALLOWED_ORIGINS: "https://App.example.com:443, http://app.example.com:8080",
    TIDINGS_CORS_ORIGINS: "https://shop.example.com",
    TIDINGS_TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.7, 2001:db8::/32,",
    TIDINGS_GEOIP_FILE: "/data/countries.mmdb",
    TIDINGS_PRICING_COUNTRY: "jp",
    TIDINGS_BODY_LIMIT: "2097152",
    TIDINGS_WEB_ALLOW: "10.1.0.0/16, fd00::/8",
    TIDINGS_ALLOW_LOCAL_WEBHOOKS: "false",
    TIDINGS_ALLOW_LOCAL_SOURCES: "false",
    TIDINGS_SIMULATOR: "off",
    TIDINGS_METRICS_TOKEN: "sixteen-letters-",
    TIDINGS_OPERATOR_KEY: "an-operator-key-of-32-characters",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
    TIDINGS_SCOPES: "contacts.read, inbox:write",
    TIDINGS_TOOLSETS: "contacts,messages",
    TIDINGS_READ_ONLY: "true",
    TIDINGS_TOOLS_ALLOW: "get_contact, list_messages",
    TIDINGS_TOOLS_DENY: "list_messages",
    TIDINGS_TOOL_MODE: "search",
    TIDINGS_RESULT_LIMIT: "40000",
    TIDINGS_WHATSAPP_BASE_URL: "http://127.0.0.1:4004/graph/",
    TIDINGS_WHATSAPP_VERSION: "v25.0",
    TIDINGS_WHATSAPP_APP_SECRET: "whatsapp-app-secret",
    TIDINGS_WHATSAPP_ACCESS_TOKEN: "EAA-token",
    TIDINGS_WHATSAPP_PIN: "123456",
  });
  expect(config).toEqual({
    host: "0.0.0.0",
    port: 0,
    dataDir: join(homedir(), "elsewhere"),
    databaseUrl: "postgresql://tidings:pass@db:5432/tidings?sslmode=require",
    databaseStartWaitMs: 33_000,
    databaseWaitMs: 34_000,
    databasePoolSize: 36,
    drainDelayMs: 35_000,
    secret,
    previousSecret: `previous ${secret}`,
    isSecretLost: true,
    operatorKey: "an-operator-key-of-32-characters",
    upstream: { baseUrl: "https://tidings.example.com", key: "sk_live_upstream" },
    owner: { email: "ada@example.com", password: "correct horse", key: "sk_live_0123456789abcdef01234567" },
    logLevel: "silent",
    logFormat: "text",
    rateLimits: { perSecond: 5000, burst: 10_000 },
    quotas: {
      storedBytes: 5_000_000,
      apiKeys: 6,
      cohorts: 26,
      webhooks: 7,
      imports: 8,
      waitingCalls: 9,
      inboxes: 10,
      quickReplies: 11,
      templates: 15,
      flows: 18,
      knowledgeDocuments: 31,
      knowledgeChunks: 32,
      knowledgeQaPairs: 33,
      knowledgeReadingSeconds: 34,
      routingPolicies: 12,
      teamMembers: 13,
    },
    wallet: { mode: "credit_limit", creditLimit: 27_000_000 },
    retention: {
      receipts: 21,
      decisions: 22,
      assignments: 23,
      events: 24,
      imports: 25,
      deadJobs: 26,
      activity: 27,
    },
    allowedHosts: ["tidings.example.com", "[::1]"],
    allowedOrigins: ["https://app.example.com", "http://app.example.com:8080"],
    corsOrigins: ["https://shop.example.com"],
    trustedProxies: ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"],
    countries: { file: "/data/countries.mmdb", fallback: "JP" },
    bodyLimit: 2_097_152,
    web: {
      allow: ["10.1.0.0/16", "fd00::/8"],
      areLocalReceiversAllowed: false,
      areLocalSourcesAllowed: false,
    },
    isSimulatorControllable: false,
    isClockMovable: false,
    telemetry: { token: "sixteen-letters-", collector: "http://collector:4318" },
    scopes: ["contacts:read", "inbox:write"],
    toolFilter: {
      toolsets: ["contacts", "messages"],
      readOnly: true,
      allow: ["get_contact", "list_messages"],
      deny: ["list_messages"],
      mode: "search",
    },
    whatsapp: { baseUrl: "http://127.0.0.1:4004/graph", version: "v25.0" },
    whatsappSecrets: { app_secret: "whatsapp-app-secret", access_token: "EAA-token", pin: "123456" },
    resultLimit: 40_000,
    models: { chat: undefined, embeddings: undefined },
  });
  expect(appSecrets(config)).toEqual([
    "sk_live_upstream",
    secret,
    `previous ${secret}`,
    "correct horse",
    "sk_live_0123456789abcdef01234567",
    "an-operator-key-of-32-characters",
    "sixteen-letters-",
    "whatsapp-app-secret",
    "EAA-token",
    "123456",
    "pass",
    "pass",
  ]);
});

const invalid: readonly [name: string, value: string, takes: string][] = [
  ["HOST", "http://here", "a host name or an IP address"],
  ["PORT", "http", "a whole number from 0 to 65535"],
  ["PORT", "65536", "a whole number from 0 to 65535"],
  ["PORT", "-1", "a whole number from 0 to 65535"],
  [
    "DATABASE_URL",
    `mysql://root:${secret}@db`,
    "a PostgreSQL address, for example postgres://user@host:5432/name",
  ],
  ["TIDINGS_SECRET", "too short to be one", "at least 32 characters"],
  ["TIDINGS_OWNER_EMAIL", "ada", "an e-mail address"],
  ["TIDINGS_OWNER_PASSWORD", "123456789", "10 to 1024 characters"],
  ["TIDINGS_OWNER_PASSWORD", "x".repeat(1025), "10 to 1024 characters"],
  ["TIDINGS_BOOTSTRAP_KEY", "sk_live_short", "a key that starts with sk_live_, at least 32 characters long"],
  ["TIDINGS_LOG_LEVEL", "loud", "one of fatal, error, warn, info, debug, trace, silent"],
  ["TIDINGS_LOG_FORMAT", "xml", "one of auto, text, json"],
  ["TIDINGS_RATE_LIMIT", "0", "a whole number from 1 to 1000000"],
  ["TIDINGS_RATE_BURST", "1.5", "a whole number from 1 to 1000000"],
  ["TIDINGS_ALLOWED_HOSTS", "good.example, bad.example:80", "host names without a port, separated by commas"],
  [
    "TIDINGS_ALLOWED_ORIGINS",
    "https://a.example/path",
    "origins such as https://app.example.com, separated by commas",
  ],
  ["TIDINGS_ALLOWED_ORIGINS", "a.example", "origins such as https://app.example.com, separated by commas"],
  [
    "TIDINGS_TRUSTED_PROXIES",
    "10.0.0.0/33",
    "IP addresses or networks such as 10.0.0.0/8, separated by commas",
  ],
  ["TIDINGS_TRUSTED_PROXIES", "10", "IP addresses or networks such as 10.0.0.0/8, separated by commas"],
  ["TIDINGS_SCOPES", "contacts:fly", `scopes separated by commas, of: ${allScopes.join(", ")}`],
  ["TIDINGS_TOOLSETS", "con tacts", "names separated by commas"],
  ["TIDINGS_READ_ONLY", "perhaps", "true or false"],
  ["TIDINGS_TOOL_MODE", "some", "one of all, core, lean, search"],
  ["TIDINGS_RESULT_LIMIT", "10", "a whole number from 2000 to 10000000"],
  [
    "TIDINGS_WEB_ALLOW",
    "10.1.0.0/16, intranet",
    "IP addresses or networks such as 10.1.0.0/16, separated by commas",
  ],
  ["TIDINGS_ALLOW_LOCAL_WEBHOOKS", "perhaps", "true or false"],
  ["TIDINGS_ALLOW_LOCAL_SOURCES", "perhaps", "true or false"],
  ["TIDINGS_SIMULATOR", "false", "on or off"],
  ["TIDINGS_OPERATOR_KEY", "an-operator-key-of-31-character", "at least 32 characters without spaces"],
  ["TIDINGS_METRICS_TOKEN", "fifteen-letters", "at least 16 characters without spaces"],
  ["TIDINGS_METRICS_TOKEN", "words with a space", "at least 16 characters without spaces"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "the address of an OTLP collector, http:// or https://"],
  ["TIDINGS_BODY_LIMIT", "1MB", "a whole number from 1024 to 104857600"],
];

test.each(invalid)(
  "an invalid %s (%s) is rejected in one line that says what the setting takes",
  (name, value, takes) => {
    expect(() => readConfig({ [name]: value })).toThrow(new ConfigError(`${name} takes ${takes}.`));
  },
);

test("a bucket's secret access key is redacted", () => {
  const { config } = readConfig({
    TIDINGS_S3_BUCKET: "files",
    TIDINGS_S3_ACCESS_KEY_ID: "AKIA",
    TIDINGS_S3_SECRET_ACCESS_KEY: secret,
  });
  expect(config).toMatchObject({ fileBucket: "files", bucketAccess: { region: "us-east-1" } });
  expect(appSecrets(config)).toEqual([secret]);
});

test("a database password with invalid percent-encoding is still a secret", () => {
  const { config } = readConfig({ DATABASE_URL: "postgres://app:100%25sure@db/app" });
  expect(appSecrets(config)).toEqual(["100%25sure", "100%sure"]);
  const { config: odd } = readConfig({ DATABASE_URL: "postgres://app:100%sure@db/app" });
  expect(appSecrets(odd)).toContain("100%sure");
  const { config: traced } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://app:s3cr3t-word@collector" });
  expect(appSecrets(traced)).toContain("s3cr3t-word");
});

test.each([
  ["several hosts", "postgres://app:s3cr3t%21@db1:5432,db2:5432/app", ["s3cr3t%21", "s3cr3t!"]],
  ["a socket", "postgres://app:s3cr3t-word@/app?host=/var/run/postgresql", ["s3cr3t-word"]],
  ["the password in the query", "postgres://db/app?user=app&password=s3cr3t%21", ["s3cr3t%21", "s3cr3t!"]],
])("the password of a database address with %s is a secret", (_, url, passwords) => {
  const { config } = readConfig({ DATABASE_URL: url });
  expect(new Set(appSecrets(config))).toEqual(new Set(passwords));
});

test("no error message repeats a value, and only settings of any text have none", () => {
  const accepted: string[] = [];
  for (const { name } of settings) {
    try {
      readConfig({ [name]: `\0${secret}` });
      accepted.push(name);
    } catch (error) {
      expect(String(error)).not.toContain(secret);
    }
  }
  expect(accepted).toEqual([
    "TIDINGS_DATA_DIR",
    "TIDINGS_ERASURE_LOG",
    "TIDINGS_SECRET",
    "TIDINGS_PREVIOUS_SECRET",
    "TIDINGS_OWNER_PASSWORD",
    "TIDINGS_GEOIP_FILE",
    "TIDINGS_UPLOAD_ROOT",
    "TIDINGS_S3_REGION",
  ]);
});
