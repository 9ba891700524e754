/** The port to a speech recognition model, which writes down what is said. Called outside any transaction. */
import type { ModelFailure } from "./language-model.ts";

export interface Recording {
  readonly bytes: Uint8Array;
  readonly content_type: string;
  /** The extension that belongs to the content type: services tell formats by it. */
  readonly extension: string;
}

export interface Transcription {
  readonly outcome: "transcribed";
  /** Trimmed; empty if nothing is said. Untrusted text: the speaker chose the words. */
  readonly text: string;
  /** As the service names it; null if it does not. */
  readonly language: string | null;
}

export interface Transcriber {
  /** The longest recording, in bytes. */
  readonly maxBytes: number;
  /** @throws the reason of `signal` when it is aborted, and nothing else. */
  transcribe(
    recording: Recording,
    options: { readonly signal: AbortSignal },
  ): Promise<Transcription | ModelFailure>;
}
