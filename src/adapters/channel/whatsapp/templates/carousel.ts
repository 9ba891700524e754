/** The cards of a carousel of Meta's, and their variables. */
import { z } from "zod";
import { Body, Button, buttonVariables, fromButton, type Variables, variablesOf } from "./parts.ts";

const CardHeader = z.object({
  type: z.literal("HEADER"),
  format: z.enum(["IMAGE", "VIDEO"]),
  example: z.object({ header_handle: z.array(z.string()).optional() }).optional(),
});
const CardButton = Button.extend({ type: z.enum(["QUICK_REPLY", "URL", "PHONE_NUMBER"]) });
const CardButtons = z.object({ type: z.literal("BUTTONS"), buttons: z.array(CardButton).max(2) });

const Card = z.object({
  components: z
    .array(z.discriminatedUnion("type", [CardHeader, Body, CardButtons]))
    .refine((components) => components.some(({ type }) => type === "HEADER")),
});

export const Carousel = z.object({ type: z.literal("CAROUSEL"), cards: z.array(Card).min(1).max(10) });

const types = { IMAGE: "image", VIDEO: "video" } as const;

/** The card as a template of this service has it, and the samples of its variables. */
export function fromCard({ components }: z.output<typeof Card>) {
  const header = components.find((one) => one.type === "HEADER");
  const body = components.find((one) => one.type === "BODY");
  const buttons = components.find((one) => one.type === "BUTTONS")?.buttons ?? [];
  const [sample] = header?.example?.header_handle ?? [];
  // Meta answers with the address of the sample.
  const media_url = sample !== undefined && URL.canParse(sample) ? sample : undefined;
  return {
    body,
    buttons,
    media_url,
    data: {
      header: { type: types[header?.format ?? "IMAGE"], ...(media_url === undefined ? {} : { media_url }) },
      ...(body ? { body: body.text } : {}),
      ...(buttons.length > 0 ? { buttons: buttons.map(fromButton) } : {}),
    },
  };
}

/** Their names begin with the card, so that no two cards share one. */
export function cardVariables(
  { body, buttons, media_url }: ReturnType<typeof fromCard>,
  card_index: number,
): Variables {
  const prefix = `card_${card_index}`;
  const ofBody = body
    ? variablesOf("BODY", body.text, {
        samples: body.example?.body_text?.[0] ?? [],
        named: body.example?.body_text_named_params ?? [],
      })
    : [];
  return [
    {
      name: `${prefix}_media_url`,
      component: "CARD_HEADER",
      card_index,
      ...(media_url === undefined ? {} : { example: media_url }),
    },
    ...ofBody.map((variable) => ({
      ...variable,
      name: `${prefix}_${variable.name}`,
      component: "CARD_BODY" as const,
      card_index,
    })),
    ...buttons.flatMap(buttonVariables).map((variable) => ({
      ...variable,
      name: `${prefix}_${variable.name}`,
      component: "CARD_BUTTONS" as const,
      card_index,
    })),
  ];
}
