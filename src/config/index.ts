/** The configuration: environment variables, parsed once by one schema. Nothing else reads process.env. */
import { z } from "zod";
import { toMicros } from "../../tools/money.ts";
import { Environment } from "./environment.ts";
import { isLoopback, isTrue } from "./fields.ts";
import { readChatSettings, readEmbeddingsSettings, readTranscriptionSettings } from "./model-settings.ts";
import { subjectOf } from "./subjects.ts";
import { findMisspelt, warnAboutUnknown } from "./unknown-settings.ts";
import { type SettingWarning, warnAboutTestKey } from "./warnings.ts";

/** Settings that must be set together. */
const groups = [
  ["TIDINGS_S3_ACCESS_KEY_ID", "TIDINGS_S3_SECRET_ACCESS_KEY"],
  ["TIDINGS_RAZORPAY_KEY_ID", "TIDINGS_RAZORPAY_KEY_SECRET", "TIDINGS_RAZORPAY_WEBHOOK_SECRET"],
  ["TIDINGS_LLM_URL", "TIDINGS_LLM_MODEL"],
  ["TIDINGS_EMBEDDINGS_URL", "TIDINGS_EMBEDDINGS_MODEL"],
] as const;

/** Settings that connect the service to systems whose time can't be moved. */
const real = [
  "DATABASE_URL",
  "TIDINGS_S3_BUCKET",
  "TIDINGS_RAZORPAY_KEY_ID",
  "TIDINGS_LLM_URL",
  "TIDINGS_EMBEDDINGS_URL",
  "TIDINGS_TRANSCRIPTION_URL",
] as const;

/**
 * Settings that have no effect without another setting. Setting one alone is an error, so that it does not
 * seem to have an effect.
 */
const dependent = [
  ["TIDINGS_S3_BUCKET", "TIDINGS_S3_ACCESS_KEY_ID"],
  ["TIDINGS_S3_BUCKET", "TIDINGS_S3_SECRET_ACCESS_KEY"],
  ["TIDINGS_LLM_KEY", "TIDINGS_LLM_URL"],
  ["TIDINGS_EMBEDDINGS_KEY", "TIDINGS_EMBEDDINGS_URL"],
  ["TIDINGS_EMBEDDINGS_DIMENSIONS", "TIDINGS_EMBEDDINGS_URL"],
  ["TIDINGS_TRANSCRIPTION_KEY", "TIDINGS_TRANSCRIPTION_URL"],
  ["TIDINGS_TRANSCRIPTION_MODEL", "TIDINGS_TRANSCRIPTION_URL"],
] as const;

// Also with invalid fields, so that all errors are found at once.
const Settings = Environment.superRefine(checkTogether, { when: () => true }).transform(toConfig);

export { isLoopback } from "./fields.ts";
export { settingSubjects } from "./subjects.ts";

export type Config = z.output<typeof Settings>;

/** The settings by name, as text. */
export type SettingTexts = Readonly<Record<string, string | undefined>>;

/** A setting as docs/reference/settings.md shows it. */
interface Setting {
  readonly name: string;
  /** Empty for none. */
  readonly default: string;
  readonly description: string;
  readonly subject: string;
}

export const settings: readonly Setting[] = Object.entries(Environment.shape).map(([name, field]) => ({
  name,
  default: defaultOf(field),
  description: field.description ?? "",
  subject: subjectOf(name),
}));

/**
 * Settings are invalid or misspelt. The message has a line for each, which names the setting and the values
 * that it takes.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Parses the settings; an empty value counts as not set.
 *
 * @param given values that take the place of the environment's.
 * @throws ConfigError
 */
export function readConfig(
  env: SettingTexts = process.env,
  given: SettingTexts = {},
): { config: Config; warnings: readonly SettingWarning[] } {
  const texts = Object.entries({ ...env, ...given });
  const values = Object.fromEntries(texts.filter(([, value]) => value?.trim()));
  const [names, known] = [Object.keys(values), Object.keys(Environment.shape)];
  const misspelt = findMisspelt(names, known).map(
    ({ name, nearest }) => `Unknown setting ${name}. Did you mean ${nearest}?`,
  );
  const parsed = Settings.safeParse(values);
  if (!parsed.success || misspelt.length > 0) {
    const issues = parsed.error?.issues ?? [];
    const invalid = issues.map(({ path, message }) => `${path[0]?.toString()} takes ${message}.`);
    throw new ConfigError([...new Set([...misspelt, ...invalid])].join("\n"));
  }
  const { data: config } = parsed;
  return {
    config,
    warnings: [...warnAboutUnknown(names, known), ...warnAboutTestKey(config.razorpay?.keyId)],
  };
}

/** Whether the service can be used on its machine alone: no proxy and no other address leads to it. */
export function isForThisMachine({
  host,
  publicUrl,
  trustedProxies,
}: Pick<Config, "host" | "publicUrl" | "trustedProxies">): boolean {
  return isLoopback(host) && publicUrl === undefined && trustedProxies.length === 0;
}

/** Checks the settings whose values depend on one another. */
function checkTogether(env: z.output<typeof Environment>, context: z.RefinementCtx): void {
  const { TIDINGS_BASE_URL, TIDINGS_API_KEY } = env;
  const local = ["TIDINGS_ALLOW_LOCAL_WEBHOOKS", "TIDINGS_ALLOW_LOCAL_SOURCES"] as const;
  for (const name of local.filter((each) => isTrue(env[each]) && !isLoopback(env.HOST))) {
    const message =
      "true only while HOST is loopback: otherwise anyone could reach this machine's own services through it";
    context.addIssue({ code: "custom", path: [name], message });
  }
  if ((TIDINGS_BASE_URL === undefined) !== (TIDINGS_API_KEY === undefined)) {
    const [missing, present] =
      TIDINGS_API_KEY === undefined
        ? ["TIDINGS_API_KEY", "TIDINGS_BASE_URL"]
        : ["TIDINGS_BASE_URL", "TIDINGS_API_KEY"];
    context.addIssue({ code: "custom", path: [missing], message: `a value when ${present} is set` });
  }
  for (const group of groups) {
    const missing = group.filter((name) => env[name] === undefined);
    for (const name of missing.length < group.length ? missing : []) {
      const message = `a value when another one of ${group.join(", ")} is set`;
      context.addIssue({ code: "custom", path: [name], message });
    }
  }
  const isReal = real.find((name) => env[name] !== undefined);
  if (env.TIDINGS_SANDBOX_CLOCK === "on" && isReal !== undefined) {
    const message = `off while ${isReal} is set: only where everything is simulated can the clock be moved`;
    context.addIssue({ code: "custom", path: ["TIDINGS_SANDBOX_CLOCK"], message });
  }
  if (env.TIDINGS_SANDBOX_CLOCK === "on" && env.TIDINGS_OPERATOR_KEY === undefined) {
    const message = "a value while TIDINGS_SANDBOX_CLOCK is on: it is the key that moves the clock";
    context.addIssue({ code: "custom", path: ["TIDINGS_OPERATOR_KEY"], message });
  }
  for (const [name, needed] of dependent) {
    if (env[name] !== undefined && env[needed] === undefined) {
      context.addIssue({ code: "custom", path: [needed], message: `a value when ${name} is set` });
    }
  }
}

function toConfig(env: z.output<typeof Environment>) {
  const { TIDINGS_BASE_URL: baseUrl, TIDINGS_API_KEY: key } = env;
  return {
    host: env.HOST,
    port: env.PORT,
    dataDir: env.TIDINGS_DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    /** Where erasures are logged; undefined: nowhere. */
    erasureLog: env.TIDINGS_ERASURE_LOG,
    databaseStartWaitMs: env.TIDINGS_DATABASE_START_WAIT * 1000,
    databaseWaitMs: env.TIDINGS_DATABASE_WAIT * 1000,
    databasePoolSize: env.TIDINGS_DATABASE_POOL,
    drainDelayMs: env.TIDINGS_DRAIN_DELAY * 1000,
    secret: env.TIDINGS_SECRET,
    previousSecret: env.TIDINGS_PREVIOUS_SECRET,
    isSecretLost: isTrue(env.TIDINGS_SECRET_LOST),
    /** The remote service to forward to. If it is set, no service runs here. */
    upstream: baseUrl !== undefined && key !== undefined ? { baseUrl, key } : undefined,
    /** The values for the first organization and its owner. */
    owner: {
      email: env.TIDINGS_OWNER_EMAIL,
      password: env.TIDINGS_OWNER_PASSWORD,
      key: env.TIDINGS_BOOTSTRAP_KEY,
    },
    /** Undefined if there is no operator API. */
    operatorKey: env.TIDINGS_OPERATOR_KEY,
    isClockMovable: env.TIDINGS_SANDBOX_CLOCK === "on",
    logLevel: env.TIDINGS_LOG_LEVEL,
    logFormat: env.TIDINGS_LOG_FORMAT,
    rateLimits: { perSecond: env.TIDINGS_RATE_LIMIT, burst: env.TIDINGS_RATE_BURST },
    quotas: {
      storedBytes: env.TIDINGS_QUOTA_STORED_MB * 1_000_000,
      apiKeys: env.TIDINGS_QUOTA_API_KEYS,
      webhooks: env.TIDINGS_QUOTA_WEBHOOKS,
      imports: env.TIDINGS_QUOTA_IMPORTS,
      inboxes: env.TIDINGS_QUOTA_INBOXES,
      quickReplies: env.TIDINGS_QUOTA_QUICK_REPLIES,
      templates: env.TIDINGS_QUOTA_TEMPLATES,
      cohorts: env.TIDINGS_QUOTA_COHORTS,
      flows: env.TIDINGS_QUOTA_FLOWS,
      knowledgeDocuments: env.TIDINGS_QUOTA_KNOWLEDGE_DOCUMENTS,
      knowledgeChunks: env.TIDINGS_QUOTA_KNOWLEDGE_CHUNKS,
      knowledgeQaPairs: env.TIDINGS_QUOTA_KNOWLEDGE_QA_PAIRS,
      knowledgeReadingSeconds: env.TIDINGS_QUOTA_KNOWLEDGE_READING_SECONDS,
      routingPolicies: env.TIDINGS_QUOTA_ROUTING_POLICIES,
      teamMembers: env.TIDINGS_QUOTA_TEAM_MEMBERS,
      waitingCalls: env.TIDINGS_QUOTA_WAITING_CALLS,
    },
    wallet: { mode: env.TIDINGS_WALLET, creditLimit: toMicros(env.TIDINGS_CREDIT_LIMIT) },
    retention: {
      receipts: env.TIDINGS_RETENTION_RECEIPTS_DAYS,
      decisions: env.TIDINGS_RETENTION_DECISIONS_DAYS,
      assignments: env.TIDINGS_RETENTION_ASSIGNMENTS_DAYS,
      events: env.TIDINGS_RETENTION_EVENTS_DAYS,
      imports: env.TIDINGS_RETENTION_IMPORTS_DAYS,
      deadJobs: env.TIDINGS_RETENTION_DEAD_JOBS_DAYS,
      activity: env.TIDINGS_RETENTION_ACTIVITY_DAYS,
    },
    allowedHosts: env.TIDINGS_ALLOWED_HOSTS,
    allowedOrigins: env.TIDINGS_ALLOWED_ORIGINS,
    corsOrigins: env.TIDINGS_CORS_ORIGINS,
    trustedProxies: env.TIDINGS_TRUSTED_PROXIES,
    /** The table of countries by IP address, and the country for addresses that are not in the table. */
    countries: { file: env.TIDINGS_GEOIP_FILE, fallback: env.TIDINGS_PRICING_COUNTRY },
    bodyLimit: env.TIDINGS_BODY_LIMIT,
    /** Which non-public addresses webhooks and downloads may reach. */
    web: {
      allow: env.TIDINGS_WEB_ALLOW,
      areLocalReceiversAllowed: isTrue(env.TIDINGS_ALLOW_LOCAL_WEBHOOKS),
      areLocalSourcesAllowed: isTrue(env.TIDINGS_ALLOW_LOCAL_SOURCES),
    },
    /** Whether the simulated channel can be controlled over HTTP. */
    isSimulatorControllable: env.TIDINGS_SIMULATOR === "on",
    /** Of buckets, for files and backups. Undefined if no bucket can be used. */
    bucketAccess: readBucketAccess(env),
    /** The name of the bucket for files. Undefined if they are stored in the data folder. */
    fileBucket: env.TIDINGS_S3_BUCKET,
    /** Undefined if payments are simulated. */
    razorpay: readRazorpaySettings(env),
    whatsapp: {
      baseUrl: env.TIDINGS_WHATSAPP_BASE_URL.replace(/\/+$/, ""),
      version: env.TIDINGS_WHATSAPP_VERSION,
    },
    whatsappSecrets: {
      app_secret: env.TIDINGS_WHATSAPP_APP_SECRET,
      access_token: env.TIDINGS_WHATSAPP_ACCESS_TOKEN,
      pin: env.TIDINGS_WHATSAPP_PIN,
    },
    models: {
      chat: readChatSettings(env),
      embeddings: readEmbeddingsSettings(env),
      transcription: readTranscriptionSettings(env),
    },
    publicUrl: env.TIDINGS_PUBLIC_URL?.replace(/\/+$/, ""),
    cdnUrl: env.TIDINGS_CDN_URL?.replace(/\/+$/, ""),
    uploadRoot: env.TIDINGS_UPLOAD_ROOT,
    telemetry: { token: env.TIDINGS_METRICS_TOKEN, collector: env.OTEL_EXPORTER_OTLP_ENDPOINT },
    /** The scopes of the key. If undefined, they are read from the service. */
    scopes: env.TIDINGS_SCOPES.length > 0 ? env.TIDINGS_SCOPES : undefined,
    toolFilter: {
      toolsets: env.TIDINGS_TOOLSETS,
      readOnly: isTrue(env.TIDINGS_READ_ONLY),
      allow: env.TIDINGS_TOOLS_ALLOW,
      deny: env.TIDINGS_TOOLS_DENY,
      mode: env.TIDINGS_TOOL_MODE,
    },
    resultLimit: env.TIDINGS_RESULT_LIMIT,
  };
}

function readBucketAccess(env: z.output<typeof Environment>) {
  const { TIDINGS_S3_ACCESS_KEY_ID: accessKeyId, TIDINGS_S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  const isComplete = accessKeyId !== undefined && secretAccessKey !== undefined;
  const { TIDINGS_S3_ENDPOINT: endpoint, TIDINGS_S3_REGION: region } = env;
  return isComplete ? { endpoint, region, accessKeyId, secretAccessKey } : undefined;
}

function readRazorpaySettings(env: z.output<typeof Environment>) {
  const {
    TIDINGS_RAZORPAY_KEY_ID: keyId,
    TIDINGS_RAZORPAY_KEY_SECRET: keySecret,
    TIDINGS_RAZORPAY_WEBHOOK_SECRET: webhookSecret,
  } = env;
  const isComplete = keyId !== undefined && keySecret !== undefined && webhookSecret !== undefined;
  const baseUrl = env.TIDINGS_RAZORPAY_BASE_URL.replace(/\/+$/, "");
  return isComplete ? { baseUrl, keyId, keySecret, webhookSecret } : undefined;
}

/**
 * The addresses at which the service and its CDN can be reached. `address` returns the address on which the
 * service listens.
 */
export function addressesOf({ publicUrl, cdnUrl: cdn }: Config, address: () => string) {
  return { service: () => publicUrl ?? address(), isPublic: publicUrl !== undefined, cdn };
}

/** How the log is written. */
export function logSettings(config: Config) {
  return { level: config.logLevel, format: config.logFormat, secrets: appSecrets(config) };
}

/** The values that must never appear in a log. */
export function appSecrets(config: Config): string[] {
  const {
    upstream,
    secret,
    previousSecret,
    owner,
    operatorKey,
    databaseUrl,
    telemetry,
    bucketAccess,
    razorpay,
    models,
    whatsappSecrets,
  } = config;
  const passwords = [databaseUrl, telemetry.collector].flatMap(passwordsIn);
  const chosen = [secret, previousSecret, owner.password, owner.key, operatorKey];
  const own = [...chosen, telemetry.token, bucketAccess?.secretAccessKey];
  const payment = [razorpay?.keySecret, razorpay?.webhookSecret];
  const modelKeys = [models.chat?.key, models.embeddings?.key, models.transcription?.key];
  const sent = Object.values(whatsappSecrets);
  const values = [upstream?.key, ...own, ...payment, ...modelKeys, ...sent, ...passwords];
  return values.flatMap((value) => value || []);
}

/**
 * The passwords in the address of a database or a collector, as written and as decoded text. Not by URL,
 * which rejects several hosts, and a user without a host.
 */
function passwordsIn(address = ""): string[] {
  const [, ofUser = ""] = /^[^:]+:\/\/[^:/?@]*:([^/?]*)@/.exec(address) ?? [];
  const [, ofQuery = ""] = /[?&]password=([^&#]*)/.exec(address) ?? [];
  return [ofUser, ofQuery].flatMap((password) => [password, decode(password)]);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function defaultOf(field: z.ZodType): string {
  const hasDefault = field instanceof z.ZodDefault || field instanceof z.ZodPrefault;
  return hasDefault ? String(field.def.defaultValue) : "";
}
