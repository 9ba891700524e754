/**
 * The worker thread of the embedded database: PGlite behind a socket.
 *
 * It runs in a thread because a long statement blocks the thread that executes it. It posts its port when it
 * listens, and exits when it receives a message.
 */
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/** The data folder and the path of the socket; without a path it listens on the loopback address. */
export interface ThreadSettings {
  readonly data: string;
  readonly socket: string | undefined;
}

/** Posted when the thread listens; the port is 0 for a socket with a path. */
export interface Listening {
  readonly port: number;
}

const { data, socket } = workerData as ThreadSettings; // started only by embedded.ts

const database = await PGlite.create({ dataDir: data });
exitOnCrash(database);

const server = new PGLiteSocketServer({
  db: database,
  // One for the pool, one that replaces it after a broken connection, and some for inspection with psql.
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

/** When the engine crashes, the socket server never answers again: throw, so that the thread ends. */
function exitOnCrash(engine: PGlite): void {
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
