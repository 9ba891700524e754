/**
 * A worker process that a test kills. It appends the payload of every job that it runs to a file, up to a
 * limit: the last of them, and those that it starts after it, do not end.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { openDatabase } from "../../src/database/connect.ts";
import { createJobs } from "../../src/jobs/jobs.ts";
import type { DatabaseAddress } from "./jobs-fixture.ts";

const [address = "", logFile = "", limit = ""] = process.argv.slice(2);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const { url, dataDir } = JSON.parse(address) as DatabaseAddress; // written by the test that starts this
const database = await openDatabase({ url, dataDir, log });

let runs = 0;
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
        if (runs < Number(limit)) {
          runs += 1;
          appendFileSync(logFile, `${payload}\n`);
        }
        if (runs === Number(limit)) {
          await new Promise(() => undefined);
        }
        await delay(2);
        return undefined;
      },
    },
  ],
}).start();
