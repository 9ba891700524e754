/**
 * The worker thread of the embedded database: PGlite, which serves one connection at a time.
 *
 * It runs in a thread because a long statement blocks the thread that executes it. It posts a message when it
 * is ready. A port that it receives is a connection, and any other message stops it. When the engine crashes,
 * the thread ends with an error.
 */
import { on } from "node:events";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { PGlite, protocol } from "@electric-sql/pglite";
import { type MessageGroup, MessageGroups } from "./message-groups.ts";
import { unpackNew } from "./unpack.ts";

export interface ThreadSettings {
  /** The folder of the database. */
  readonly data: string;
  /**
   * The archive with which a new database begins; undefined for a database without tables. The file exists
   * only beside the built program.
   */
  readonly archive: string | undefined;
  /** Whether it loads the extensions pageinspect and amcheck. */
  readonly hasPageTools: boolean;
}

/**
 * Version 3.0 of the protocol, in the startup message. Other numbers in its place request encryption or
 * cancellation.
 */
const protocolVersion = 0x30000;

/**
 * The size of the engine's buffers. The engine fills all of them with zeros when it starts, so this memory is
 * resident. Pages that do not fit are read from the cache of the operating system.
 */
const sharedBuffers = "32MB";

/** ReadyForQuery: `Z`, the length, and the state of the transaction. */
const readyBytes = 6;
const readyStart = Buffer.from("Z\0\0\0\x05", "latin1");

if (parentPort === null) {
  throw new Error("It runs only as a thread.");
}
const { data, archive, hasPageTools } = workerData as ThreadSettings; // started only by index.ts
unpackNew(data, archive);
const database = await PGlite.create({
  dataDir: data,
  startParams: [...PGlite.defaultStartParams, "-c", `shared_buffers=${sharedBuffers}`],
  extensions: hasPageTools ? await loadPageTools() : {},
});
parentPort.postMessage("ready");

for await (const [message] of on(parentPort, "message")) {
  if (message === "stop") {
    break;
  }
  await serve(message);
  await resetSession();
}
await database.close();
process.exit(0);

async function loadPageTools() {
  const { amcheck } = await import("@electric-sql/pglite/contrib/amcheck");
  const { pageinspect } = await import("@electric-sql/pglite/contrib/pageinspect");
  return { amcheck, pageinspect };
}

/** Runs the messages that arrive at the port, one group after another, until the port is closed. */
async function serve(port: MessagePort): Promise<void> {
  const groups = new MessageGroups();
  for await (const [part] of on(port, "message", { close: ["close"] })) {
    for (const group of groups.add(part)) {
      if (!canRun(group)) {
        port.close();
        return;
      }
      await run(group, (answer) => port.postMessage(answer, [answer.buffer]));
    }
  }
}

function canRun({ last, bytes }: MessageGroup): boolean {
  const isStartup = last === "startup";
  return isStartup ? Buffer.from(bytes).readUInt32BE(4) === protocolVersion : last !== "terminate";
}

/**
 * Runs a group of messages.
 * @throws if the engine has crashed: it reports a panic to the client, and does not become ready for another
 *   query.
 */
async function run(
  { last, bytes }: MessageGroup,
  send: (answer: Uint8Array<ArrayBuffer>) => void,
): Promise<void> {
  let end = Buffer.alloc(0);
  await database.execProtocolRawStream(bytes, {
    onRawData(view) {
      end = Buffer.concat([end, view.subarray(-readyBytes)]).subarray(-readyBytes);
      // Copied, because the view refers to the engine's memory.
      send(view.slice());
    },
  });
  if ((last === "query" || last === "sync") && !end.subarray(0, readyStart.length).equals(readyStart)) {
    throw new Error("The engine crashed.");
  }
}

/**
 * All connections share one session. Without a reset, the next connection would inherit a transaction and
 * statements.
 */
async function resetSession(): Promise<void> {
  const { serialize } = protocol;
  // After a failed statement the engine ignores everything up to a Sync.
  await run({ last: "sync", bytes: serialize.sync() }, ignore);
  if (database.isInTransaction()) {
    await run({ last: "query", bytes: serialize.query("rollback") }, ignore);
  }
  await run({ last: "query", bytes: serialize.query("discard all") }, ignore);
}

function ignore(): void {}
