/** No promise is left unobserved: one that fails then ends the process, or the run of the tests. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkPromises } from "./support/promises/rules.ts";

const folders = ["src", "tools", "emulator", "test", "bench", "scripts"];

/** What the rules must reject, each as the body of an async function. */
const rejected: Readonly<Record<string, string>> = {
  "a call that is awaited after another await": `
    const sending = send();
    await other();
    await sending;`,
  "one of two calls, each of which is awaited": `
    const [one, two] = [send(), send()];
    await one;
    await two;`,
  "a call that is expected to fail after another await": `
    const sending = send();
    await other();
    await expect(sending).rejects.toThrow();`,
  "a call that is given to a function that takes a promise after another await": `
    const fail = (call: Promise<unknown>) => expectFailure(call);
    const sending = send();
    await other();
    await fail(sending);`,
  "calls in a list that are awaited together after another await": `
    const calls = ids.map((id) => send(id));
    for await (const event of events) {
      use(event);
    }
    await Promise.all(calls);`,
  "calls that are added to a list in a loop that waits": `
    const calls: Promise<void>[] = [];
    for (const id of ids) {
      calls.push(send(id));
      await pause();
    }
    await Promise.all(calls);`,
  "a call that is assigned before another await": `
    let sending = nothing;
    sending = send();
    await other();
    await sending;`,
  "what follows from a call, and is awaited after another await": `
    const answer = send().then((response) => response.json());
    await other();
    use(await answer);`,
  "a promise that can fail, and is awaited after another await": `
    const ended = new Promise((resolve, reject) => start(resolve, reject));
    await other();
    await ended;`,
  "a call that is returned in an object after another await": `
    const start = async () => {
      const run = work();
      await other();
      return { run };
    };
    const started = await start();
    await started.run;`,
  "a loop over calls that awaits each": `
    for (const call of [send(1), send(2)]) {
      await expect(call).rejects.toThrow();
    }`,
  "a loop over calls by name that awaits each": `
    for (const [name, call] of Object.entries(calls)) {
      print(name, await call);
    }`,
  "a call before an await in the same list": `
    await Promise.all([send(1), send(await nextId())]);`,
  "an async callback of an event": `
    process.once("SIGTERM", async () => {
      await stop();
    });`,
  "an async function as the callback of a timer": `
    const poll = async () => {
      await read();
    };
    setInterval(poll, 1_000);`,
};

const allowed: Readonly<Record<string, string>> = {
  "a call that is awaited next": `
    const sending = send();
    use(ids);
    expect(await sending).toBe(1);`,
  "calls that are awaited together": `
    await other();
    const calls = ids.map((id) => send(id));
    const [answers] = await Promise.all([Promise.all(calls), send(4)]);`,
  "a call whose failure has a handler where it is started": `
    const sending = send();
    sending.catch(() => undefined);
    await other();
    await sending;`,
  "a call whose failure is a result": `
    const sending = send().then(use, report);
    const sendings = Promise.allSettled([send(), send()]);
    await other();
    await Promise.all([sending, sendings]);`,
  "a call that is given to a function that takes a promise": `
    async function meanwhile(call: Promise<unknown>, steps: () => Promise<unknown>) {
      await Promise.all([call, steps()]);
    }
    const sending = send();
    await meanwhile(sending, async () => {
      await other();
    });`,
  "an await in another function": `
    const sending = send();
    const steps = async () => {
      await other();
    };
    await Promise.all([sending, steps()]);`,
  "a promise that can't fail": `
    const ended = new Promise((resolve) => socket.once("close", resolve));
    const late = sleep(1_000);
    await other();
    await Promise.race([ended, late]);`,
  "a loop that starts each call when the last one has ended": `
    for (const call of [() => send(1), () => send(2)]) {
      await expect(call()).rejects.toThrow();
    }`,
  "a loop over the outcomes of calls": `
    for (const outcome of await Promise.allSettled(calls)) {
      await print(outcome);
    }`,
  "a value that is no promise": `
    const contact = read(row);
    await other();
    await update(contact);
    return { contact };`,
  "a callback that handles the failure": `
    process.once("SIGTERM", () => {
      stop().catch(report);
    });`,
};

const check = (body: string) =>
  checkPromises(new Map([["planted.ts", `export async function planted() {${body}\n}`]]));

describe("the rules about promises", () => {
  test.each(Object.entries(rejected))("reject %s", (_, body) => {
    expect(check(body)).not.toEqual([]);
  });

  test.each(Object.entries(allowed))("allow %s", (_, body) => {
    expect(check(body)).toEqual([]);
  });

  test("name the line, and a function of another file that takes a promise", () => {
    const texts = new Map([
      ["fail.ts", "export async function fail(call: Promise<unknown>) { await call; }"],
      [
        "test.ts",
        'import { fail } from "./fail.ts";\nconst call = send();\nawait other();\nawait fail(call);',
      ],
    ]);
    expect(checkPromises(texts)).toEqual(['test.ts:2: "call" is not observed before the await in line 3']);
  });

  test("hold in every file", async () => {
    const lists = await Promise.all(
      folders.map(async (folder) =>
        (await readdir(folder, { recursive: true })).map((name) => join(folder, name)),
      ),
    );
    const paths = lists.flat().filter((path) => path.endsWith(".ts"));
    const texts = await Promise.all(paths.map(async (path) => [path, await readFile(path, "utf8")] as const));
    expect(checkPromises(new Map(texts))).toEqual([]);
  });
});
