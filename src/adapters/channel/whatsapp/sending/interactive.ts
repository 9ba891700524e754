/** Interactive messages in the form of the Cloud API. */
import type { InteractiveContent } from "../../../../ports/channel/message-content.ts";
import type * as contract from "../contract.ts";
import { toOrder } from "./order.ts";

type Type = contract.InteractiveObject["type"];
type Action = contract.ActionObject;

/** How each of what a message can offer is called, and what it does. */
const offers: {
  readonly [Offer in Exclude<keyof InteractiveContent, Text>]: (
    value: NonNullable<InteractiveContent[Offer]>,
  ) => { readonly type: Type; readonly action: Action };
} = {
  buttons: (buttons) => ({
    type: "button",
    action: { buttons: buttons.map((reply) => ({ type: "reply", reply })) },
  }),
  list: (action) => ({ type: "list", action }),
  link: ({ title: display_text, url }) => ({
    type: "cta_url",
    action: { name: "cta_url", parameters: { display_text, url } },
  }),
  location_request: () => ({ type: "location_request_message", action: { name: "send_location" } }),
  address_request: (parameters) => ({
    type: "address_message",
    action: { name: "address_message", parameters },
  }),
  form: (form) => ({ type: "flow", action: { name: "flow", parameters: toFlow(form) } }),
  product: ({ catalog_id, product_id }) => ({
    type: "product",
    action: { catalog_id, product_retailer_id: product_id },
  }),
  products: ({ catalog_id, sections }) => ({
    type: "product_list",
    action: {
      catalog_id,
      sections: sections.map(({ title, product_ids }) => ({
        title,
        product_items: product_ids.map((product_retailer_id) => ({ product_retailer_id })),
      })),
    },
  }),
  catalog: ({ thumbnail_product_id }) => ({
    type: "catalog_message",
    action: {
      name: "catalog_message",
      parameters:
        thumbnail_product_id === undefined
          ? undefined
          : { thumbnail_product_retailer_id: thumbnail_product_id },
    },
  }),
  order_details: (order) => ({
    type: "order_details",
    action: { name: "review_and_pay", parameters: toOrder(order) },
  }),
  order_status: ({ reference_id, ...order }) => ({
    type: "order_status",
    action: { name: "review_order", parameters: { reference_id, order } },
  }),
};

/** What all interactive messages have. */
type Text = "body" | "header" | "header_media" | "footer";

export function toInteractive(
  { body, header, header_media, footer, ...offered }: InteractiveContent,
  sourceOf: (file: NonNullable<InteractiveContent["header_media"]>) => contract.MediaObject,
): contract.InteractiveObject {
  return {
    ...toOffer(offered),
    header: header_media ? toMediaHeader(header_media, sourceOf(header_media)) : toTextHeader(header),
    body: { text: body },
    footer: footer === undefined ? undefined : { text: footer },
  };
}

function toOffer(offered: Omit<InteractiveContent, Text>) {
  const { buttons, list, link, location_request, address_request, form, ...commerce } = offered;
  const { product, products, catalog, order_details, order_status } = commerce;
  const offer =
    (buttons && offers.buttons(buttons)) ??
    (list && offers.list(list)) ??
    (link && offers.link(link)) ??
    (location_request && offers.location_request(location_request)) ??
    (address_request && offers.address_request(address_request)) ??
    (form && offers.form(form)) ??
    (product && offers.product(product)) ??
    (products && offers.products(products)) ??
    (catalog && offers.catalog(catalog)) ??
    (order_details && offers.order_details(order_details)) ??
    (order_status && offers.order_status(order_status));
  if (!offer) {
    throw new Error("An interactive message offers nothing.");
  }
  return offer;
}

function toTextHeader(text: string | undefined): contract.HeaderObject | undefined {
  return text === undefined ? undefined : { type: "text", text };
}

function toMediaHeader(
  { type, file_name }: NonNullable<InteractiveContent["header_media"]>,
  source: contract.MediaObject,
): contract.HeaderObject {
  const filename = file_name ?? undefined;
  const headers: Readonly<Record<typeof type, contract.HeaderObject>> = {
    image: { type: "image", image: source },
    video: { type: "video", video: source },
    document: { type: "document", document: { ...source, filename } },
  };
  return headers[type];
}

type Flow = Extract<Action, { readonly name: "flow" }>["parameters"];

function toFlow({
  flow_id,
  flow_name,
  button: flow_cta,
  screen,
  data,
  token: flow_token,
  draft,
  asks_endpoint,
}: NonNullable<InteractiveContent["form"]>): Flow {
  const base = {
    // The only version that Meta accepts.
    flow_message_version: "3" as const,
    flow_cta,
    flow_token,
    ...(draft ? { mode: "draft" as const } : {}),
    ...(asks_endpoint ? { flow_action: "data_exchange" as const } : {}),
    ...(screen === undefined
      ? {}
      : { flow_action: "navigate" as const, flow_action_payload: { screen, data } }),
  };
  // The contract requires one of the two.
  return flow_id === undefined ? { ...base, flow_name: flow_name ?? "" } : { ...base, flow_id };
}
