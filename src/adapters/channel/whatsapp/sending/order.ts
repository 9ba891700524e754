/** An order to pay in the form of the Cloud API. */
import type { InteractiveContent } from "../../../../ports/channel/message-content.ts";
import type { ActionObject, OrderAmount } from "../contract.ts";

type Order = NonNullable<Extract<ActionObject, { readonly name: "review_and_pay" }>["parameters"]>;

export function toOrder({
  reference_id,
  goods,
  currency,
  payment_type,
  payment_configuration,
  items,
  subtotal,
  tax,
  shipping,
  discount,
  total,
}: NonNullable<InteractiveContent["order_details"]>): Order {
  return {
    reference_id,
    type: `${goods}-goods`,
    payment_type,
    payment_configuration,
    currency,
    total_amount: toAmount(total),
    order: {
      status: "pending",
      items: items.map(({ product_id, name, quantity, price, sale_price }) => ({
        retailer_id: product_id,
        name,
        quantity,
        amount: toAmount(price),
        sale_amount: sale_price === undefined ? undefined : toAmount(sale_price),
      })),
      subtotal: toAmount(subtotal),
      tax: toDescribed(tax),
      shipping: shipping && toDescribed(shipping),
      discount: discount && { ...toDescribed(discount), discount_program_name: discount.program },
    },
  };
}

/** The Cloud API has whole numbers, and by what they are divided: always 100. */
const offset = 100;

function toAmount(units: number): OrderAmount {
  return { value: Math.round(units * offset), offset };
}

function toDescribed({
  amount,
  description,
}: {
  readonly amount: number;
  readonly description?: string | undefined;
}): OrderAmount {
  return { ...toAmount(amount), description };
}
