/** Transactions that work of several organizations shares. */
import { beforeAll, expect, test } from "vitest";
import { shareTransactions, type World } from "../src/platform/foundation/kernel/index.ts";
import { modules } from "../src/platform/index.ts";
import { useTestApp } from "./support/app.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });

let world: World;
const organizations: string[] = [];

beforeAll(async () => {
  world = await readWorld(app);
  for (const name of ["First", "Second", "Third"]) {
    organizations.push((await createOrganizationFor(app, name)).id);
  }
});

interface Renaming {
  readonly organization_id: string;
  readonly name: string;
}

/** Names each organization, and records which items shared a transaction. */
function createRename() {
  const groups: { readonly tx: unknown; readonly names: readonly string[] }[] = [];
  const rename = shareTransactions<Renaming, string>(async (tx, _, items) => {
    groups.push({ tx, names: items.map(({ name }) => name) });
    for (const { organization_id: id, name } of items) {
      await tx.updateTable("organizations").set({ name }).where("id", "=", id).execute();
    }
    if (items.some(({ name }) => name.startsWith("bad"))) {
      throw new Error("rejected");
    }
    return items.map(({ name }) => `named ${name}`);
  });
  return { groups, rename };
}

const nameOf = async (id = "") => {
  const { queries } = app.server.database;
  const row = await queries
    .selectFrom("organizations")
    .select("name")
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.name;
};

const [first, second, third] = [
  () => organizations[0] ?? "",
  () => organizations[1] ?? "",
  () => organizations[2] ?? "",
];

test("items that arrive together share a transaction, each organization with its own work", {
  tags: "both",
}, async () => {
  const { groups, rename } = createRename();
  const results = await Promise.all([
    rename(world, { organization_id: second(), name: "a" }),
    rename(world, { organization_id: first(), name: "b" }),
    rename(world, { organization_id: second(), name: "c" }),
  ]);
  expect(results).toEqual(["named a", "named b", "named c"]);
  expect(groups.map(({ names }) => names)).toEqual([["b"], ["a", "c"]]);
  expect(groups[0]?.tx).toBe(groups[1]?.tx);
  expect([await nameOf(first()), await nameOf(second())]).toEqual(["b", "c"]);
});

test("an error of one organization's work changes nothing for another organization", {
  tags: "both",
}, async () => {
  const { rename } = createRename();
  const settled = await Promise.allSettled([
    rename(world, { organization_id: first(), name: "good" }),
    rename(world, { organization_id: second(), name: "bad" }),
    rename(world, { organization_id: third(), name: "better" }),
  ]);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect([await nameOf(first()), await nameOf(second()), await nameOf(third())]).toEqual([
    "good",
    "c",
    "better",
  ]);
});

test("a row that is locked in one organization does not delay another one", {
  tags: "postgres",
}, async () => {
  const { rename } = createRename();
  let delayed: Promise<string> = Promise.resolve("");
  let isUnlocked = false;
  await world.database.transaction(async (tx) => {
    await tx.selectFrom("organizations").select("id").where("id", "=", first()).forUpdate().execute();
    delayed = rename(world, { organization_id: first(), name: "late" }).then((result) => {
      expect(isUnlocked).toBe(true);
      return result;
    });
    // It is awaited after the commit.
    delayed.catch(() => undefined);
    await rename(world, { organization_id: second(), name: "early" });
    await rename(world, { organization_id: third(), name: "early too" });
    isUnlocked = true;
  });
  expect(await delayed).toBe("named late");
  expect([await nameOf(first()), await nameOf(second())]).toEqual(["late", "early"]);
});
