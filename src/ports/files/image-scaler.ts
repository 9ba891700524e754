/** The port to the scaler of images. Called outside any transaction. */

export interface ScaledImage {
  readonly outcome: "scaled";
  readonly content_type: string;
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export interface UnscaledImage {
  readonly outcome: "failed";
  readonly reason: UnscaledReason;
}

export type UnscaledReason =
  /** The scaler is not installed. */
  | "absent"
  /** It is no image of a known format, or broken. */
  | "damaged"
  | "too_many_pixels"
  /** Scaling it takes more time or memory than an image may. */
  | "too_complex";

export interface ImageScaler {
  /** The most pixels that an image may have. */
  readonly maxPixels: number;
  /**
   * Scales an image down until it fits the limits of models and their hosts: upright, without its metadata,
   * and the first picture of an animation. @throws the reason of `signal` when it is aborted.
   */
  scale(bytes: Uint8Array, options: { readonly signal: AbortSignal }): Promise<ScaledImage | UnscaledImage>;
}
