/** The worker thread that scales one image with sharp, and ends. */
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Sharp } from "sharp";
import type { ScaledImage, UnscaledImage } from "../../ports/files/image-scaler.ts";

export interface ScalerTask {
  /** The file of the package, because a module of a `data:` URL finds no packages. */
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly maxPixels: number;
}

/**
 * As base64 text, 1,000,000 characters: hosts reject results of more than 1 MB.
 */
const maxBytes = 750_000;

/** Models see no more than about 1,568 pixels of a side. The last step fits even for noise. */
const steps = [
  { side: 1_568, quality: 85 },
  { side: 1_568, quality: 60 },
  { side: 1_024, quality: 60 },
  { side: 640, quality: 50 },
] as const;

type OpenSharp = typeof import("sharp").default;

function loadSharp(file: string): OpenSharp | undefined {
  try {
    // The type of the package that the file belongs to.
    return createRequire(file)(file) as OpenSharp;
  } catch {
    // The package is there, but not its part for this platform.
    return undefined;
  }
}

async function scale({ file, bytes, maxPixels }: ScalerTask): Promise<ScaledImage | UnscaledImage> {
  const sharp = loadSharp(file);
  if (!sharp) {
    return { outcome: "failed", reason: "absent" };
  }
  try {
    const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: "error" });
    for (const step of steps) {
      const scaled = await write(image.clone(), step);
      if (scaled.bytes.length <= maxBytes) {
        return scaled;
      }
    }
    return { outcome: "failed", reason: "too_complex" };
  } catch (error) {
    const isTooLarge = error instanceof Error && error.message.includes("pixel limit");
    return { outcome: "failed", reason: isTooLarge ? "too_many_pixels" : "damaged" };
  }
}

async function write(image: Sharp, { side, quality }: (typeof steps)[number]): Promise<ScaledImage> {
  const { data, info } = await image
    .autoOrient()
    .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
    // JPEG has no transparency.
    .flatten({ background: "white" })
    .jpeg({ quality })
    .toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  return { outcome: "scaled", content_type: "image/jpeg", bytes: Uint8Array.from(data), width, height };
}

parentPort?.postMessage(await scale(workerData as ScalerTask)); // started only by index.ts
