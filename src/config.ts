/** The settings: the environment, parsed once by one schema. Nothing else reads process.env. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { allScopes, readScope } from "../tools/scopes.ts";

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const toolModes = ["core", "all", "search"] as const;

/** A field's complaint, which ends the sentence "NAME takes …"; it never repeats the value, which may be secret. */
const takes = (what: string) => ({ error: what });

const Environment = z.object({
  HOST: z
    .string()
    .regex(/^[\w.:-]+$/, takes("a host name or an IP address"))
    .default("127.0.0.1")
    .describe("Address that the service listens on"),
  PORT: whole(0, 65_535).default(3000).describe("Port that the service listens on; 0 takes any free one"),
  TIDINGS_DATA_DIR: z
    .string()
    .transform(expandHome)
    .prefault("~/.tidings")
    .describe("Folder of the embedded database and of the key that processes on this machine share"),
  DATABASE_URL: z
    .string()
    .regex(
      /^postgres(ql)?:\/\/\S*$/,
      takes("a PostgreSQL address, for example postgres://user@host:5432/name"),
    )
    .optional()
    .describe("PostgreSQL to use in place of the embedded database, `postgres://…`"),
  TIDINGS_SECRET: z
    .string()
    .min(32, takes("at least 32 characters"))
    .optional()
    .describe(
      "Signs access tokens; at least 32 characters. Left out, one is generated and kept in the database",
    ),
  TIDINGS_PREVIOUS_SECRET: z
    .string()
    .min(32, takes("at least 32 characters"))
    .optional()
    .describe(
      "The secret that `TIDINGS_SECRET` replaced; what was signed under it stays good until it expires",
    ),
  TIDINGS_BASE_URL: z
    .url({ protocol: /^https?$/, ...takes("the address of a Tidings service, http:// or https://") })
    .optional()
    .describe("A running service for `tidings mcp` to forward to, with `TIDINGS_API_KEY`"),
  TIDINGS_API_KEY: z.string().optional().describe("The key to use there"),
  TIDINGS_SCOPES: list(readScope, `scopes separated by commas, of: ${allScopes.join(", ")}`).describe(
    "What the key may do, for `tidings mcp`, in either spelling; left out, the service is asked",
  ),
  TIDINGS_TOOLSETS: names("Only the tools of these resources, for example contacts,messages"),
  TIDINGS_READ_ONLY: z
    .enum(["true", "false", "1", "0"], takes("true or false"))
    .default("false")
    .describe("Whether tools that change something are hidden and refused"),
  TIDINGS_TOOLS_ALLOW: names("Only these tools"),
  TIDINGS_TOOLS_DENY: names("Not these tools, whatever else is allowed"),
  TIDINGS_TOOL_MODE: z
    .enum(toolModes, takes(`one of ${toolModes.join(", ")}`))
    .default("core")
    .describe("core: the usual tools; all: every tool; search: two tools that find and run the others"),
  TIDINGS_RESULT_LIMIT: whole(2_000, 10_000_000)
    .default(80_000)
    .describe("Longest answer of a tool, in characters; a longer one is cut after an item"),
  TIDINGS_OWNER_EMAIL: z
    .email(takes("an e-mail address"))
    .optional()
    .describe("First start: the owner's e-mail address"),
  TIDINGS_OWNER_PASSWORD: z
    .string()
    .min(8, takes("at least 8 characters"))
    .optional()
    .describe(
      "First start: the owner's password, at least 8 characters. Left out, one is generated and printed",
    ),
  TIDINGS_BOOTSTRAP_KEY: z
    .string()
    .regex(/^sk_live_[!-~]{24,}$/, takes("a key that starts with sk_live_, at least 32 characters long"))
    .optional()
    .describe(
      "First start: the first API key, `sk_live_` and at least 24 more characters. Left out, one is generated and printed",
    ),
  TIDINGS_LOG_LEVEL: z
    .enum(logLevels, takes(`one of ${logLevels.join(", ")}`))
    .default("info")
    .describe(`How much is logged, to stderr: ${logLevels.join(", ")}`),
  TIDINGS_RATE_LIMIT: whole(1, 1_000_000)
    .default(50)
    .describe("Requests a second for each credential, sustained"),
  TIDINGS_RATE_BURST: whole(1, 1_000_000).default(100).describe("Requests at once for each credential"),
  TIDINGS_ALLOWED_HOSTS: list(readHost, "host names without a port, separated by commas").describe(
    "Host names by which /mcp may be called, beside the loopback ones",
  ),
  TIDINGS_ALLOWED_ORIGINS: list(
    readOrigin,
    "origins such as https://app.example.com, separated by commas",
  ).describe("Origins of web pages that may call /mcp, beside the loopback ones"),
  TIDINGS_TRUSTED_PROXIES: list(
    readNetwork,
    "IP addresses or networks such as 10.0.0.0/8, separated by commas",
  ).describe("Proxies whose X-Forwarded-For is believed: IP addresses and networks"),
  TIDINGS_BODY_LIMIT: whole(1_024, 104_857_600)
    .default(1_048_576)
    .describe("Largest request body that is taken, in bytes"),
});

const Settings = Environment.superRefine(({ TIDINGS_BASE_URL, TIDINGS_API_KEY }, context) => {
  if ((TIDINGS_BASE_URL === undefined) !== (TIDINGS_API_KEY === undefined)) {
    const [missing, given] =
      TIDINGS_API_KEY === undefined
        ? ["TIDINGS_API_KEY", "TIDINGS_BASE_URL"]
        : ["TIDINGS_BASE_URL", "TIDINGS_API_KEY"];
    context.addIssue({ code: "custom", path: [missing], message: `a value when ${given} is set` });
  }
}).transform(arrange);

export type Config = z.output<typeof Settings>;

/** Every setting as the README's table shows it; the default is empty where there is none. */
export const settings: readonly { name: string; default: string; description: string }[] = Object.entries(
  Environment.shape,
).map(([name, field]) => ({ name, default: defaultOf(field), description: field.description ?? "" }));

/** A setting is wrong: one line that names it and what it takes. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Reads the settings; an empty text is as good as none. @throws ConfigError */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): {
  config: Config;
  warnings: string[];
} {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const parsed = Settings.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConfigError(`${issue?.path[0]?.toString()} takes ${issue?.message}.`);
  }
  return { config: parsed.data, warnings: warnOfUnknown(Object.keys(given)) };
}

/** The settings in the house's own words. */
function arrange(env: z.output<typeof Environment>) {
  const { TIDINGS_BASE_URL: baseUrl, TIDINGS_API_KEY: key } = env;
  return {
    host: env.HOST,
    port: env.PORT,
    dataDir: env.TIDINGS_DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    secret: env.TIDINGS_SECRET,
    previousSecret: env.TIDINGS_PREVIOUS_SECRET,
    /** The service to forward to, in place of one of our own. */
    upstream: baseUrl !== undefined && key !== undefined ? { baseUrl, key } : undefined,
    /** What the first start is to make. */
    owner: {
      email: env.TIDINGS_OWNER_EMAIL,
      password: env.TIDINGS_OWNER_PASSWORD,
      key: env.TIDINGS_BOOTSTRAP_KEY,
    },
    logLevel: env.TIDINGS_LOG_LEVEL,
    rates: { perSecond: env.TIDINGS_RATE_LIMIT, burst: env.TIDINGS_RATE_BURST },
    allowedHosts: env.TIDINGS_ALLOWED_HOSTS,
    allowedOrigins: env.TIDINGS_ALLOWED_ORIGINS,
    trustedProxies: env.TIDINGS_TRUSTED_PROXIES,
    bodyLimit: env.TIDINGS_BODY_LIMIT,
    /** What the key is said to be allowed; undefined if the service is to be asked. */
    scopes: env.TIDINGS_SCOPES.length > 0 ? env.TIDINGS_SCOPES : undefined,
    narrowing: {
      toolsets: env.TIDINGS_TOOLSETS,
      readOnly: ["true", "1"].includes(env.TIDINGS_READ_ONLY),
      allow: env.TIDINGS_TOOLS_ALLOW,
      deny: env.TIDINGS_TOOLS_DENY,
      mode: env.TIDINGS_TOOL_MODE,
    },
    resultLimit: env.TIDINGS_RESULT_LIMIT,
  };
}

/** The values that no log may show. */
export function secretsOf({ upstream, secret, previousSecret, owner, databaseUrl }: Config): string[] {
  const password =
    databaseUrl !== undefined && URL.canParse(databaseUrl) ? new URL(databaseUrl).password : "";
  const values = [
    upstream?.key,
    secret,
    previousSecret,
    owner.password,
    owner.key,
    password,
    decode(password),
  ];
  return values.flatMap((value) => value || []);
}

/** As it was before it was written into an address; as it stands if that can't be read. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Names between commas; whoever knows the tools says whether they exist. */
function names(description: string) {
  const read = (text: string) => (/^[\w-]{1,64}$/.test(text) ? text : undefined);
  return list(read, "names separated by commas").describe(description);
}

/** A whole number within limits. */
function whole(from: number, to: number) {
  const what = takes(`a whole number from ${from} to ${to}`);
  return z.string().regex(/^\d+$/, what).transform(Number).pipe(z.number().min(from, what).max(to, what));
}

/** Texts between commas, each read by `read`, which answers undefined to what it can't read. */
function list<Value extends string>(read: (text: string) => Value | undefined, what: string) {
  return z
    .string()
    .transform((text, context): readonly Value[] => {
      const items = text.split(",").flatMap((item) => item.trim() || []);
      const values = items.flatMap((item) => read(item) ?? []);
      if (values.length < items.length) {
        context.addIssue({ code: "custom", message: what });
      }
      return values;
    })
    .default([]);
}

function readHost(text: string): string | undefined {
  return /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[a-f\d:.]+\])$/i.test(text) ? text.toLowerCase() : undefined;
}

/** An origin as a browser writes it: lower case, without the scheme's own port. */
function readOrigin(text: string): string | undefined {
  const isOrigin = /^https?:\/\/[^\s/?#@]+$/i.test(text) && URL.canParse(text);
  return isOrigin ? new URL(text).origin : undefined;
}

function readNetwork(text: string): string | undefined {
  const [address = "", bits] = text.split("/");
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return isAddress && (bits === undefined || ipaddr.isValidCIDR(text)) ? text : undefined;
}

function expandHome(path: string): string {
  return resolve(path.replace(/^~(?=$|[/\\])/, homedir()));
}

function defaultOf(field: z.ZodType): string {
  const isGiven = field instanceof z.ZodDefault || field instanceof z.ZodPrefault;
  return isGiven ? String(field.def.defaultValue) : "";
}

/** A misspelt setting does nothing, which nobody notices. */
function warnOfUnknown(names: readonly string[]): string[] {
  const known = Object.keys(Environment.shape);
  const isOurs = (name: string) => name.startsWith("TIDINGS_") && !name.startsWith("TIDINGS_TEST_");
  return names
    .filter((name) => isOurs(name) && !known.includes(name))
    .map((name) => `Unknown setting ${name}; the nearest is ${nearest(name, known)}.`);
}

function nearest(name: string, known: readonly string[]): string | undefined {
  return known.toSorted((a, b) => distance(name, a) - distance(name, b))[0];
}

/** How many letters must be added, removed or replaced (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const above = row;
    row = [line + 1];
    for (const [index, other] of [...to].entries()) {
      const replaced = (above[index] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (above[index + 1] ?? 0) + 1, (row[index] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}
