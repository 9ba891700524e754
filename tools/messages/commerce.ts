/** What interactive messages have of a catalog and of an order. */
import { z } from "zod";

const id = z.string().min(1).max(100);
const catalog_id = id.describe("Id of the catalog that is connected to the inbox");
/** As the catalog names it. */
const product_id = id.describe("The product's id in the catalog");

export const Product = z.object({ catalog_id, product_id });

/** By Meta's page on multi-product messages. */
const maxProducts = 30;

export const ProductList = z
  .object({
    catalog_id,
    sections: z
      .array(
        z.object({
          title: z.string().min(1).max(24).describe("At most 24"),
          product_ids: z.array(id).min(1).max(maxProducts),
        }),
      )
      .min(1)
      .max(10),
  })
  .refine(
    ({ sections }) => sections.reduce((sum, { product_ids }) => sum + product_ids.length, 0) <= maxProducts,
    `At most ${maxProducts} products in all sections.`,
  );

/** In units of the currency. */
const amount = z.number().min(0).max(10_000_000);
const describedAmount = z.object({ amount, description: z.string().min(1).max(60).optional() });

const item = z.object({
  product_id: id.optional(),
  name: z.string().min(1).max(60),
  quantity: z.int().min(1).max(10_000),
  price: amount.describe("Of one"),
  sale_price: amount.optional(),
});

const reference_id = z
  .string()
  .max(64)
  .regex(/^[\w.-]{1,64}$/, "Send at most 64 letters, digits and _ - .")
  .describe("Your id of the order");

export const OrderDetails = z.object({
  reference_id,
  goods: z.enum(["digital", "physical"]),
  currency: z
    .string()
    .max(3)
    .regex(/^[A-Z]{3}$/, "Send a code such as INR."),
  payment_type: z.string().min(1).max(64).optional().describe("For example upi"),
  payment_configuration: z.string().min(1).max(60).optional().describe("Its name at WhatsApp"),
  items: z.array(item).min(1).max(100),
  subtotal: amount,
  tax: describedAmount,
  shipping: describedAmount.optional(),
  discount: describedAmount.extend({ program: z.string().min(1).max(60).optional() }).optional(),
  total: amount,
});
export type OrderDetails = z.output<typeof OrderDetails>;

export const OrderStatus = z.object({
  reference_id,
  status: z.enum(["pending", "processing", "partially_shipped", "shipped", "completed", "canceled"]),
  description: z.string().min(1).max(120).optional(),
});
