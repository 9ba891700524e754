/**
 * A thread that compiles and matches. It starts with its first task, and a task that takes too long ends it.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { workerModule } from "../threads/worker-module.ts";
import type { PatternTask } from "./matcher-worker.ts";

export interface PatternLimits {
  /** The time limit of a match. */
  readonly matchMs: number;
  /** The time limit of a compilation. */
  readonly inspectMs: number;
  /** The limit of a thread's heap. */
  readonly memoryMb: number;
  /** A thread without a task ends after this time. */
  readonly idleMs: number;
}

export class PatternThread {
  readonly #limits: PatternLimits;
  #worker: Promise<Worker> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(limits: PatternLimits) {
    this.#limits = limits;
  }

  /**
   * Returns the thread's answer; undefined if the task took too much time or memory. Runs one task at a time.
   */
  async run(task: PatternTask): Promise<unknown> {
    clearTimeout(this.#idleTimer);
    this.#worker ??= this.#start();
    const worker = await this.#worker;
    const answer = await this.#ask(worker, task);
    if (answer === undefined) {
      this.#end();
    } else {
      this.#idleTimer = setTimeout(() => this.#end(), this.#limits.idleMs).unref();
    }
    return answer;
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(workerModule(new URL("./matcher-worker", import.meta.url), import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb },
      // The MCP server writes to standard output, so output of the thread is redirected.
      stdout: true,
    });
    try {
      await once(worker, "message");
    } catch (error) {
      this.#worker = undefined;
      throw error;
    }
    // A waiting thread does not keep the process running, but the timer of a task does.
    worker.unref();
    return worker;
  }

  #ask(worker: Worker, task: PatternTask): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settle = (answer: unknown) => {
        clearTimeout(timer);
        worker.off("message", settle).off("error", fail);
        resolve(answer);
      };
      const fail = (error: NodeJS.ErrnoException) => {
        settle(undefined);
        if (error.code !== "ERR_WORKER_OUT_OF_MEMORY" && !(error instanceof RangeError)) {
          reject(error);
        }
      };
      // An answer may have arrived while this thread was busy: it is received before the callback of
      // `setImmediate`.
      const { inspectMs, matchMs } = this.#limits;
      const limitMs = task.type === "inspect" ? inspectMs : matchMs;
      const timer = setTimeout(() => setImmediate(settle, undefined), limitMs);
      worker.on("message", settle).on("error", fail);
      worker.postMessage(task);
    });
  }

  #end(): void {
    const ended = this.#worker;
    this.#worker = undefined;
    ended?.then((worker) => worker.terminate()).catch(() => undefined);
  }
}
