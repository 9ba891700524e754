/**
 * What is internal to a service, as patterns: stack traces, connection strings, paths, hosts, addresses.
 *
 * They are met in this order, the large before the small that it is made of. Every repetition has an end, for
 * the text is another's. A pattern that ordinary prose may also meet has a second look at what it found.
 */
import { isIPv4, isIPv6 } from "node:net";

export interface Internal {
  readonly pattern: RegExp;
  /** Whether what was found is internal; it is when this is left out. */
  readonly is?: (found: string) => boolean;
}

const code =
  "[cm]?[jt]sx?|pyc?|java|kt|scala|groovy|go|rb|php|rs|cc?|cpp|hh?|hpp|cs|exs?|erl|swift|lua|p[lm]|sh|sql|jar|war|class|so|dll|vue";
const kept = "log|conf|cfg|ini|toml|ya?ml|json|xml|env|pem|key|crt|sock|db|sqlite3?|lock|pid|tmp|bak";
const roots =
  "home|root|Users|usr|var|opt|etc|srv|tmp|app|apps|proc|sys|dev|mnt|media|private|libs?|s?bin|run|workspaces?|code|src|build|builds|dist|deploy|node_modules|nix|snap|Library|Applications|System|Volumes|www|go|layers|vercel|github";
const space = "[ \\t]";

const markup: readonly Internal[] = [
  { pattern: /<(?:!doctype\s+html|html|head|body)\b[\s\S]*?(?:<\/(?:html|body)\s*>(?:\s*<\/html\s*>)?|$)/gi },
  { pattern: /<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi },
  { pattern: /<!--[\s\S]*?(?:-->|$)/g },
  {
    pattern:
      /<\/?(?:a|b|i|p|h[1-6]|hr|br|div|span|center|pre|code|ul|ol|li|table|t[rdh]|title|meta|link|address|img|em|strong)\b[^<>]{0,500}>/gi,
  },
];

const traces: readonly Internal[] = [
  { pattern: /Traceback \(most recent call last\):?[ \t]*\n(?:[ \t]+[^\n]*(?:\n|$))*/g },
  {
    pattern:
      /Traceback \(most recent call last\):?[^\n]*?(?=\s(?:\w{1,60}\.){0,6}\w{0,60}(?:Error|Exception|Exit|Interrupt|Violation|Timeout)\b(?!\()|\n|$)/g,
  },
  {
    pattern: new RegExp(
      `File "[^"\\n]{1,400}", line \\d+(?:, in [\\w<>.]{1,100})?(?:\\n${space}{4,}[^\\n]*)*`,
      "g",
    ),
  },
  { pattern: /(?:During handling of the above|The above) exception[^\n]{0,80}:/g },
  { pattern: /\bat (?:async )?(?:file:\/\/|node:|webpack|\/|[A-Za-z]:[\\/])[^\s()]{1,400}:\d+/g },
  {
    pattern:
      /\bat (?:async )?(?:new )?(?:[\w$.<>#[\] ]{1,120} )?\((?:(?=[^()\n]{0,400}(?:[/\\]|node:|\.[cm]?[jt]sx?:))[^()\n]{1,400}:\d+|<anonymous>|native|index \d+)\)/g,
  },
  {
    pattern:
      /\bat (?:[\w.$@-]{1,120}\/){0,2}[\w.$<>]{1,200}\((?:[\w$-]{1,80}\.(?:java|kt|scala|groovy)(?::\d+)?|Native Method|Unknown Source)\)(?: ~?\[[^\]\n]{1,120}\])?/g,
  },
  { pattern: /\bat [\w.<>`+,[\]]{1,200}\([^()\n]{0,200}\) in [^\n]{1,300}?:line \d+/g },
  { pattern: /\.\.\. \d+ (?:more|common frames omitted)/g },
  { pattern: /Exception in thread "[^"\n]{0,100}"/g },
  {
    pattern:
      /goroutine \d+ \[[^\]\n]{1,80}\]:(?:\s+(?:created by )?[^\s()]{1,200}(?:\(\*?\w{1,80}\)[^\s()]{0,120})?(?:\([^()\n]{0,300}\))?(?: in goroutine \d+)?\s+[^\s()]{1,300}\.go:\d+(?: \+0x[0-9a-f]{1,16})?){0,100}/g,
  },
  { pattern: /\[signal [^\]\n]{1,200}\]/g },
  { pattern: /\b[\w/-]{1,200}(?:\.[\w-]{1,80}){0,4}\.\(\*\w{1,80}\)\.[\w.]{1,80}(?:\([^()\n]{0,200}\))?/g },
  { pattern: /\b(?:[a-z_]\w{0,40}\.){2,8}[A-Z][\w$]{1,80}/g },
  { pattern: /\b0x[0-9a-f]{4,16}\b/gi },
];

const settings =
  "host|hostaddr|port|user|username|password|dbname|database|sslmode|application_name|connect_timeout";

const addresses: readonly Internal[] = [
  { pattern: /\[parameters: [^\n]{0,1000}?\](?=\s|$)/g },
  { pattern: /\bjdbc:[^\s"'`<>]{3,}/gi },
  {
    pattern:
      /\b[a-z][a-z0-9+.-]{1,30}:\/\/(?:[^\s/@"'`<>]{0,200}@)?(?:\[[0-9a-f:.%]{2,60}\])?[^\s"'`<>()[\]{}|\\^]*/gi,
    is: isInternalUrl,
  },
  {
    pattern:
      /\b[\w.+-]{1,64}:[^\s@/:]{1,128}@(?:\w{2,5}\([^)\s]{1,200}\)|[\w.-]{1,253}(?=[:/])(?::\d{2,5})?)(?:\/[^\s"'`<>)]*)?/g,
  },
  {
    pattern: new RegExp(
      `\\b(?:${settings})=(?:'[^'\\n]{0,200}'|[^\\s']{1,200})(?:\\s(?:${settings})=(?:'[^'\\n]{0,200}'|[^\\s']{1,200})){1,20}`,
      "gi",
    ),
  },
  {
    pattern:
      /\b(?:server|data source|host|addr(?:ess)?|initial catalog|database|user id|uid|user(?:name)?|pwd|password|port)=[^;\s]{1,200};(?:\s?\w[\w ]{1,40}=[^;\s]{0,200};?){1,20}/gi,
  },
  {
    pattern: /\b(?:password|passwd|pwd|secret|api[_-]?key|(?:access[_-]?|auth[_-]?)?token)=[^\s&;,]{1,500}/gi,
  },
  { pattern: /\bsk_(?:live|test)_[\w.-]{8,}|\beyJ[\w-]{10,}\.[\w-]{5,}\.[\w-]*/g },
];

const paths: readonly Internal[] = [
  { pattern: new RegExp(`(?<=(["'\`]))(?:/(?:${roots})/|[A-Za-z]:\\\\)[^"'\`\\n]{1,400}(?=\\1)`, "g") },
  { pattern: /(?<!\w)[A-Za-z]:[\\/](?![\\/])(?:Program Files(?: \(x86\))?)?[^\s"'`<>|*?()]*/g },
  { pattern: /\\\\[\w.$-]{1,100}\\[^\s"'`<>|]+/g },
  { pattern: /\bnode:\w{1,40}\/[\w/.-]{1,200}(?::\d+){0,2}/g },
  { pattern: /(?<![\w/.~-])~(?:[a-z][\w-]{0,40})?\/[^\s"'`<>()]+/g },
  {
    pattern: new RegExp(
      `(?<![\\w./@%~-]|\\b(?:GET|POST|PUT|PATCH|DELETE) )/(?:${roots})/[^\\s"'\`<>()[\\]{},;|]+`,
      "g",
    ),
  },
  {
    pattern: new RegExp(
      `(?<![\\w./@%~-])/(?!v\\d+/)(?:[\\w.@+~%-]{1,100}/){0,20}[\\w.@+~%-]{1,100}\\.(?:${code}|${kept})\\b(?::\\d+){0,2}`,
      "g",
    ),
  },
  { pattern: /(?<![\w/.~-])(?:\.{1,2}\/){1,10}[\w@.-][^\s"'`<>()]*/g },
  {
    pattern:
      /(?<![\w/.@~-])(?:[\w@.-]{1,100}\/){0,10}(?:node_modules|(?:site|dist)-packages)\/[^\s"'`<>()]+/g,
  },
  {
    pattern: new RegExp(
      `(?<![\\w/.@~-])(?:[\\w@.+-]{1,100}/){1,20}[\\w@.+-]{1,100}\\.(?:${code})\\b(?::\\d+){0,2}`,
      "g",
    ),
  },
  {
    pattern: new RegExp(
      `(?<![\\w/.-])[\\w-]{1,100}(?:\\.[\\w-]{1,60}){0,4}\\.(?:${code})(?::\\d+){1,2}(?: \\+0x[0-9a-f]+)?\\b`,
      "g",
    ),
  },
];

/** Names that are not known outside. */
const suffixes = "internal|local|localdomain|lan|corp|intranet|intra|svc|home\\.arpa|consul";
/** Where clouds put machines and databases; buckets (s3) are shown to anybody. */
const clouds =
  "(?:rds|cache|compute(?:-\\d)?|elb|es|docdb|redshift)(?:\\.[\\w-]{1,63}){0,3}\\.amazonaws\\.com|(?:database|cache)\\.windows\\.net|supabase\\.co|neon\\.tech|mongodb\\.net|upstash\\.io|aivencloud\\.com";
/** The ports of databases, queues and the like, and those that services are given in a cluster. */
const ports =
  "1433|1521|2181|2379|3000|3306|4222|5000|5432|5672|6379|6432|8000|8080|8200|8443|8500|9092|9200|9300|11211|15672|27017|50051";
const roles =
  "db|sql|redis|postgres(?:ql)?|mysql|mongo(?:db)?|kafka|rabbitmq|memcached|elasticsearch|cache|queue|broker|worker|backend|server|proxy|gateway|api|svc|service|host";

const hosts: readonly Internal[] = [
  {
    pattern: new RegExp(
      `(?<![\\w./-])(?:\\w[\\w-]{0,62}\\.){1,10}(?:${suffixes})(?::\\d{1,5})?(?![\\w-]|\\.\\w)`,
      "gi",
    ),
  },
  { pattern: new RegExp(`(?<![\\w./-])(?:\\w[\\w-]{0,62}\\.){1,10}(?:${clouds})\\b(?::\\d{1,5})?`, "gi") },
  { pattern: /(?<![\w./@-])(?:[a-z0-9][a-z0-9-]{0,62}\.){1,10}[a-z]{2,24}:\d{2,5}\b(?!:)/gi },
  {
    pattern: new RegExp(
      `(?<![\\w./@-])(?:localhost:\\d{2,5}|(?:[a-z0-9]{1,40}-){1,8}[a-z0-9]{1,40}:(?:80|\\d{3,5})|[a-z]{0,20}(?:${roles})\\d{0,3}:(?:80|\\d{3,5})|[a-z]\\w{0,40}:(?:${ports}))\\b(?!:)`,
      "gi",
    ),
    is: (found) => /[a-z]/i.test(found.split(":")[0] ?? ""),
  },
  {
    pattern:
      /(?<=\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ECONNRESET) )[\w.-]{1,253}(?::\d{1,5})?/g,
  },
  { pattern: /(?<=\blookup )[\w.-]{1,253}(?= on |: )/g },
  { pattern: /(?<=\bresolve host(?:name)?:? ["'`]?)[\w.-]{1,253}/gi },
  { pattern: /(?<=\b(?:host(?:name)?(?: name)?|(?:server|database) at) ["'`])[\w.-]{1,253}(?=["'`])/gi },
  { pattern: /\b(?:[a-z0-9]{1,40}-){1,8}[0-9a-f]{8,10}-[a-z0-9]{5}\b/g },
  { pattern: /\bip-\d{1,3}(?:-\d{1,3}){3}(?:\.[\w-]{1,63}){0,6}/g },
  { pattern: new RegExp(`(?<![\\w./@-])(?:${roles})-(?:[a-z0-9]{1,40}-){0,6}\\d{1,4}\\b`, "gi") },
];

const numbers: readonly Internal[] = [
  {
    pattern:
      /(?<![\w:.])(?:\[[0-9a-f:.]{2,60}(?:%\w{1,20})?\](?::\d{1,5})?|(?:[0-9a-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{1,4})?(?:%\w{1,20})?)(?![\w:])/gi,
    is: (found) => /[0-9a-f]/i.test(found) && isIPv6(found.replace(/^\[|\](?::\d+)?$/g, "")),
  },
  {
    pattern: /(?<![\w.])(?<!\bversion )(?:\d{1,3}\.){3}\d{1,3}(?:\/\d{1,2})?(?::\d{1,5})?(?!\w|\.\d)/gi,
    is: (found) => isIPv4(found.replace(/[/:].*$/, "")),
  },
];

export const internals: readonly Internal[] = [
  ...markup,
  ...traces,
  ...addresses,
  ...paths,
  ...hosts,
  ...numbers,
];

/** The web is public, but for credentials, odd ports, numbers, and names that are not known outside. */
function isInternalUrl(url: string): boolean {
  const [, scheme = "", user, host = "", port] =
    /^([^:]+):\/\/([^/@]*@)?(\[[^\]]*\]|[^/:?#]*)(?::(\d+))?/.exec(url) ?? [];
  if (!/^(?:https?|wss?)$/i.test(scheme)) {
    return !/^tidings$/i.test(scheme);
  }
  const isUnknown = !host.includes(".") || new RegExp(`\\.(?:${suffixes}|${clouds})$`, "i").test(host);
  return (
    user !== undefined || (port !== undefined && !/^(?:80|443)$/.test(port)) || isUnknown || isIPv4(host)
  );
}
