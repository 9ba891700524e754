/**
 * Fetches the files that messages name by a link: WhatsApp does that after it has accepted the message, and
 * reports the message as failed if it can't. A file that was fetched serves the same link for 10 minutes,
 * as WhatsApp documents.
 */
import { Agent, request } from "undici";
import { readBytes } from "../../src/streams/bytes.ts";
import { withDeadline } from "../../src/time/deadline.ts";
import type { Clock } from "../clock.ts";
import { isOfKind, type MediaKind, mediaRules } from "../contract/media-types.ts";

export interface Link {
  readonly link: string;
  readonly kind: MediaKind;
}

export interface LinkedFile {
  readonly link: string;
  readonly mime_type: string;
  readonly bytes: Buffer;
}

const timeoutMs = 10_000;
const maxRedirects = 3;
const cachedMs = 600_000;

export class LinkFetcher {
  readonly #clock: Clock;
  readonly #agent = new Agent({ connections: 16 });
  readonly #underWay = new Set<Promise<void>>();
  readonly #cache = new Map<string, { readonly file: LinkedFile; readonly until: number }>();
  #stopping = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `done` with the files, or with undefined if one can't be fetched or is not of its kind. */
  fetch(links: readonly Link[], done: (files: readonly LinkedFile[] | undefined) => void): void {
    const { signal } = this.#stopping;
    const running: Promise<void> = Promise.all(links.map((link) => this.#fetchOne(link, signal)))
      .catch(() => undefined)
      .then((files) => (signal.aborted ? undefined : done(files)))
      .finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }

  /** Ends what is under way, without its results, and empties the cache. */
  forget(): void {
    this.#stopping.abort();
    this.#stopping = new AbortController();
    this.#cache.clear();
  }

  /** Resolves when nothing is being fetched. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) {
      await Promise.all(this.#underWay);
    }
  }

  async stop(): Promise<void> {
    this.forget();
    await this.#agent.destroy();
  }

  async #fetchOne({ link, kind }: Link, stopped: AbortSignal): Promise<LinkedFile> {
    const cached = this.#cache.get(link);
    const isFresh = cached !== undefined && cached.until > this.#clock.now();
    const file = isFresh
      ? cached.file
      : await withDeadline(timeoutMs, [stopped], ({ signal }) =>
          download(this.#agent, { link, kind }, signal),
        );
    if (!isOfKind(file, kind)) {
      throw new Error("The file is not of the message's kind.");
    }
    if (!isFresh) {
      this.#cache.set(link, { file, until: this.#clock.now() + cachedMs });
    }
    return file;
  }
}

async function download(agent: Agent, { link, kind }: Link, signal: AbortSignal): Promise<LinkedFile> {
  let url = link;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const { statusCode, headers, body } = await request(url, { dispatcher: agent, signal });
    if (statusCode === 200) {
      const bytes = await readBytes(body, mediaRules[kind].maxBytes, tooLarge);
      return { link, mime_type: String(headers["content-type"] ?? ""), bytes };
    }
    await body.dump();
    const { location } = headers;
    if (statusCode < 300 || statusCode >= 400 || typeof location !== "string") {
      throw new Error(`The address answered ${statusCode}.`);
    }
    url = new URL(location, url).href;
  }
  throw new Error("The address redirects too often.");
}

const tooLarge = () => new Error("The file is too large.");
