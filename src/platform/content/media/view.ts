/**
 * Shows a file to a model: an image scaled down, the text of a PDF's pages, the transcript of a recording.
 *
 * Scaling, reading and transcribing run in other threads or at another service, each within a limit of time.
 */
import { fail } from "../../../../tools/errors.ts";
import type { mediaViews } from "../../../../tools/messages/index.ts";
import type { UnscaledReason } from "../../../ports/files/image-scaler.ts";
import { withDeadline } from "../../../time/deadline.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { extensionOfType } from "../uploads/index.ts";
import { selectPages } from "./pages.ts";
import type { StoredFile } from "./stored-file.ts";

interface ViewRequest {
  readonly world: World;
  readonly file: StoredFile;
  /** The page of a PDF to begin with, from 1. */
  readonly page: number;
  readonly signal: AbortSignal;
}

/** Without the package that scales, larger images are not shown: models and hosts reject them. */
const maxOriginalBytes = 1_000_000;

/** Every model takes these types. */
const originalTypes = ["image/jpeg", "image/png", "image/webp", "image/gif"];

/** Limits the wait for a free thread and the reading of a PDF; shorter than the wait of the client. */
const readingTimeoutMs = 40_000;

type MediaView = (typeof mediaViews)[number];

/** @throws Failure `media_not_viewable`, `transcription_not_configured`, `transcription_failed`. */
export async function viewFile(request: ViewRequest) {
  const { content_type, file_name, bytes } = request.file;
  const kind = kindOf(content_type);
  const view = await views[kind](request);
  return { kind, content_type, file_name, file_size: bytes.length, ...nothing, ...view };
}

/** What a model sees of a file; null for other kinds of files. */
interface FileView {
  readonly image: {
    readonly content_type: string;
    readonly width: number | null;
    readonly height: number | null;
    readonly base64: string;
  } | null;
  readonly text: string | null;
  readonly language: string | null;
  readonly pages: number | null;
  readonly next_page: number | null;
}

const nothing: FileView = { image: null, text: null, language: null, pages: null, next_page: null };

const views: Readonly<Record<MediaView, (request: ViewRequest) => Promise<Partial<FileView>>>> = {
  image: viewImage,
  document: viewDocument,
  recording: viewRecording,
};

/** @throws Failure `media_not_viewable`. */
function kindOf(content_type: string): MediaView {
  if (content_type === "application/pdf") {
    return "document";
  }
  const kinds: Readonly<Record<string, MediaView>> = { image: "image", audio: "recording" };
  const kind = kinds[content_type.split("/")[0] ?? ""];
  if (kind === undefined) {
    const advice = "View an image, a PDF or a recording; other files are for the user to open.";
    throw fail("media_not_viewable", { reason: `it is ${content_type || "of no known type"}.`, advice });
  }
  return kind;
}

async function viewImage({ world, file, signal }: ViewRequest) {
  const { content_type, bytes } = file;
  const size = bytes.length;
  const scaled = await world.images.scale(Uint8Array.from(bytes), { signal });
  if (scaled.outcome === "scaled") {
    const { width, height } = scaled;
    return { image: { content_type: scaled.content_type, width, height, base64: toBase64(scaled.bytes) } };
  }
  if (scaled.reason === "absent" && size <= maxOriginalBytes && originalTypes.includes(content_type)) {
    return { image: { content_type, width: null, height: null, base64: toBase64(bytes) } };
  }
  throw fail(
    "media_not_viewable",
    describeUnscaled(scaled.reason, { size, maxPixels: world.images.maxPixels }),
  );
}

function describeUnscaled(
  reason: UnscaledReason,
  { size, maxPixels }: { readonly size: number; readonly maxPixels: number },
) {
  const smaller = "Ask the user to open it, or for a smaller image.";
  const described: Readonly<Record<UnscaledReason, { reason: string; advice: string }>> = {
    absent: {
      reason: `it has ${size} bytes, and this service can't scale images down to ${maxOriginalBytes}, because the package sharp is not installed.`,
      advice: "Ask the operator to install sharp beside the service, or the user to open the image.",
    },
    damaged: {
      reason: "it is damaged, or no JPEG, PNG, WebP or GIF image.",
      advice: "Ask for the image again.",
    },
    too_many_pixels: { reason: `it has more than ${maxPixels} pixels.`, advice: smaller },
    too_complex: { reason: "scaling it takes too much time or memory.", advice: smaller },
  };
  return described[reason];
}

async function viewDocument({ world, file, page, signal }: ViewRequest) {
  const read = await withDeadline(readingTimeoutMs, [signal, world.stopping], async (deadline) => {
    const document = { format: "pdf", bytes: Uint8Array.from(file.bytes) } as const;
    try {
      return await world.documents.read(document, { signal: deadline.signal });
    } catch (error) {
      if (deadline.ended === "timeout") {
        return undefined;
      }
      throw error;
    }
  });
  const advice = "Ask the user to open it.";
  if (read === undefined || read.outcome === "unreadable") {
    const reason = read?.detail ?? "reading it takes too long.";
    throw fail("media_not_viewable", { reason, advice });
  }
  const pages = read.pages ?? 1;
  if (page > pages) {
    const range = `Send page as a number from 1 to ${pages}.`;
    throw fail("media_not_viewable", { reason: `it has no page ${page}.`, advice: range });
  }
  if (read.emptyPages === pages) {
    throw fail("media_not_viewable", { reason: "its pages have no text, only pictures.", advice });
  }
  return { pages, ...selectPages(read.blocks, { page, pages }) };
}

async function viewRecording({ world, file, signal }: ViewRequest) {
  const { transcriber } = world;
  if (!transcriber) {
    throw fail("transcription_not_configured");
  }
  const { bytes, content_type } = file;
  if (bytes.length > transcriber.maxBytes) {
    const reason = `it has ${bytes.length} bytes, and at most ${transcriber.maxBytes} are transcribed.`;
    throw fail("media_not_viewable", { reason, advice: "Ask the user to listen to it." });
  }
  const extension = extensionOfType(content_type) ?? "ogg";
  const transcript = await transcriber.transcribe({ bytes, content_type, extension }, { signal });
  if (transcript.outcome === "failed") {
    const advice = transcript.isRetryable
      ? "Try again in a minute."
      : "Ask the operator to check the settings TIDINGS_TRANSCRIPTION_URL, _KEY and _MODEL.";
    throw fail("transcription_failed", { reason: transcript.detail, advice });
  }
  return { text: transcript.text, language: transcript.language };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
