/** What a message is expected to cost, by its category and the country of its recipient. */

import type { Queries } from "../../../../database/database.ts";
import type { MessageCharge } from "../../../../database/schema/index.ts";
import { marketOf, priceOf, type Rates, readRatesOf } from "../../../money/prices/index.ts";
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

export interface PricedRecipient {
  readonly organization: string;
  /** A number in E.164 form, or an id that tells no country. */
  readonly to: string;
}

/**
 * Reads the prices for recipients with one statement.
 * @returns the function that estimates the price for one of them.
 */
export async function readEstimates(
  db: Queries,
  recipients: readonly PricedRecipient[],
): Promise<(recipient: PricedRecipient) => PriceEstimate> {
  const countries = recipients.map(({ to }) => marketOf(to));
  const organizations = recipients.map(({ organization }) => organization);
  const rates = await readRatesOf(db, organizations, countries);
  return ({ organization, to }) => {
    const known = rates.get(organization);
    if (!known) {
      throw new Error(`There is no organization ${organization}`);
    }
    return toEstimate(known, marketOf(to));
  };
}

function toEstimate(rates: Rates, country: string | null): PriceEstimate {
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
