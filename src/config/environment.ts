/** Every setting: its name, what it takes, its default, and its line in docs/reference/settings.md. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";
import { allScopes, readScope, toolModes } from "../../tools/contract/index.ts";
import { commaList, expected, nameList, readHost, readNetwork, readOrigin, wholeNumber } from "./fields.ts";

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export const Environment = z.object({
  HOST: z
    .string()
    .regex(/^[\w.:-]+$/, expected("a host name or an IP address"))
    .default("127.0.0.1")
    .describe("Address that the service listens on"),
  PORT: wholeNumber(0, 65_535)
    .default(3000)
    .describe("Port that the service listens on; 0 takes any free one"),
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
    .describe("PostgreSQL to use in place of the embedded database, `postgres://…`"),
  TIDINGS_SECRET: z
    .string()
    .min(32, expected("at least 32 characters"))
    .optional()
    .describe(
      "Signs access tokens and links; at least 32 characters. Left out, one is generated and kept in the database",
    ),
  TIDINGS_PREVIOUS_SECRET: z
    .string()
    .min(32, expected("at least 32 characters"))
    .optional()
    .describe(
      "The secret that `TIDINGS_SECRET` replaced; what was signed under it stays good until it expires",
    ),
  TIDINGS_BASE_URL: z
    .url({ protocol: /^https?$/, ...expected("the address of a Tidings service, http:// or https://") })
    .optional()
    .describe("A running service for `tidings mcp` to forward to, with `TIDINGS_API_KEY`"),
  TIDINGS_API_KEY: z.string().optional().describe("The key to use there"),
  TIDINGS_SCOPES: commaList(readScope, `scopes separated by commas, of: ${allScopes.join(", ")}`).describe(
    "What the key may do, for `tidings mcp`, in either spelling; left out, the service is asked",
  ),
  TIDINGS_TOOLSETS: nameList("Only the tools of these resources, for example contacts,messages"),
  TIDINGS_READ_ONLY: z
    .enum(["true", "false", "1", "0"], expected("true or false"))
    .default("false")
    .describe("Whether tools that change something are hidden and refused"),
  TIDINGS_TOOLS_ALLOW: nameList("Only these tools"),
  TIDINGS_TOOLS_DENY: nameList("Not these tools, whatever else is allowed"),
  TIDINGS_TOOL_MODE: z
    .enum(toolModes, expected(`one of ${toolModes.join(", ")}`))
    .default("core")
    .describe("core: the usual tools; all: every tool; search: two tools that find and run the others"),
  TIDINGS_RESULT_LIMIT: wholeNumber(2_000, 10_000_000)
    .default(80_000)
    .describe("Longest answer of a tool, in characters; a longer one is cut after an item"),
  TIDINGS_OWNER_EMAIL: z
    .email(expected("an e-mail address"))
    .optional()
    .describe("First start: the owner's e-mail address"),
  TIDINGS_OWNER_PASSWORD: z
    .string()
    .min(8, expected("at least 8 characters"))
    .optional()
    .describe(
      "First start: the owner's password, at least 8 characters. Left out, one is generated and printed",
    ),
  TIDINGS_BOOTSTRAP_KEY: z
    .string()
    .regex(/^sk_live_[!-~]{24,}$/, expected("a key that starts with sk_live_, at least 32 characters long"))
    .optional()
    .describe(
      "First start: the first API key, `sk_live_` and at least 24 more characters. Left out, one is generated and printed",
    ),
  TIDINGS_LOG_LEVEL: z
    .enum(logLevels, expected(`one of ${logLevels.join(", ")}`))
    .default("info")
    .describe(`How much is logged, to stderr: ${logLevels.join(", ")}`),
  TIDINGS_RATE_LIMIT: wholeNumber(1, 1_000_000)
    .default(50)
    .describe("Requests a second for each credential, sustained"),
  TIDINGS_RATE_BURST: wholeNumber(1, 1_000_000).default(100).describe("Requests at once for each credential"),
  TIDINGS_ALLOWED_HOSTS: commaList(readHost, "host names without a port, separated by commas").describe(
    "Host names by which /mcp may be called, beside the loopback ones",
  ),
  TIDINGS_ALLOWED_ORIGINS: commaList(
    readOrigin,
    "origins such as https://app.example.com, separated by commas",
  ).describe("Origins of web pages that may call /mcp, beside the loopback ones"),
  TIDINGS_TRUSTED_PROXIES: commaList(
    readNetwork,
    "IP addresses or networks such as 10.0.0.0/8, separated by commas",
  ).describe("Proxies whose X-Forwarded-For is believed: IP addresses and networks"),
  TIDINGS_BODY_LIMIT: wholeNumber(1_024, 104_857_600)
    .default(1_048_576)
    .describe("Largest request body that is taken, in bytes"),
  TIDINGS_PUBLIC_URL: z
    .url({ protocol: /^https?$/, ...expected("the address of this service, http:// or https://") })
    .optional()
    .describe(
      "Address by which others reach this service, for links to its files; left out, the one it listens on",
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
    .describe(
      "Folder from which `upload_file` of `tidings mcp` may read files of this machine; left out, none",
    ),
  TIDINGS_S3_BUCKET: z
    .string()
    .regex(/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/, expected("the name of a bucket"))
    .optional()
    .describe("Bucket that keeps the files in place of the data folder, with the two keys below"),
  TIDINGS_S3_ENDPOINT: z
    .url({ protocol: /^https?$/, ...expected("the address of a store that speaks S3") })
    .optional()
    .describe("Store that the bucket is in; left out, Amazon's"),
  TIDINGS_S3_REGION: z.string().default("us-east-1").describe("Region of the bucket"),
  TIDINGS_S3_ACCESS_KEY_ID: z.string().optional().describe("The bucket's access key"),
  TIDINGS_S3_SECRET_ACCESS_KEY: z.string().optional().describe("The secret that belongs to it"),
  TIDINGS_WEB_ALLOW: commaList(
    readNetwork,
    "IP addresses or networks such as 10.1.0.0/16, separated by commas",
  ).describe(
    "Networks that are not public and may be reached all the same, as webhook receivers and sources of files; by https, on ports 443 and 8443",
  ),
  TIDINGS_ALLOW_LOCAL_WEBHOOKS: z
    .enum(["true", "false", "1", "0"], expected("true or false"))
    .default("false")
    .describe(
      "For development: receivers on this machine, plain http and any port. Refused unless `HOST` is loopback",
    ),
  TIDINGS_METRICS_TOKEN: z
    .string()
    .regex(/^[!-~]{16,}$/, expected("at least 16 characters without spaces"))
    .optional()
    .describe(
      "Opens `GET /metrics` (Prometheus) to `Authorization: Bearer` with this token, at least 16 characters",
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, ...expected("the address of an OTLP collector, http:// or https://") })
    .optional()
    .describe("Collector that traces are sent to, by OTLP over HTTP, for example `http://localhost:4318`"),
});

function expandHome(path: string): string {
  return resolve(path.replace(/^~(?=$|[/\\])/, homedir()));
}
