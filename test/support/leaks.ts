/** Sentences that people may read, and generated internals of a service, which they may not. */
import fc from "fast-check";

/** What people may read, with everything in it that looks a little like an internal. */
export const prose = [
  "The contact could not be saved.",
  "Your plan allows 3 broadcasts a day.",
  "The template was rejected on 2026-03-14 at 10:30:05 by the review authority.",
  "Call +1 (415) 555-0123 or write to help@example.com.",
  "Variable {{1}} is missing from template_data.body, the body.",
  "Send free text and/or an approved template; see either/or below.",
  "This needs version 2.14.1 or v1.2.3.4 of the app.",
  "GET /v1/contacts lists them, and /v1/openapi.json describes it.",
  "Please select a contact from the list where you saved it.",
  "Update the set, then delete from it what you do not need.",
  "The limit is < 5 and the size > 2 per request.",
  "Read https://docs.example.com/errors#window, or ask support.",
  "Der Kontakt wurde nicht gefunden: Größe zu klein.",
  "请检查电话号码后再试。",
  "Field buttons[0].url must be a URL: it is not one.",
  "Open 24/7, 09:00-17:30, ratio 3:2, 50% off, e.g. tomorrow.",
  "Error 131047: more than 24 hours have passed.",
  "The id con_0192f1c8 (550e8400-e29b-41d4-a716-446655440000) is unknown.",
  "Use create_contact with {name} or <id>, not both.",
  "We met at noon (room 4:30), at last.",
] as const;

const word = fc.constantFrom("tidings", "billing", "wallet", "inbox", "ledger", "quota");
const number = fc.integer({ min: 1, max: 250 });
const port = fc.constantFrom(5432, 6379, 3000, 8080, 9092, 27017);
const line = fc.integer({ min: 1, max: 900 });
const ip = fc
  .tuple(fc.constantFrom(10, 172, 192, 100, 8), number, number, number)
  .map((parts) => parts.join("."));
const file = fc
  .tuple(
    fc.constantFrom("/app/src", "/home/deploy/current", "/usr/lib/node_modules/pg", "/srv/www", "/var/task"),
    word,
  )
  .map(([folder, name]) => `${folder}/${name}/handler`);

/** An internal, and what of it must not be seen. */
export interface Leak {
  readonly text: string;
  readonly secrets: readonly string[];
}
export const leak = (text: string, ...secrets: string[]): Leak => ({ text, secrets });

export const leaks: Readonly<Record<string, fc.Arbitrary<Leak>>> = {
  html: word.map((w) =>
    leak(
      `<!DOCTYPE html>\n<html><head><title>${w} 502</title></head><body><h1>nginx/1.18 ${w}</h1></body></html>`,
      w,
      "nginx",
    ),
  ),
  javascript: fc
    .tuple(word, file, line)
    .map(([w, f, n]) =>
      leak(
        `TypeError: x\n    at ${w}Repo.find (${f}.js:${n}:11)\n    at async Promise.all (index 0)\n    at process.processTicks (node:internal/process/task_queues:95:5)\n    at file://${f}.mjs:${n}:2`,
        `${w}Repo`,
        f,
        "task_queues",
      ),
    ),
  python: fc
    .tuple(word, file, line)
    .map(([w, f, n]) =>
      leak(
        `Traceback (most recent call last):\n  File "${f}.py", line ${n}, in ${w}_view\n    return self.${w}.execute(query)\nValueError: x`,
        `${w}_view`,
        f,
        "execute",
      ),
    ),
  "python on one line": fc
    .tuple(word, file, line)
    .map(([w, f, n]) =>
      leak(
        `Traceback (most recent call last): File "${f}.py", line ${n}, in ${w}_view return self.${w}.execute(query) KeyError: 'x'`,
        `${w}_view`,
        f,
        "execute",
      ),
    ),
  java: fc
    .tuple(word, line)
    .map(([w, n]) =>
      leak(
        `com.acme.${w}.StoreException: x\n\tat com.acme.${w}.Store.load(Store.java:${n})\n\tat java.base/java.lang.Thread.run(Thread.java:833)\n\t... 23 more`,
        `acme.${w}`,
        "Store.java",
        "Thread",
      ),
    ),
  go: fc
    .tuple(word, file, line)
    .map(([w, f, n]) =>
      leak(
        `goroutine 17 [running]:\nmain.(*${w}Server).handle(0xc0001b2000, 0x1)\n\t${f}.go:${n} +0x1d\ncreated by net/http.(*Server).Serve in goroutine 1\n\t/usr/local/go/src/net/http/server.go:3086 +0x5cb`,
        `${w}Server`,
        f,
        "server.go",
        "0xc000",
      ),
    ),
  path: fc
    .tuple(file, fc.constantFrom(".ts:12:5", ".log", ".env", ""))
    .map(([f, end]) => leak(`open ${f}${end}`, f)),
  "relative path": word.map((w) => leak(`in src/${w}/store.ts:42`, `${w}/store`)),
  windows: word.map((w) => leak(`C:\\Services\\${w}\\bin\\app.dll`, w, "Services")),
  ipv4: fc
    .tuple(ip, fc.option(port))
    .map(([a, p]) => leak(`connect ECONNREFUSED ${a}${p === null ? "" : `:${p}`}`, a)),
  ipv6: fc.tuple(number, port).map(([n, p]) => leak(`[fd00:${n}::1f]:${p}`, `fd00:${n}`)),
  host: fc
    .tuple(word, fc.constantFrom("db.internal", "prod.svc.cluster.local", "corp", "lan:8443"))
    .map(([w, end]) => leak(`${w}-api.${end}`, `${w}-api`)),
  "host and port": fc.tuple(word, port).map(([w, p]) => leak(`${w}-db:${p}`, `${w}-db`)),
  "unknown host": word.map((w) => leak(`getaddrinfo ENOTFOUND ${w}-primary`, `${w}-primary`)),
  "cloud host": word.map((w) => leak(`${w}.c9x.eu-west-1.rds.amazonaws.com`, w, "c9x")),
  url: fc
    .tuple(word, ip, port)
    .chain(([w, a, p]) =>
      fc.constantFrom(
        leak(`http://${a}:${p}/v1/${w}`, a, w),
        leak(`http://${w}:${p}/x`, w),
        leak(`https://${w}.internal/x`, w),
      ),
    ),
  dsn: fc
    .tuple(word, fc.constantFrom("postgres", "mysql", "redis", "mongodb+srv", "amqp"))
    .map(([w, scheme]) =>
      leak(`${scheme}://${w}:s3cr3t@${w}-db.example.com:5432/main?ssl=true`, w, "s3cr3t"),
    ),
  "key-value dsn": word.map((w) =>
    leak(`host=${w}-db port=5432 user=${w} password=s3cr3t dbname=main`, w, "s3cr3t"),
  ),
  "semicolon dsn": word.map((w) =>
    leak(`Server=tcp:${w},1433;Initial Catalog=main;User ID=sa;Password=s3cr3t;`, w, "s3cr3t"),
  ),
  "go dsn": word.map((w) => leak(`root:s3cr3t@tcp(${w}:3306)/main`, w, "s3cr3t")),
  select: word.map((w) =>
    leak(
      `select "id", "${w}_col" from "${w}" where "organization_id" = $1 and "a" in ('x. Y', ?)`,
      w,
      "organization_id",
    ),
  ),
  sql: fc
    .tuple(
      word,
      fc.constantFrom(
        "SELECT id FROM ?x WHERE secret_col = 'Dear Sir. Hello'",
        "INSERT INTO ?x (id, secret_col)\nVALUES (1, 2)",
        "UPDATE ?x SET secret_col = 1",
        "DELETE FROM ?x WHERE secret_col = 2",
        "update ?x set secret_col = ? where id = ?",
        "insert into ?x (secret_col) values (?, ?)",
      ),
    )
    .map(([w, text]) => leak(text.replace("?x", w), w, "secret_col")),
};
