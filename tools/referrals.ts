/** How a contact came to write: by an ad or a post, or because of a product. */
import { z } from "zod";

/** The ad or the post by which a contact came to write. */
export const ReferralPart = z.object({
  /** For example ad or post. */
  source_type: z.string().nullable(),
  source_id: z.string().nullable(),
  source_url: z.string().nullable(),
  headline: z.string().nullable(),
  body: z.string().nullable(),
  /** The id of the click, by which Meta attributes a purchase. */
  click_id: z.string().nullable(),
});

/** The product that a contact asks about. */
export const ProductPart = z.object({ catalog_id: z.string().nullable(), product_id: z.string() });
