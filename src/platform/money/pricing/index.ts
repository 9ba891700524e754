/** Pricing: the plans, in the currency of the country from which the request is sent. */
import { pricing as contract } from "../../../../tools/pricing.ts";
import { implement } from "../../foundation/kernel/index.ts";
import { currencyOf, symbolOf } from "./currencies.ts";
import { pricingPlans } from "./plans.ts";

export const pricing = implement(contract, {
  operations: {
    async get_pricing(_, { world, address }) {
      const country_code = await world.countries.countryOf(address);
      const currency = currencyOf(country_code);
      return {
        data: {
          country_code,
          currency_code: currency,
          currency_symbol: symbolOf(currency),
          plans: pricingPlans.map(({ slug, prices, features, ...described }, index) => {
            const [monthly_price, annual_price] = prices?.[currency] ?? [null, null];
            return {
              ...described,
              id: `plan_${slug}`,
              slug,
              features: [...features],
              monthly_price,
              annual_price,
              is_custom_pricing: prices === null,
              sort_order: index + 1,
            };
          }),
        },
      };
    },
  },
});
