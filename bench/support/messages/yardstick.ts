/** Starts the process of the yardstick and communicates with it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { LoadResult } from "../load.ts";
import { postgresMs, processMs } from "./processor-time.ts";
import { knownRecipients, type Place, removePlace } from "./subject.ts";

/** The message to the process: how long to store messages. The process answers with a `LoadResult`. */
export interface YardstickLoad {
  readonly ms: number;
}

export interface Yardstick extends AsyncDisposable {
  /** Stores messages with 16 connections; the embedded engine has one. */
  run(ms: number): Promise<LoadResult>;
  /** The processor time of the client and its database so far, in milliseconds; undefined if unknown. */
  processorMs(): Promise<number | undefined>;
}

/** The database must contain the known contacts. It is removed with the process. */
export async function startYardstick(place: Place): Promise<Yardstick> {
  const child = fork(
    new URL("./yardstick-process.ts", import.meta.url),
    [JSON.stringify(place), String(knownRecipients)],
    { execArgv: ["--import", "tsx"] },
  );
  await once(child, "message");
  return {
    async run(ms) {
      child.send({ ms } satisfies YardstickLoad);
      const [result] = (await once(child, "message")) as [LoadResult]; // sent only in reply
      return result;
    },
    async processorMs() {
      const [ofClient, ofDatabase] = [
        await processMs(child.pid),
        place.url === undefined ? 0 : await postgresMs(),
      ];
      return ofClient === undefined || ofDatabase === undefined ? undefined : ofClient + ofDatabase;
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, "exit");
      await removePlace(place);
    },
  };
}
