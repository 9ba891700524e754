/** What every part of the emulator works with. */
import type { Clock } from "./clock.ts";
import type { Faults } from "./faults.ts";
import type { Throughput } from "./sending/limits.ts";
import type { LinkFetcher } from "./sending/links.ts";
import type { Defaults } from "./state/setup.ts";
import type { Store } from "./state/store.ts";
import type { ReviewSettings } from "./templates/review-settings.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

export interface World {
  readonly clock: Clock;
  readonly store: Store;
  readonly faults: Faults;
  readonly webhooks: Webhooks;
  readonly throughput: Throughput;
  readonly links: LinkFetcher;
  review: ReviewSettings;
  /** What exists at the start, and after a reset. */
  readonly settings: Defaults;
  /** The address under which the emulator is reached. */
  readonly baseUrl: () => string;
}
