/** Every port of the platform, by the name that handlers and jobs have for it. */
import type { Channel } from "./channel/channel.ts";
import type { FirstInbox } from "./channel/first-inbox.ts";
import type { Clock, Sandbox } from "./clock.ts";
import type { Countries } from "./countries.ts";
import type { DocumentReader } from "./files/document-reader.ts";
import type { ErasureLog } from "./files/erasure-log.ts";
import type { ImageScaler } from "./files/image-scaler.ts";
import type { Storage } from "./files/storage.ts";
import type { Embedder } from "./models/embedder.ts";
import type { LanguageModel } from "./models/language-model.ts";
import type { Transcriber } from "./models/transcriber.ts";
import type { PatternMatcher } from "./patterns.ts";
import type { PaymentProcessor } from "./payments.ts";
import type { Log } from "./telemetry/log.ts";
import type { Metrics } from "./telemetry/telemetry.ts";
import type { Web } from "./web.ts";

export interface Ports {
  readonly now: Clock;
  /** Undefined: the clock shows the real time. */
  readonly sandbox: Sandbox | undefined;
  readonly log: Log;
  /** Counters and histograms; their labels have few values. */
  readonly metrics: Metrics;
  /** By the name that an inbox's row holds. */
  readonly channels: Readonly<Record<string, Channel>>;
  readonly firstInbox: FirstInbox;
  /** Takes the money of top-ups. */
  readonly payments: PaymentProcessor;
  /** The only way to reach an address that a customer provided, except the address of a webhook. */
  readonly web: Web;
  /** The only way to reach the receiver of a webhook, which may be on this machine during development. */
  readonly receivers: Web;
  readonly storage: Storage;
  /** Undefined: erasures are not logged, and can't be repeated after a restore. */
  readonly erasureLog: ErasureLog | undefined;
  readonly countries: Countries;
  readonly embedder: Embedder;
  /** Undefined: there is none, and answers are quoted from the knowledge base. */
  readonly languageModel: LanguageModel | undefined;
  /** Undefined: there is none, and recordings are not transcribed. */
  readonly transcriber: Transcriber | undefined;
  readonly documents: DocumentReader;
  readonly images: ImageScaler;
  /** Called outside any transaction. */
  readonly patterns: PatternMatcher;
}
