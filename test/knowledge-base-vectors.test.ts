/** Vectors in memory: exact search, one load for many callers, versions, the limit of memory, and fusion. */
import { describe, expect, test } from "vitest";
import {
  createVectorCache,
  encodeVector,
  fuseRankings,
  packVectors,
  type Ranking,
  relevanceOf,
  type StoredVector,
  searchVectors,
  type VectorKey,
} from "../src/platform/content/knowledge-base/retrieval/index.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { countTurns } from "./support/turns.ts";

const model = "small";

/** Rows with random vectors of length 1; the same for the same seed. */
function createRows(count: number, dimensions: number, seed: number): StoredVector[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => ({
    id: `chunk_${seed}_${index}`,
    vector: encodeVector(toUnit(Float32Array.from({ length: dimensions }, () => random() - 0.5))),
  }));
}

function toUnit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** The generator mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const one = Math.imul(state ^ (state >>> 15), 1 | state);
    const two = (one + Math.imul(one ^ (one >>> 7), 61 | one)) ^ one;
    return ((two ^ (two >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe("search", () => {
  test.each([3, 4, 27, 320])(
    "finds the same as sorting all dot products, in %i dimensions",
    async (dimensions) => {
      const rows = createRows(2_000, dimensions, 7);
      const set = await packVectors(rows);
      const query = toUnit(Float32Array.from({ length: dimensions }, createRandom(8)));
      const scores = rows.map(({ id, vector }) => {
        const numbers = new Float32Array(vector.buffer);
        return { id, score: numbers.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0) };
      });
      const expected = scores.sort((one, other) => other.score - one.score).slice(0, 25);
      const found = await searchVectors(set, query, 25);
      expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      for (const [index, { score }] of found.entries()) {
        expect(score).toBeCloseTo(expected[index]?.score ?? 0, 6);
      }
    },
  );

  test("gives a vector itself the score 1, and equal vectors in the order of the set", async () => {
    const [row] = createRows(1, 16, 1);
    const vector = row?.vector ?? new Uint8Array();
    const set = await packVectors(["b", "a", "c"].map((id) => ({ id, vector })));
    const found = await searchVectors(set, new Float32Array(vector.buffer), 2);
    expect(found.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(found[0]?.score).toBeCloseTo(1, 6);
  });

  test("finds negative scores too, and nothing where nothing is", async () => {
    const set = await packVectors([{ id: "opposite", vector: encodeVector(Float32Array.of(-1, 0)) }]);
    expect(await searchVectors(set, Float32Array.of(1, 0), 5)).toEqual([{ id: "opposite", score: -1 }]);
    expect(await searchVectors(set, Float32Array.of(1, 0), 0)).toEqual([]);
    expect(await searchVectors(await packVectors([]), Float32Array.of(1, 0), 5)).toEqual([]);
  });

  test("reads vectors that begin anywhere in a buffer, as a database driver returns them", async () => {
    const bytes = encodeVector(Float32Array.of(0.6, 0.8));
    const shifted = new Uint8Array([9, ...bytes, 9]).subarray(1, 9);
    expect((await packVectors([{ id: "one", vector: shifted }])).numbers).toEqual(Float32Array.of(0.6, 0.8));
  });

  test("rejects vectors of different lengths", async () => {
    const rows = [...createRows(1, 4, 1), ...createRows(1, 5, 2)];
    await expect(packVectors(rows)).rejects.toThrow("chunk_2_0 has another length");
    const set = await packVectors(createRows(1, 4, 1));
    await expect(searchVectors(set, new Float32Array(5), 1)).rejects.toThrow("5 dimensions");
  });

  test("pauses for the event loop between groups of vectors", async () => {
    // Of 1,000 numbers each: 250 of them are read at once.
    const rows = createRows(1_000, 1_000, 1);
    const packed = await countTurns(() => packVectors(rows));
    expect(packed.turns).toBeGreaterThanOrEqual(4);
    const found = await countTurns(() => searchVectors(packed.result, new Float32Array(1_000), 5));
    expect(found.turns).toBeGreaterThanOrEqual(4);
  });
});

/** A loader whose loads a test ends one by one. */
function createScriptedLoader() {
  const loads: { key: VectorKey; end(rows: readonly StoredVector[] | Error): void }[] = [];
  const load = (key: VectorKey) =>
    new Promise<readonly StoredVector[]>((resolve, reject) => {
      loads.push({ key, end: (rows) => (rows instanceof Error ? reject(rows) : resolve(rows)) });
    });
  return { loads, load };
}

describe("the cache", () => {
  const request = { organization: "org_a", model, version: 1 };

  test("loads once for callers at the same time, and not again for later ones", async () => {
    const { loads, load } = createScriptedLoader();
    const cache = createVectorCache({ load });
    const reads = [cache.read(request), cache.read(request), cache.read(request)];
    loads[0]?.end(createRows(3, 4, 1));
    const [one, two, three] = await Promise.all(reads);
    expect([two, three, await cache.read(request)]).toEqual([one, one, one]);
    expect(loads.map(({ key }) => key)).toEqual([{ organization: "org_a", model }]);
  });

  test("loads again for a newer version, and not for an older one", async () => {
    let count = 0;
    const cache = createVectorCache({ load: async () => createRows(++count, 4, 1) });
    const sizeOf = async (version: number) => (await cache.read({ ...request, version })).ids.length;
    expect([await sizeOf(1), await sizeOf(1), await sizeOf(2), await sizeOf(1), await sizeOf(2)]).toEqual([
      1, 1, 2, 2, 2,
    ]);
  });

  test("starts a second load for a version that came during the first, whose late end changes nothing", async () => {
    const { loads, load } = createScriptedLoader();
    const cache = createVectorCache({ load });
    const old = await meanwhile(cache.read(request), async () => {
      const newer = [cache.read({ ...request, version: 2 }), cache.read({ ...request, version: 2 })];
      expect(loads).toHaveLength(2);
      loads[1]?.end(createRows(2, 4, 2));
      expect((await Promise.all(newer)).map(({ ids }) => ids.length)).toEqual([2, 2]);
      loads[0]?.end(createRows(1, 4, 1));
    });
    expect(old.ids).toHaveLength(1);
    expect((await cache.read({ ...request, version: 2 })).ids).toHaveLength(2);
    expect(loads).toHaveLength(2);
  });

  test("does not give the result of an older load to a caller with a newer version", async () => {
    const { loads, load } = createScriptedLoader();
    const cache = createVectorCache({ load });
    const old = cache.read(request);
    const current = cache.read({ ...request, version: 2 });
    // When the first load has ended, the second one is still shared.
    const same = old.then(() => {
      const read = cache.read({ ...request, version: 2 });
      loads[1]?.end(createRows(2, 4, 2));
      return read;
    });
    loads[0]?.end(createRows(1, 4, 1));
    const sets = await Promise.all([current, same]);
    expect([...sets.map(({ ids }) => ids.length), loads.length]).toEqual([2, 2, 2]);
  });

  test("passes on the error of a load, and loads again", async () => {
    const { loads, load } = createScriptedLoader();
    const cache = createVectorCache({ load });
    const reads = [cache.read(request), cache.read(request)];
    loads[0]?.end(new Error("the database is away"));
    for (const read of await Promise.allSettled(reads)) {
      expect(read).toMatchObject({ status: "rejected", reason: { message: "the database is away" } });
    }
    const again = cache.read(request);
    loads[1]?.end(createRows(3, 4, 1));
    expect((await again).ids).toHaveLength(3);
  });

  test("keeps organizations and models apart", async () => {
    const cache = createVectorCache({
      load: async ({ organization, model: name }) => [
        { id: `${organization}/${name}`, vector: encodeVector(Float32Array.of(1)) },
      ],
    });
    const keys = [
      { organization: "org_a", model },
      { organization: "org_b", model },
      { organization: "org_a", model: "large" },
      { organization: 'org_a","small', model: "" },
    ];
    for (const _ of [1, 2]) {
      for (const key of keys) {
        const { ids } = await cache.read({ ...key, version: 1 });
        expect(ids).toEqual([`${key.organization}/${key.model}`]);
      }
    }
  });

  test("drops the least recently used organization beyond the limit", async () => {
    const loaded: string[] = [];
    const rows = createRows(10, 100, 1);
    // Three sets of 4,000 bytes and their ids fit.
    const maxBytes = 14_000;
    const load = async ({ organization }: VectorKey) => {
      loaded.push(organization);
      return rows;
    };
    const cache = createVectorCache({ load, maxBytes });
    const read = async (...organizations: string[]) => {
      for (const organization of organizations) {
        await cache.read({ organization, model, version: 1 });
        expect(cache.bytes).toBeLessThanOrEqual(maxBytes);
      }
    };
    await read("a", "b", "c", "a", "d");
    expect(loaded).toEqual(["a", "b", "c", "d"]);
    await read("a", "c", "d");
    expect(loaded).toHaveLength(4);
    await read("b");
    expect(loaded).toEqual(["a", "b", "c", "d", "b"]);
    await read("c", "d");
    expect(loaded).toHaveLength(5);
  });

  test("counts a set once however often its version changes, and does not keep one beyond the limit", async () => {
    let count = 10;
    const load = async () => createRows(count, 100, 1);
    const cache = createVectorCache({ load, maxBytes: 6_000 });
    await cache.read({ ...request, version: 1 });
    const { bytes } = cache;
    expect(bytes).toBeGreaterThan(4_000);
    await cache.read({ ...request, version: 2 });
    expect(cache.bytes).toBe(bytes);
    count = 20;
    expect((await cache.read({ ...request, version: 3 })).ids).toHaveLength(20);
    expect(cache.bytes).toBe(0);
  });
});

describe("fusion", () => {
  const ranking = (
    scores: Readonly<Record<string, number>>,
    { floor = "zero", weight = 1 }: Partial<Pick<Ranking, "floor" | "weight">> = {},
  ): Ranking => ({ results: Object.entries(scores).map(([id, score]) => ({ id, score })), floor, weight });

  test("takes the mean of the shares of the best score", () => {
    const fused = fuseRankings([ranking({ a: 8, b: 6, c: 2 }), ranking({ b: 0.5, d: 0.25 })]);
    expect(fused).toEqual([
      { id: "b", score: 0.875 },
      { id: "a", score: 0.5 },
      { id: "d", score: 0.25 },
      { id: "c", score: 0.125 },
    ]);
  });

  test("a ranking counts by its weight", () => {
    const fused = fuseRankings([ranking({ a: 1 }, { weight: 3 }), ranking({ b: 1 })]);
    expect(fused).toEqual([
      { id: "a", score: 0.75 },
      { id: "b", score: 0.25 },
    ]);
  });

  test("spreads the scores of a model that are close together", () => {
    const narrow = ranking({ a: 0.9, b: 0.85, c: 0.8 }, { floor: "lowest" });
    expect(fuseRankings([narrow]).map(({ score }) => Number(score.toFixed(2)))).toEqual([1, 0.5, 0]);
    expect(
      fuseRankings([ranking({ a: 0.9, b: 0.9 }, { floor: "lowest" })]).map(({ score }) => score),
    ).toEqual([1, 1]);
  });

  test("a result that only one ranking has can't have more than its share", () => {
    expect(fuseRankings([ranking({ a: 1 }), ranking({})])).toEqual([{ id: "a", score: 0.5 }]);
    expect(fuseRankings([ranking({ a: 1 })])).toEqual([{ id: "a", score: 1 }]);
    expect(fuseRankings([ranking({}), ranking({})])).toEqual([]);
  });

  test("a cosine is a relevance from 0 to 1 in the same order", () => {
    const cosines = [-1, -0.2, 0, 0.3, 0.8, 1, 1.000_000_1];
    expect(cosines.map((score) => relevanceOf({ score }))).toEqual([0, 0, 0, 0.3, 0.8, 1, 1]);
  });
});
