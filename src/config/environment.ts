/** Every setting: name, type, default, and description for --help and docs/reference/settings.md. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";
import { allScopes, passwordRule, readScope, toolModes } from "../../tools/contract/index.ts";
import { walletModes } from "../../tools/wallet.ts";
import {
  commaList,
  countryCode,
  expected,
  nameList,
  readHost,
  readNetwork,
  readOrigin,
  wholeNumber,
} from "./fields.ts";
import { ModelEnvironment } from "./model-settings.ts";
import { QuotaEnvironment } from "./quota-settings.ts";

const logFormats = ["auto", "text", "json"] as const;
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** A credential that one command sends to the service. */
const connectSecret = z
  .string()
  .regex(/^[!-~]{8,2048}$/, expected("8 to 2048 characters without spaces"))
  .optional();

export const Environment = z.object({
  HOST: z
    .string()
    .regex(/^[\w.:-]+$/, expected("a host name or an IP address"))
    .default("127.0.0.1")
    .describe("Address that the service listens on"),
  PORT: wholeNumber(0, 65_535)
    .default(3000)
    .describe("Port that the service listens on; 0 selects any free port"),
  TIDINGS_DATA_DIR: z
    .string()
    .transform(expandHome)
    .prefault("~/.tidings")
    .describe("Folder of the embedded database and of the key that processes on this machine share"),
  DATABASE_URL: z
    .string()
    .regex(
      /^postgres(ql)?:\/\/\S*$/,
      expected("a PostgreSQL address, for example postgres://user@host:5432/name"),
    )
    .optional()
    .describe(
      "PostgreSQL to use instead of the embedded database, `postgres://…`; several hosts are separated by commas, and the one that accepts writes is used",
    ),
  TIDINGS_ERASURE_LOG: z
    .string()
    .regex(/^(?!\w+:\/\/)/, expected("the path of a file"))
    .transform(expandHome)
    .optional()
    .describe(
      "File that records which contacts were erased, by their ids, so that `tidings release` erases them again in a restored database. Keep it on another disk than the database",
    ),
  TIDINGS_SECRET: z
    .string()
    .min(32, expected("at least 32 characters"))
    .optional()
    .describe(
      "Signs access tokens and links, and encrypts stored secrets; at least 32 characters. Default: one is generated and stored in the database",
    ),
  TIDINGS_PREVIOUS_SECRET: z
    .string()
    .min(32, expected("at least 32 characters"))
    .optional()
    .describe(
      "The secret that `TIDINGS_SECRET` replaced; what it signed stays valid until it expires, and what it encrypted is encrypted again at the start",
    ),
  TIDINGS_SECRET_LOST: z
    .enum(["true", "false", "1", "0"], expected("true or false"))
    .default("false")
    .describe(
      "For one start: gives up the stored values that no secret opens; webhooks get new signing secrets",
    ),
  TIDINGS_BASE_URL: z
    .url({ protocol: /^https?$/, ...expected("the address of a Tidings service, http:// or https://") })
    .optional()
    .describe("A running service for `tidings mcp` to forward to, with `TIDINGS_API_KEY`"),
  TIDINGS_API_KEY: z.string().optional().describe("API key for `TIDINGS_BASE_URL`"),
  TIDINGS_SCOPES: commaList(readScope, `scopes separated by commas, of: ${allScopes.join(", ")}`).describe(
    "Scopes of the key, for `tidings mcp`, in either spelling. Default: read from the service",
  ),
  TIDINGS_TOOLSETS: nameList("Offer only the tools of these resources, for example contacts,messages"),
  TIDINGS_READ_ONLY: z
    .enum(["true", "false", "1", "0"], expected("true or false"))
    .default("false")
    .describe("Whether tools that change data are hidden and rejected"),
  TIDINGS_TOOLS_ALLOW: nameList("Offer only these tools"),
  TIDINGS_TOOLS_DENY: nameList("Never offer these tools, even if another setting allows them"),
  TIDINGS_TOOL_MODE: z
    .enum(toolModes, expected(`one of ${toolModes.join(", ")}`))
    .default("core")
    .describe(
      "The tools that are listed. core: the most used ones; lean: fewer, for hosts with low limits; all: every tool; search: none. Three more tools find and run those that are left out",
    ),
  TIDINGS_RESULT_LIMIT: wholeNumber(2_000, 10_000_000)
    .default(80_000)
    .describe("Longest answer of a tool, in characters; longer answers are cut after an item"),
  TIDINGS_OWNER_EMAIL: z
    .email(expected("an e-mail address"))
    .optional()
    .describe("First start: the owner's e-mail address"),
  TIDINGS_OWNER_PASSWORD: z
    .string()
    .min(passwordRule.min, expected(passwordRule.text))
    .max(passwordRule.max, expected(passwordRule.text))
    .optional()
    .describe(
      `First start: the owner's password, ${passwordRule.text}. Default: one is generated and printed`,
    ),
  TIDINGS_BOOTSTRAP_KEY: z
    .string()
    .regex(/^sk_live_[!-~]{24,}$/, expected("a key that starts with sk_live_, at least 32 characters long"))
    .optional()
    .describe(
      "First start: the first API key, `sk_live_` and at least 24 more characters. Default: one is generated and printed",
    ),
  TIDINGS_LOG_LEVEL: z
    .enum(logLevels, expected(`one of ${logLevels.join(", ")}`))
    .default("info")
    .describe(`Level of the log on stderr: ${logLevels.join(", ")}`),
  TIDINGS_LOG_FORMAT: z
    .enum(logFormats, expected(`one of ${logFormats.join(", ")}`))
    .default("auto")
    .describe("Form of the log: `json`, `text` for people, or `auto`: `text` if stderr is a terminal"),
  TIDINGS_DATABASE_START_WAIT: wholeNumber(0, 3_600)
    .default(60)
    .describe("Seconds for which a start waits for PostgreSQL when it refuses the connection"),
  TIDINGS_DATABASE_WAIT: wholeNumber(0, 60)
    .default(10)
    .describe(
      "Seconds for which a read, or a request with an idempotency key, waits while PostgreSQL restarts or fails over; 0 answers 503 at once",
    ),
  TIDINGS_DATABASE_POOL: wholeNumber(2, 200)
    .default(10)
    .describe("The most connections of this process to PostgreSQL, or to the pooler in front of it"),
  TIDINGS_DRAIN_DELAY: wholeNumber(0, 300)
    .default(0)
    .describe(
      "Seconds between a signal to stop and the closing of the port: `/drainz` and `/readyz` answer 503 in them, and requests are answered",
    ),
  TIDINGS_RATE_LIMIT: wholeNumber(1, 1_000_000)
    .default(50)
    .describe("Sustained requests a second for each credential"),
  TIDINGS_RATE_BURST: wholeNumber(1, 1_000_000)
    .default(100)
    .describe("Burst of requests for each credential"),
  ...QuotaEnvironment.shape,
  TIDINGS_WALLET: z
    .enum(walletModes, expected(`one of ${walletModes.join(", ")}`))
    .default("off")
    .describe(
      "Whether messages are rejected that the wallet can't pay. off: they are charged and never rejected; block: rejected below zero; credit_limit: rejected below the credit limit. Messages of simulated inboxes only where the inbox's setting wallet is enforced",
    ),
  TIDINGS_CREDIT_LIMIT: wholeNumber(0, 1_000_000_000)
    .default(0)
    .describe(
      "With `TIDINGS_WALLET=credit_limit`: how far below zero a wallet may fall, in units of its currency, unless the operator has set a limit for the organization",
    ),
  TIDINGS_RETENTION_RECEIPTS_DAYS: wholeNumber(1, 36_500)
    .default(90)
    .describe("Days for which receipts of messages are kept"),
  TIDINGS_RETENTION_DECISIONS_DAYS: wholeNumber(1, 36_500)
    .default(90)
    .describe("Days for which routing decisions are kept"),
  TIDINGS_RETENTION_ASSIGNMENTS_DAYS: wholeNumber(1, 36_500)
    .default(730)
    .describe("Days for which the assignments of conversations are kept"),
  TIDINGS_RETENTION_EVENTS_DAYS: wholeNumber(17, 36_500)
    .default(30)
    .describe(
      "Days for which events and their deliveries to webhooks are kept; at least the 14 days that a recovery reaches back, and 3 for its retries",
    ),
  TIDINGS_RETENTION_IMPORTS_DAYS: wholeNumber(1, 36_500)
    .default(30)
    .describe("Days for which ended imports are kept"),
  TIDINGS_RETENTION_DEAD_JOBS_DAYS: wholeNumber(1, 36_500)
    .default(30)
    .describe("Days for which dead-letter jobs are kept"),
  TIDINGS_RETENTION_ACTIVITY_DAYS: wholeNumber(1, 36_500)
    .default(90)
    .describe("Days for which the record of acts is kept"),
  TIDINGS_ALLOWED_HOSTS: commaList(readHost, "host names without a port, separated by commas").describe(
    "Host names that requests to /mcp and to the console may use, in addition to the loopback names and, for the console, the host of `TIDINGS_PUBLIC_URL`",
  ),
  TIDINGS_ALLOWED_ORIGINS: commaList(
    readOrigin,
    "origins such as https://app.example.com, each without a wildcard, separated by commas",
  ).describe("Origins of web pages that may call /mcp, in addition to the loopback origins"),
  TIDINGS_CORS_ORIGINS: commaList(
    readOrigin,
    "origins such as https://app.example.com, each without a wildcard, separated by commas",
  ).describe("Origins of web pages that may call the API, with a key or an access token; never with cookies"),
  TIDINGS_TRUSTED_PROXIES: commaList(
    readNetwork,
    "IP addresses or networks such as 10.0.0.0/8, separated by commas",
  ).describe("Proxies whose X-Forwarded-For is trusted: IP addresses and networks"),
  TIDINGS_GEOIP_FILE: z
    .string()
    .transform(expandHome)
    .optional()
    .describe(
      "Table of countries by IP address for `GET /v1/pricing`, a MaxMind DB file (.mmdb). Default: the bundled one",
    ),
  TIDINGS_PRICING_COUNTRY: countryCode
    .default("US")
    .describe("Country of `GET /v1/pricing` for callers whose address has none, such as a private one"),
  TIDINGS_BODY_LIMIT: wholeNumber(1_024, 104_857_600)
    .default(1_048_576)
    .describe("Largest body of a request with a credential, in bytes"),
  TIDINGS_PUBLIC_URL: z
    .url({ protocol: /^https?$/, ...expected("the address of this service, http:// or https://") })
    .optional()
    .describe(
      "Public address of this service, for links to its files. Default: the address that it listens on",
    ),
  TIDINGS_CDN_URL: z
    .url({ protocol: /^https?$/, ...expected("an address, http:// or https://") })
    .optional()
    .describe(
      "Address of a CDN in front of `/files` or of the bucket: uploads made with `generate_cdn` are public there",
    ),
  TIDINGS_UPLOAD_ROOT: z
    .string()
    .transform(expandHome)
    .optional()
    .describe("Folder from which `upload_file` of `tidings mcp` may read local files. Default: none"),
  TIDINGS_S3_BUCKET: z
    .string()
    .regex(/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/, expected("the name of a bucket"))
    .optional()
    .describe("Bucket that stores files instead of the data folder"),
  TIDINGS_S3_ENDPOINT: z
    .url({ protocol: /^https?$/, ...expected("the address of an S3-compatible store") })
    .optional()
    .describe("S3-compatible store of buckets, for files and backups. Default: Amazon S3"),
  TIDINGS_S3_REGION: z.string().default("us-east-1").describe("Region of the buckets"),
  TIDINGS_S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe("Access key id for the bucket of files, and for backups to `s3://…`"),
  TIDINGS_S3_SECRET_ACCESS_KEY: z.string().optional().describe("Secret of the access key"),
  TIDINGS_WEB_ALLOW: commaList(
    readNetwork,
    "IP addresses or networks such as 10.1.0.0/16, separated by commas",
  ).describe(
    "Private networks that webhooks, file downloads and requests of flows may reach, by https on ports 443 and 8443",
  ),
  TIDINGS_ALLOW_LOCAL_WEBHOOKS: z
    .enum(["true", "false", "1", "0"], expected("true or false"))
    .default("false")
    .describe(
      "For development: webhook receivers may be on this machine, with plain http and any port. Requires a loopback `HOST`",
    ),
  TIDINGS_ALLOW_LOCAL_SOURCES: z
    .enum(["true", "false", "1", "0"], expected("true or false"))
    .default("false")
    .describe(
      "For development: files of uploads and imports may be fetched from this machine, and flows may call it, with plain http and any port. Requires a loopback `HOST`",
    ),
  TIDINGS_SIMULATOR: z
    .enum(["on", "off"], expected("on or off"))
    .default("on")
    .describe(
      "off: the controls of the simulated channel and of simulated payments, `/simulator/…`, answer 404, so that no key can write as a customer or pay with simulated money",
    ),
  TIDINGS_RAZORPAY_KEY_ID: z
    .string()
    .regex(/^rzp_[\w]{4,100}$/, expected("a key id that starts with rzp_live_ or rzp_test_"))
    .optional()
    .describe(
      "Takes payments through Razorpay with this API key, the key's secret and the webhook secret, all three. Default: payments are simulated",
    ),
  TIDINGS_RAZORPAY_KEY_SECRET: z.string().optional().describe("Secret of the Razorpay API key"),
  TIDINGS_RAZORPAY_WEBHOOK_SECRET: z
    .string()
    .optional()
    .describe("Secret that was chosen for the webhook in the Razorpay dashboard"),
  TIDINGS_RAZORPAY_BASE_URL: z
    .url({ protocol: /^https?$/, ...expected("the address of the Razorpay API or of an emulator") })
    .default("https://api.razorpay.com")
    .describe("Address of the Razorpay API, without its version"),
  TIDINGS_WHATSAPP_BASE_URL: z
    .url({ protocol: /^https?$/, ...expected("the address of the Graph API or of an emulator") })
    .default("https://graph.facebook.com")
    .describe("Address of Meta's Graph API, without its version, for inboxes of the channel whatsapp"),
  TIDINGS_WHATSAPP_VERSION: z
    .string()
    .regex(/^v\d{1,3}\.\d{1,2}$/, expected("a version such as v26.0"))
    .default("v26.0")
    .describe("Version of the Graph API"),
  TIDINGS_WHATSAPP_APP_SECRET: connectSecret.describe("App secret, for tidings whatsapp connect alone"),
  TIDINGS_WHATSAPP_ACCESS_TOKEN: connectSecret.describe("Access token, for tidings whatsapp connect alone"),
  TIDINGS_WHATSAPP_PIN: z
    .string()
    .regex(/^\d{6}$/, expected("6 digits"))
    .optional()
    .describe("PIN of the number's two-step verification, for tidings whatsapp connect alone"),
  ...ModelEnvironment.shape,
  TIDINGS_OPERATOR_KEY: z
    .string()
    .regex(/^[!-~]{32,}$/, expected("at least 32 characters without spaces"))
    .optional()
    .describe(
      "Enables `/operator/v1`, which creates and suspends organizations, for `X-API-Key` or `Authorization: Bearer` with this key, at least 32 characters",
    ),
  TIDINGS_SANDBOX_CLOCK: z
    .enum(["on", "off"], expected("on or off"))
    .default("off")
    .describe(
      "on: the operator can move the clock forward, to try what happens later. Requires the operator's key, the embedded database, and that everything outside is simulated",
    ),
  TIDINGS_METRICS_TOKEN: z
    .string()
    .regex(/^[!-~]{16,}$/, expected("at least 16 characters without spaces"))
    .optional()
    .describe(
      "Enables `GET /metrics` (Prometheus) for `Authorization: Bearer` with this token, at least 16 characters",
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, ...expected("the address of an OTLP collector, http:// or https://") })
    .optional()
    .describe("Collector that receives traces by OTLP over HTTP, for example `http://localhost:4318`"),
});

function expandHome(path: string): string {
  return resolve(path.replace(/^~(?=$|[/\\])/, homedir()));
}
