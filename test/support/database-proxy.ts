/** A TCP proxy in front of PostgreSQL that a test can close, or make silent. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface DatabaseProxy extends AsyncDisposable {
  /** The address of the database through the proxy. */
  readonly url: string;
  /** Ends every connection, and refuses new ones. */
  refuse(): Promise<void>;
  /** Accepts connections and bytes, and passes nothing on. */
  silence(): void;
  /** Becomes silent when a connection sends this text; resolves then. */
  silenceAt(text: string): Promise<void>;
  /** Passes everything on this much later. */
  slow(ms: number): void;
  /** Ends the next connection that sends this text once the server has answered its COMMIT. */
  loseCommitOf(text: string): void;
  /** Passes everything on again. */
  restore(): Promise<void>;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isSilent = false;
  let delayMs = 0;
  let lost: string | undefined;
  let silencer: { readonly text: string; notify(): void } | undefined;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    let losesCommit = false;
    client.on("data", (bytes) => {
      if (lost !== undefined && bytes.includes(lost)) {
        losesCommit = true;
        lost = undefined;
      }
      if (silencer && bytes.includes(silencer.text)) {
        isSilent = true;
        silencer.notify();
      }
    });
    upstream.on("data", (bytes) => {
      if (losesCommit && bytes.includes("COMMIT\0")) {
        client.destroy();
      }
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      const pass = (bytes: Buffer) => isSilent || to.destroyed || to.write(bytes);
      from.on("data", (bytes) => (delayMs > 0 ? setTimeout(pass, delayMs, bytes) : pass(bytes)));
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const endAll = () => {
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      endAll();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    refuse: close,
    silence() {
      isSilent = true;
    },
    silenceAt(text) {
      return new Promise((notify) => {
        silencer = { text, notify };
      });
    },
    slow(ms) {
      delayMs = ms;
    },
    loseCommitOf(text) {
      lost = text;
    },
    async restore() {
      isSilent = false;
      silencer = undefined;
      delayMs = 0;
      endAll();
      if (!server.listening) {
        await listen(port);
      }
    },
    [Symbol.asyncDispose]: close,
  };
}
