/** Import files: accepted formats and sources, and the failures of unreadable files. */
import type { RequestListener } from "node:http";
import { describe, expect, test } from "vitest";
import { readCsv } from "../src/platform/automation/imports/csv.ts";
import { imports } from "../tools/imports.ts";
import { uploads } from "../tools/uploads.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { lendTestDatabase } from "./support/database.ts";
import { iterations } from "./support/iterations.ts";
import { startReceiver } from "./support/receiver.ts";

const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_SOURCES: "true" } });

async function finish(id: string) {
  await app.runDueJobs();
  return (await app.call(imports.get_import, { id })).data;
}

async function importText(text: string) {
  const content_base64 = Buffer.from(text).toString("base64");
  const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "people.csv" });
  return finish((await app.call(imports.import_contacts, { upload_id: data.id })).data.id);
}

const good = (count: number) =>
  Array.from({ length: count }, (_, index) => `+1415600${String(index).padStart(4, "0")},Ann\n`).join("");

describe("a readable file", () => {
  const files: readonly [how: string, text: string, badLine: number][] = [
    ["with CRLF, in cells too", 'phone,note\r\n+14155550110,"a\r\nb"\r\n\r\n12,\r\n', 5],
    ["with CR", "phone,note\r+14155550110,a\r12,\r", 3],
    ["with both", "phone,note\r\n+14155550110,a\n12,\r\n", 3],
    ["with Excel's delimiter line", "sep=;\r\nphone;note\r\n+14155550110;a\r\n12;\r\n", 4],
    ["with a byte order mark", "\ufeffphone,note\n+14155550110,a\n12,\n", 3],
    ["with tabs", "phone\tnote\n+14155550110\ta\n12\t\n", 3],
    ["with a title of several words", "Phone Number,note\n+14155550110,a\n12,\n", 3],
    ["with a title in one word", "phoneNumber,note\n+14155550110,a\n12,\n", 3],
    ["with rows of nothing but delimiters", "phone,note\n+14155550110,a\n,\n , \n12,\n,,,\n", 5],
    ["with a bad row of several lines", 'phone,note\n+14155550110,a\n12,"of\nthree\nlines"\n', 3],
  ];
  test.each(files)("%s", async (_, text, badLine) => {
    const report = await importText(text);
    expect(report).toMatchObject({ status: "done", total: 2, rejected: 1, failure: null });
    // The line on which the row begins.
    expect(report.errors.map(({ line }) => line)).toEqual([badLine]);
  });
});

test("200 columns are read, and a row of many more cells is rejected", async () => {
  const titles = Array.from({ length: 199 }, (_, index) => `c${index}`).join();
  const report = await importText(`phone,${titles}\n+14155550198,a\n+14155550199${",".repeat(100_000)}x\n`);
  expect(report).toMatchObject({ status: "done", total: 2, created: 1, rejected: 1 });
  expect(report.errors[0]?.reason).toMatch(/^The row has more than 200 cells, but the header has 200: /);
});

test("a cell of 100 kB is neither a phone number nor a list of tags", async () => {
  const digits = "1".repeat(100_000);
  const report = await importText(`phone,tags\n+1${digits},a\n+14155550197,${"a;".repeat(50_000)}\n`);
  expect(report.errors.map(({ reason }) => reason)).toEqual([
    "The phone number is longer than 32 characters.",
    expect.stringContaining("At most 50 tags"),
  ]);
});

describe("the failure of an unreadable file says what to do", () => {
  const files: readonly [why: string, text: string, failure: RegExp][] = [
    ["no line", " \n\n", /^The file is empty: it needs a line/],
    [
      "no column of numbers",
      "name,city\n",
      /no column named phone_number or phone among the 2 .*import the file/,
    ],
    ["two columns of numbers", "phone,name,phone_number\n", /columns 1 and 3 .*rename or delete/],
    ["two columns of one name", "phone,city,city\n", /columns 2 and 3 .*rename or delete/],
    ["201 columns", `phone${",a".repeat(200)}\n`, /^The first line has more than 200 columns: delete/],
    ["26,000 columns", `phone${",a".repeat(26_000)}\n`, /^The first line has more than 200 columns: delete/],
  ];
  test.each(files)("%s", async (_, text, failure) => {
    const report = await importText(text);
    expect(report).toMatchObject({ status: "failed", total: 0, failure: expect.stringMatching(failure) });
  });

  const broken: readonly [why: string, row: string, failure: RegExp][] = [
    ["text after a closing quotation mark", '+14155550111,"Ann" B\n', /doubled/],
    ["a quotation mark that is not closed", '+14155550111,"Ann\n+14155550112,B\n', /not closed/],
    ["a line of 10 MB", `+14155550111,${"x".repeat(10_000_000)}\n`, /longer than 128 kB/],
    ["ten million empty cells", `+14155550111${",".repeat(10_000_000)}\n`, /longer than 128 kB/],
    ["too many empty rows", ",\n".repeat(200_000), /rows are empty/],
  ];
  test.each(broken)("%s: every row before it is imported", async (_, row, failure) => {
    const report = await importText(`phone,name\n${good(1_000)}${row}+14155550113,After\n`);
    expect(report).toMatchObject({ status: "failed", total: 1_000, failure: expect.stringMatching(failure) });
    expect(report.failure).toContain(failure.source.includes("empty") ? "from line 1" : "from line 1002 on");
    expect(report.failure).toMatch(/ Then import the file again\.$/);
  });
});

test("reading a long file adds no listeners to the parser", async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error) => {
    if (warning.name === "MaxListenersExceededWarning") {
      warnings.push(warning);
    }
  };
  process.on("warning", listen);
  const count = iterations(20, 100);
  const chunk = Buffer.from(good(2_000));
  const chunks = async function* () {
    for (let number = 0; number < count; number += 1) {
      yield chunk;
    }
  };
  let rows = 0;
  for await (const _ of readCsv(chunks())) {
    rows += 1;
  }
  process.off("warning", listen);
  expect([rows, warnings]).toEqual([count * 2_000, []]);
});

describe("a file at a URL", () => {
  const csv = "phone\n+14155550150\n";

  async function importFrom(answer: RequestListener, path = "/export") {
    await using source = await startReceiver(answer);
    const { data } = await app.call(imports.import_contacts, {
      url: `http://127.0.0.1:${source.port}${path}`,
    });
    return await finish(data.id);
  }

  test.each([["text/csv"], ["text/plain; charset=utf-8"], ["application/octet-stream"], [undefined]])(
    "is fetched and read when its content type is %s",
    async (type) => {
      const report = await importFrom((_, response) => {
        response.writeHead(200, type === undefined ? {} : { "content-type": type }).end(csv);
      });
      expect(report).toMatchObject({ status: "done", total: 1 });
    },
  );

  const failing: readonly [what: string, answer: RequestListener, failure: RegExp][] = [
    [
      "a page",
      (_, to) => to.setHeader("content-type", "text/html").end("<html></html>"),
      /declared type is text\/html/,
    ],
    ["a redirect", (_, to) => to.writeHead(302, { location: "/b.csv" }).end(), /send the final URL/],
    ["an error", (_, to) => to.writeHead(503).end(), /answers with 503.*try again/],
    [
      "a document",
      (_, to) => to.setHeader("content-type", "application/pdf").end("%PDF-1.4"),
      /not to a CSV file: use/,
    ],
    [
      "half of it",
      (_, to) => {
        to.writeHead(200, { "content-type": "text/csv", "content-length": "1000" });
        to.write(csv, () => setImmediate(() => to.destroy()));
      },
      /before its response was complete.*try again/,
    ],
  ];
  test.each(failing)("fails the import when the response is %s", async (_, answer, failure) => {
    const report = await importFrom(answer);
    expect(report).toMatchObject({ status: "failed", total: 0, failure: expect.stringMatching(failure) });
  });

  test("is rejected at once when its address is not allowed", async () => {
    const call = app.call(imports.import_contacts, { url: "http://10.0.0.1/people.csv" });
    await expect(call).rejects.toMatchObject({ status: 400, code: "url_not_allowed" });
  });
});

test("an import that is fetching its file when the app stops is restarted by the next process", async () => {
  let answers = false;
  await using source = await startReceiver((_, response) => {
    if (answers) {
      response.setHeader("content-type", "text/csv").end("phone\n+14155550180\n");
    }
  });
  await using database = await lendTestDatabase();
  const env = { TIDINGS_ALLOW_LOCAL_SOURCES: "true" };
  const first = await startTestApp({ database, env, runsJobs: true });
  const url = `http://127.0.0.1:${source.port}/people.csv`;
  const { data } = await first.call(imports.import_contacts, { url });
  await expect.poll(() => source.requests).toBe(1);
  await first[Symbol.asyncDispose]();
  answers = true;
  await using second = await startTestApp({ database, env });
  expect((await second.call(imports.get_import, { id: data.id })).data.status).toBe("running");
  await second.runDueJobs();
  expect((await second.call(imports.get_import, { id: data.id })).data).toMatchObject({
    status: "done",
    created: 1,
  });
});
