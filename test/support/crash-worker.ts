/** A worker process that a test kills. It appends the payload of every job that it runs to a file. */
import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { openDatabase } from "../../src/database/connect.ts";
import { createJobs } from "../../src/jobs/jobs.ts";
import type { DatabaseAddress } from "./jobs-fixture.ts";

const [address = "", logFile = ""] = process.argv.slice(2);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const { url, dataDir } = JSON.parse(address) as DatabaseAddress; // written by the test that starts this
const database = await openDatabase({ url, dataDir, log });

createJobs({
  database,
  now: () => new Date(),
  log,
  definitions: [
    {
      name: "a.b",
      payload: z.unknown(),
      leaseMs: 500,
      async run(payload) {
        await delay(2);
        appendFileSync(logFile, `${payload}\n`);
        await delay(2);
        return undefined;
      },
    },
  ],
}).start();
