/**
 * The embedded database's thread: PGlite behind a socket, until the owner says stop.
 *
 * A thread, because a long statement blocks the one that it runs in. The owner makes this file with a
 * folder to keep the data in and a place to listen at; it answers with the port and, at the end, exits.
 */
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/** What the thread is given: where the data is, and the socket's path; without one it listens on loopback. */
export interface ThreadSettings {
  readonly data: string;
  readonly socket: string | undefined;
}

/** What the thread says when it listens; the port is 0 on a socket's path. */
export interface Listening {
  readonly port: number;
}

const { data, socket } = workerData as ThreadSettings; // embedded.ts alone starts this thread

const database = await PGlite.create({ dataDir: data });
failLoudly(database);

const server = new PGLiteSocketServer({
  db: database,
  // One for the house, and room for its successor after a broken connection, and for a look with psql.
  maxConnections: 4,
  ...(socket === undefined ? { host: "127.0.0.1", port: 0 } : { path: socket }),
});
await server.start();

parentPort?.once("message", async () => {
  await server.stop();
  await database.close();
  process.exit(0);
});

const port = socket === undefined ? Number(server.getServerConn().split(":").at(-1)) : 0;
parentPort?.postMessage({ port } satisfies Listening);

/** The socket server stops answering for ever when the engine itself breaks: end the thread, so that it is seen. */
function failLoudly(engine: PGlite): void {
  const run = engine.execProtocolRawStream.bind(engine);
  engine.execProtocolRawStream = async (...message) => {
    try {
      await run(...message);
    } catch (error) {
      setImmediate(() => {
        throw error;
      });
      throw error;
    }
  };
}
