/**
 * Keeps the vectors of organizations in memory, within one limit for all organizations. The least recently
 * used sets are dropped first.
 *
 * The caller reads the current version of an organization's knowledge base with each query, so a change by
 * another process is noticed. A set is used while its version is at least the caller's. Callers that need the
 * same set at the same time share one load.
 */
import { packVectors, type StoredVector, type VectorSet } from "./vectors.ts";

export interface VectorKey {
  readonly organization: string;
  /** The value of `Embedder.model`. */
  readonly model: string;
}

export interface VectorRequest extends VectorKey {
  /** Grows with every change of the organization's vectors. Read the version before the vectors. */
  readonly version: number;
}

/** Reads all vectors of the key with one statement, so that they belong together. */
export type LoadVectors = (key: VectorKey) => Promise<readonly StoredVector[]>;

export interface VectorCache {
  /**
   * Returns a set that is at least as new as the version.
   * @throws the error of `load`; the next call loads again.
   */
  read(request: VectorRequest): Promise<VectorSet>;
  /** The bytes in use. */
  readonly bytes: number;
}

interface Entry {
  readonly version: number;
  readonly set: VectorSet;
  readonly bytes: number;
}

interface Load {
  readonly version: number;
  readonly result: Promise<VectorSet>;
}

export interface VectorCacheOptions {
  readonly load: LoadVectors;
  /** The limit for all organizations. A larger set is loaded for each call and not kept. */
  readonly maxBytes?: number;
}

/** 100,000 vectors of 320 dimensions, or 20,000 of 1,536. */
const defaultMaxBytes = 128 * 1024 * 1024;

export function createVectorCache({ load, maxBytes = defaultMaxBytes }: VectorCacheOptions): VectorCache {
  // In the order of their last use: a map keeps the order of insertion.
  const entries = new Map<string, Entry>();
  const loads = new Map<string, Load>();
  let bytes = 0;

  function remove(name: string): void {
    bytes -= entries.get(name)?.bytes ?? 0;
    entries.delete(name);
  }

  function keep(name: string, entry: Entry): void {
    // A load for an older version may end after one for a newer version.
    if ((entries.get(name)?.version ?? -1) > entry.version) {
      return;
    }
    remove(name);
    if (entry.bytes > maxBytes) {
      return;
    }
    entries.set(name, entry);
    bytes += entry.bytes;
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes) {
        break;
      }
      remove(oldest);
    }
  }

  async function loadSet(name: string, { organization, model, version }: VectorRequest): Promise<VectorSet> {
    try {
      const set = await packVectors(await load({ organization, model }));
      keep(name, { version, set, bytes: sizeOf(set) });
      return set;
    } finally {
      if (loads.get(name)?.version === version) {
        loads.delete(name);
      }
    }
  }

  return {
    async read(request) {
      const name = JSON.stringify([request.organization, request.model]);
      const entry = entries.get(name);
      if (entry && entry.version >= request.version) {
        entries.delete(name);
        entries.set(name, entry);
        return entry.set;
      }
      const running = loads.get(name);
      if (running && running.version >= request.version) {
        return running.result;
      }
      const result = loadSet(name, request);
      loads.set(name, { version: request.version, result });
      return result;
    },
    get bytes() {
      return bytes;
    },
  };
}

/** An id takes about two bytes for each character, and some for the string itself. */
function sizeOf({ ids, numbers }: VectorSet): number {
  return numbers.byteLength + ids.reduce((sum, id) => sum + 2 * id.length + 24, 0);
}
