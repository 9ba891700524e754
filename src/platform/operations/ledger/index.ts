/** The ledger as an organization reads it: the entries with their causes, and what was spent. */
import { ledger as contract } from "../../../../tools/ledger.ts";
import { withTimeLimit } from "../../../database/query/index.ts";
import { implement } from "../../foundation/kernel/index.ts";
import { listEntries } from "./entries.ts";
import { readPeriod, readSpend } from "./spend.ts";

export { listEntries } from "./entries.ts";

export const ledger = implement(contract, {
  operations: {
    // A broadcast may have very many entries.
    list_ledger_entries: (input, { db, world, organization }) =>
      input.broadcast_id === undefined
        ? listEntries(db, organization, input)
        : withTimeLimit(world.database, (limited) => listEntries(limited, organization, input)),

    async get_spend({ by, simulated, ...days }, { world, organization, now }) {
      const period = readPeriod(days, now);
      const data = await withTimeLimit(world.database, (db) =>
        readSpend(db, organization, { ...period, by, simulated }),
      );
      return { data };
    },
  },
});
