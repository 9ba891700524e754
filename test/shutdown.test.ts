/** Shutdown: what runs ends, and nothing starts. */

import { once } from "node:events";
import { Server } from "node:http";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { newJob } from "../src/jobs/job.ts";
import { defineJob, implement } from "../src/platform/foundation/kernel/index.ts";
import { modules } from "../src/platform/index.ts";
import { startTestApp } from "./support/app.ts";
import { multipartForm, png } from "./support/files.ts";
import { meanwhile } from "./support/meanwhile.ts";

test("a job that the shutdown ends is not started again by the same process", async () => {
  let attempts = 0;
  let isOpen = false;
  const endlessJob = defineJob({
    name: "endless.job",
    payload: z.object({}),
    async run(_, world) {
      attempts += 1;
      if (!world.stopping.aborted) {
        await once(world.stopping, "abort");
      }
      return { runAgainAt: world.now() };
    },
  });
  const starter = implement(
    {},
    {
      operations: {},
      jobs: [endlessJob],
      routes: [
        {
          methods: ["POST"],
          path: "/start-job",
          credential: "any",
          scope: "inbox:write",
          body: "none",
          async handle(_, world) {
            await world.database.transaction((tx) => tx.enqueue([newJob(endlessJob, {})]));
            return { status: 204 };
          },
        },
        {
          methods: ["POST"],
          path: "/stay-open",
          credential: "any",
          scope: "inbox:write",
          body: "none",
          /** The server waits for this request, long enough for the worker to claim the job again. */
          async handle(_, { stopping, database }) {
            isOpen = true;
            await once(stopping, "abort");
            for (let query = 0; query < 200 && attempts === 1; query += 1) {
              await database.queries.selectFrom("jobs").select("id").execute();
            }
            return { status: 204 };
          },
        },
      ],
    },
  );
  const app = await startTestApp({ enabledModules: { ...modules, starter }, runsJobs: true });
  await app.fetch("/start-job", { method: "POST" });
  const answer = await meanwhile(app.fetch("/stay-open", { method: "POST" }), async () => {
    await expect.poll(() => isOpen && attempts).toBe(1);
    await app[Symbol.asyncDispose]();
  });
  expect(answer.status).toBe(204);
  expect(attempts).toBe(1);
});

test("a connection that has just served a file does not hold up the shutdown", async () => {
  const app = await startTestApp();
  const answer = await app.fetch("/v1/uploads", { method: "POST", body: multipartForm({ bytes: png }) });
  const { data } = (await answer.json()) as { data: { storage_url: string } };
  await (await fetch(data.storage_url)).arrayBuffer();
  // What the shutdown does after 10 s, if a connection is open.
  const closeAll = vi.spyOn(Server.prototype, "closeAllConnections");
  await app[Symbol.asyncDispose]();
  expect(closeAll).not.toHaveBeenCalled();
});
