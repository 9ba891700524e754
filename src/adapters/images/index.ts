/**
 * Scales images with sharp, an optional package, in a worker thread for each image.
 *
 * The package is looked for when the first image is scaled, and loaded by the threads alone.
 */
import { createRequire } from "node:module";
import type { ImageScaler, ScaledImage, UnscaledImage } from "../../ports/files/image-scaler.ts";
import { runInThread, withOwnBuffer } from "../threads/run-in-thread.ts";
import { createTurns } from "../threads/turns.ts";
import type { ScalerTask } from "./scaler-worker.ts";

export interface ScalerOptions {
  /** The file of the package; undefined if it is not installed. */
  readonly findPackage?: () => string | undefined;
  readonly maxPixels?: number;
}

/** sharp uses several threads for one image. */
const maxThreads = 1;

/** The largest images of phones have 50 million; decoded, they are 200 MB. */
const defaultMaxPixels = 50_000_000;

/** An image of 50 million pixels takes 1 to 3 seconds. */
const timeMs = 15_000;
const memoryMb = 512;

export function openImageScaler(options: ScalerOptions = {}): ImageScaler {
  const { findPackage = findSharp, maxPixels = defaultMaxPixels } = options;
  const turns = createTurns(maxThreads);
  return {
    maxPixels,
    async scale(bytes, { signal }) {
      const file = findPackage();
      return file === undefined
        ? { outcome: "failed", reason: "absent" }
        : turns.take(() => scaleInThread({ file, bytes, maxPixels }, signal));
    },
  };
}

async function scaleInThread(task: ScalerTask, signal: AbortSignal): Promise<ScaledImage | UnscaledImage> {
  const bytes = withOwnBuffer(task.bytes);
  const { message } = await runInThread({
    source: new URL("./scaler-worker", import.meta.url),
    importer: import.meta.url,
    workerData: { ...task, bytes } satisfies ScalerTask,
    transferred: bytes,
    timeMs,
    memoryMb,
    signal,
  });
  // The thread posts its outcome and nothing else.
  return (message as ScaledImage | UnscaledImage | undefined) ?? { outcome: "failed", reason: "too_complex" };
}

function findSharp(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve("sharp");
  } catch {
    return undefined;
  }
}
