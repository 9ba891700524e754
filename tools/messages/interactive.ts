/** Interactive messages: a text with one thing to choose, to open or to fill in. */
import { z } from "zod";
import { fileAddress, jsonObject } from "../contract/index.ts";
import { mediaHeaderTypes } from "../templates/index.ts";
import { OrderDetails, OrderStatus, Product, ProductList } from "./commerce.ts";

const button = z.object({
  id: z.string().min(1).max(256).describe("Returned in reply"),
  title: z.string().min(1).max(20).describe("At most 20"),
});

const row = z.object({
  id: z.string().min(1).max(200).describe("Returned in reply"),
  title: z.string().min(1).max(24).describe("At most 24"),
  description: z.string().max(72).optional().describe("At most 72"),
});

const list = z
  .object({
    button: z.string().min(1).max(20).describe("Label that opens the list, at most 20"),
    sections: z
      .array(z.object({ title: z.string().max(24).optional(), rows: z.array(row).min(1).max(10) }))
      .min(1)
      .max(10),
  })
  .refine(
    ({ sections }) => sections.reduce((rows, section) => rows + section.rows.length, 0) <= 10,
    "A list can have at most 10 rows in all its sections.",
  );

const link = z.object({
  title: z.string().min(1).max(20).describe("Label of the button, at most 20"),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .describe("Address that the button opens"),
});

/** A form that was published on the channel: on WhatsApp, a Flow. */
const form = z
  .object({
    flow_id: z.string().min(1).max(64).optional().describe("Id of the published WhatsApp Flow"),
    flow_name: z.string().min(1).max(200).optional().describe("Its name, instead of flow_id"),
    button: z.string().min(1).max(30).describe("Label that opens the form, at most 30"),
    screen: z.string().min(1).max(128).optional().describe("First screen; by default that of the form"),
    data: jsonObject.optional().describe("Values for the first screen"),
    token: z.string().min(1).max(256).optional().describe("Returned with the answers"),
    draft: z.literal(true).optional().describe("To try a form that is not published"),
    asks_endpoint: z.literal(true).optional().describe("Get the first screen from the form's endpoint"),
  })
  .refine(
    ({ flow_id, flow_name }) => (flow_id === undefined) !== (flow_name === undefined),
    "Send either flow_id or flow_name.",
  )
  .refine(({ data, screen }) => data === undefined || screen !== undefined, "Send screen together with data.")
  .refine(
    ({ asks_endpoint, screen }) => asks_endpoint === undefined || screen === undefined,
    "Send either asks_endpoint or screen.",
  );

const addressRequest = z.object({
  country: z.string().length(2).describe("Country code, for example IN"),
  values: jsonObject.optional().describe("What is known of the address, for example city"),
});

const headerMedia = z.object({
  type: z.enum(mediaHeaderTypes),
  url: fileAddress.describe("Public address of the file, or an upload's storage_url"),
  file_name: z.string().max(240).optional().describe("Name shown for a document"),
});

/** What an interactive message offers; it has exactly one. */
const offers = {
  buttons: z.array(button).min(1).max(3).optional().describe("Reply buttons, at most 3"),
  list: list.optional().describe("A list of rows to choose from"),
  link: link.optional().describe("One button with an address"),
  location_request: z
    .literal(true)
    .optional()
    .describe("Ask for a location; it arrives as a message of type location"),
  address_request: addressRequest
    .optional()
    .describe("Ask for a postal address, in India; it arrives as a message of type form"),
  form: form.optional().describe("A form; its answers arrive as a message of type form"),
  product: Product.optional().describe("One product of a catalog"),
  products: ProductList.optional().describe("Products of a catalog"),
  catalog: z
    .object({ thumbnail_product_id: z.string().min(1).max(100).optional() })
    .optional()
    .describe("The whole catalog, with the image of one product"),
  order_details: OrderDetails.optional().describe("An order to pay; in India only"),
  order_status: OrderStatus.optional().describe("The state of an order that was sent with order_details"),
} as const;

export const interactiveOffers = [
  "buttons",
  "list",
  "link",
  "location_request",
  "address_request",
  "form",
  "product",
  "products",
  "catalog",
  "order_details",
  "order_status",
] as const satisfies readonly (keyof typeof offers)[];
export type InteractiveOffer = (typeof interactiveOffers)[number];

export const interactiveFields = {
  body: z.string().min(1).max(4096).describe("The text; at most 1024 characters, with a list 4096"),
  header: z.string().max(60).optional().describe("Bold top line, at most 60"),
  header_media: headerMedia.optional().describe("Instead of header: an image, video or document"),
  footer: z.string().max(60).optional().describe("Small bottom line, at most 60"),
  ...offers,
};

/** What stands above the text: a text or a file, a text, an image, or nothing. */
const headers: Readonly<Record<InteractiveOffer, "any" | "text" | "image" | "none">> = {
  buttons: "any",
  list: "text",
  link: "any",
  location_request: "none",
  address_request: "text",
  form: "any",
  product: "none",
  products: "text",
  catalog: "none",
  order_details: "image",
  order_status: "none",
};

/** A message with these has no footer. */
const withoutFooter: readonly InteractiveOffer[] = ["location_request", "order_status"];

export const Interactive = z.object(interactiveFields).superRefine((value, context) => {
  const report = (path: string, message: string) =>
    context.addIssue({ code: "custom", path: [path], message });
  const [offer, other] = interactiveOffers.filter((name) => value[name] !== undefined);
  if (offer === undefined || other !== undefined) {
    report(other ?? "buttons", `Send exactly one of ${interactiveOffers.join(", ")}.`);
    return;
  }
  if (offer !== "list" && value.body.length > 1024) {
    report("body", `At most 1024 characters with ${offer}.`);
  }
  if (value.header !== undefined && value.header_media) {
    report("header_media", "Send either header or header_media.");
  }
  const allowed = headers[offer];
  if (value.header !== undefined && allowed !== "any" && allowed !== "text") {
    report("header", `A message with ${offer} has no header.`);
  }
  if (value.header_media && (allowed === "text" || allowed === "none")) {
    report("header_media", `A message with ${offer} has no header_media.`);
  }
  if (value.header_media && allowed === "image" && value.header_media.type !== "image") {
    report("header_media", `A message with ${offer} can only have an image.`);
  }
  if (offer === "products" && value.header === undefined) {
    report("header", "A message with products needs a header.");
  }
  if (value.footer !== undefined && withoutFooter.includes(offer)) {
    report("footer", `A message with ${offer} has no footer.`);
  }
  const ids =
    value.buttons?.map((one) => one.id) ?? value.list?.sections.flatMap((s) => s.rows.map((r) => r.id));
  if (new Set(ids).size !== (ids?.length ?? 0)) {
    report(offer, "Each choice needs a unique id.");
  }
});
export type Interactive = z.infer<typeof Interactive>;
