/** The prices of messages: the bundled rate table, and the rate tables of the operator. */
import { prices as contract } from "../../../../tools/prices.ts";
import { implement, operatorOwner } from "../../foundation/kernel/index.ts";
import { deleteTable, findTable, listTables, replaceTable } from "./tables.ts";

export { allCountries, marketOf } from "./market.ts";
export type { CategoryRates, RateTable } from "./rate-table.ts";
export { priceOf, type Rates, readRates, readRatesOf } from "./read.ts";

export const prices = implement(contract, {
  tables: ["message_rate_tables", "message_rates"],
  operations: {
    async list_message_rates(_, { world }) {
      return listTables(world.database.queries);
    },

    async get_message_rates({ currency }, { world }) {
      return { data: await findTable(world.database.queries, currency) };
    },

    async replace_message_rates({ currency, rates }, { once, now }) {
      return once(operatorOwner, async (tx) => {
        await replaceTable(tx, { currency, rates, now });
        return { data: await findTable(tx, currency) };
      });
    },

    async delete_message_rates({ currency }, { once }) {
      return once(operatorOwner, async (tx) => {
        await deleteTable(tx, currency);
        return { data: { deleted: true } };
      });
    },
  },
});
