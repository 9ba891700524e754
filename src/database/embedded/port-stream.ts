/** The connection of `pg` to the thread of the embedded database: a stream over a `MessagePort`. */
import { Duplex } from "node:stream";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";

/** The `threadId` of a thread that has exited. */
export const exitedThreadId = -1;

/**
 * Has the methods of a socket that `pg` calls. Each write is one message, and each part of an answer is one
 * message. There is no backpressure, because `pg` never pauses. The thread closes the port after the
 * Terminate message of `pg`.
 */
export class PortStream extends Duplex {
  readonly #thread: Worker;
  #port: MessagePort | undefined;

  constructor(thread: Worker) {
    super({ allowHalfOpen: false });
    this.#thread = thread;
  }

  /** Sends one end of a new channel to the thread. The host and the port that `pg` passes are ignored. */
  connect(): this {
    if (this.#thread.threadId === exitedThreadId) {
      return this.destroy(new Error("The embedded database stopped: restart Tidings."));
    }
    const { port1, port2 } = new MessageChannel();
    port1.on("message", ({ buffer }: Uint8Array<ArrayBuffer>) => this.push(Buffer.from(buffer)));
    port1.on("close", () => this.push(null));
    this.#port = port1;
    this.#thread.postMessage(port2, [port2]);
    process.nextTick(() => this.emit("connect"));
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#post([chunk]);
    done();
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#post(chunks.map(({ chunk }) => chunk));
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port?.close();
    done(error);
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    this.#port?.ref();
    return this;
  }

  unref(): this {
    this.#port?.unref();
    return this;
  }

  /**
   * Copies the chunks before the transfer, because small buffers share their memory with other buffers, and
   * `pg` reuses some of its buffers.
   */
  #post(chunks: readonly Buffer[]): void {
    const message = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
    let offset = 0;
    for (const chunk of chunks) {
      message.set(chunk, offset);
      offset += chunk.length;
    }
    this.#port?.postMessage(message, [message.buffer]);
  }
}
