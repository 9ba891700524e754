/** The rules of carousels and limited-time offers, which only marketing templates have. */
import { z } from "zod";
import type { Store } from "../state/store.ts";
import type { Category, TemplateButton, TemplateComponent } from "../state/template.ts";
import { requireButtons, typeOf } from "./buttons.ts";
import { templateError, templateRule } from "./template-error.ts";
import { requireBody, requireLength, requireSample } from "./texts.ts";
import type { ParameterFormat } from "./variables.ts";

interface MarketingTemplate {
  readonly category: Category;
  readonly parameter_format: ParameterFormat;
  readonly components: readonly TemplateComponent[];
}

const mediaFormats = ["IMAGE", "VIDEO"];
const limits = { offerText: 16, offerBody: 600, offerCode: 15, cardBody: 160, cardButtons: 2 } as const;

const Offer = z.object({ text: z.string().min(1), has_expiration: z.boolean().default(false) });

/** @returns the components with the types of the cards' parts in capitals; @throws GraphError */
export function requireMarketing(store: Store, template: MarketingTemplate): TemplateComponent[] {
  const { category, components } = template;
  const special = components.find(({ type }) => type === "CAROUSEL" || type === "LIMITED_TIME_OFFER");
  if (special && category !== "MARKETING") {
    throw templateRule(`Only MARKETING templates have a ${special.type} component`);
  }
  for (const component of components) {
    if (component.type === "LIMITED_TIME_OFFER") {
      requireOffer(component, components);
    }
  }
  return components.map((component) =>
    component.type === "CAROUSEL" ? requireCarousel(store, component, template) : component,
  );
}

function requireOffer(component: TemplateComponent, components: readonly TemplateComponent[]): void {
  const { data: offer } = Offer.safeParse(component.limited_time_offer);
  if (!offer) {
    throw templateRule("A LIMITED_TIME_OFFER component needs limited_time_offer with a text");
  }
  requireLength("The text of the limited-time offer", offer.text, limits.offerText);
  const find = (type: string) => components.find((one) => one.type === type);
  requireLength("The body of a limited-time offer", find("BODY")?.text ?? "", limits.offerBody);
  const header = find("HEADER");
  if (header && !mediaFormats.includes(String(header.format).toUpperCase())) {
    throw templateError(2388047, "The header of a limited-time offer is an image or a video");
  }
  if (find("FOOTER")) {
    throw templateError(2388073, "A limited-time offer has no footer");
  }
  requireOfferButtons(find("BUTTONS")?.buttons ?? [], offer.has_expiration);
}

function requireOfferButtons(buttons: readonly TemplateButton[], hasExpiration: boolean): void {
  const types = buttons.map(typeOf);
  if (!types.includes("URL") || types.some((type) => type !== "URL" && type !== "COPY_CODE")) {
    throw templateRule("A limited-time offer has a URL button, and may have a COPY_CODE button");
  }
  const code = types.indexOf("COPY_CODE");
  if (code > 0 || (hasExpiration && code === -1)) {
    throw templateRule("The COPY_CODE button comes first; an offer with an expiration needs one");
  }
  if (code === 0 && String(buttons[0]?.example).length > limits.offerCode) {
    throw templateRule(`The code of a limited-time offer has at most ${limits.offerCode} characters`);
  }
}

const Part = z.object({ type: z.string().transform((type) => type.toUpperCase()) }).loose();
const Cards = z
  .array(z.object({ components: z.array(Part) }))
  .min(2)
  .max(10);

function requireCarousel(
  store: Store,
  carousel: TemplateComponent,
  { components, parameter_format }: MarketingTemplate,
): TemplateComponent {
  const other = components.find(({ type }) => type !== "CAROUSEL" && type !== "BODY");
  if (other) {
    throw templateRule(`A template with a CAROUSEL has no ${other.type} beside it`);
  }
  const { data: cards } = Cards.safeParse(carousel.cards);
  if (!cards) {
    throw templateRule("A CAROUSEL has 2 to 10 cards with components");
  }
  const forms = cards.map((card) => requireCard(store, card.components, parameter_format));
  if (new Set(forms).size > 1) {
    throw templateRule("All cards of a CAROUSEL have the same components and buttons");
  }
  return { ...carousel, cards };
}

/** @returns the card's components, in a form that can be compared */
function requireCard(
  store: Store,
  components: readonly TemplateComponent[],
  format: ParameterFormat,
): string {
  const find = (type: string) => components.find((one) => one.type === type);
  const header = find("HEADER");
  const kind = String(header?.format).toUpperCase();
  if (!header || !mediaFormats.includes(kind)) {
    throw templateError(2388047, "The header of a card is an image or a video");
  }
  requireSample(store, header);
  const body = find("BODY");
  if (body) {
    requireLength("The body of a card", body.text ?? "", limits.cardBody);
    requireBody(body, format);
  }
  const buttons = find("BUTTONS")?.buttons ?? [];
  requireButtons(buttons);
  const types = buttons.map(typeOf);
  const isOther = types.some((type) => !["QUICK_REPLY", "URL", "PHONE_NUMBER"].includes(type));
  if (buttons.length > limits.cardButtons || isOther) {
    throw templateRule("A card has at most 2 buttons: quick replies, addresses and phone numbers");
  }
  return JSON.stringify([kind, body !== undefined, types]);
}
