/** What a message is expected to cost, by its category and the country of its recipient. */

import type { Queries } from "../../../../database/database.ts";
import type { MessageCharge } from "../../../../database/schema/index.ts";
import { marketOf, priceOf, readRates } from "../../../money/prices/index.ts";
import type { Payment } from "../../../money/wallet/index.ts";

/** The category of every message that is not a template. */
const service = "service";

export interface PriceEstimate {
  readonly currency: string;
  /** Without a template, of a free-form message. Null: the message has no price. */
  chargeOf(
    templateCategory: string | undefined,
    payment: Pick<Payment, "simulated" | "isPriced">,
  ): MessageCharge | null;
}

/** Reads the prices with one statement. `to` is a number in E.164 form, or an id that tells no country. */
export async function readEstimate(db: Queries, organization: string, to: string): Promise<PriceEstimate> {
  const country = marketOf(to);
  const rates = await readRates(db, organization, [country]);
  const { currency } = rates;
  return {
    currency,
    chargeOf(category = service, { simulated, isPriced }) {
      const price = isPriced ? priceOf(rates, country, category) : null;
      return price === null
        ? null
        : { status: "held", currency, country, category, price, held: price, simulated };
    },
  };
}
