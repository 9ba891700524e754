/** Interactive messages: a text with reply buttons or with a list. */
import { z } from "zod";

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

export const interactiveFields = {
  body: z.string().min(1).max(4096).describe("Text above the choices; at most 1024 characters with buttons"),
  header: z.string().max(60).optional().describe("Bold top line, at most 60"),
  footer: z.string().max(60).optional().describe("Small bottom line, at most 60"),
  buttons: z.array(button).min(1).max(3).optional().describe("Or use list"),
  list: list.optional().describe("Or use buttons"),
};

export const Interactive = z.object(interactiveFields).superRefine((value, context) => {
  if ((value.buttons === undefined) === (value.list === undefined)) {
    context.addIssue({ code: "custom", path: ["buttons"], message: "Send either buttons or list." });
  }
  if (value.buttons && value.body.length > 1024) {
    context.addIssue({ code: "custom", path: ["body"], message: "At most 1024 characters with buttons." });
  }
  const ids =
    value.buttons?.map((one) => one.id) ?? value.list?.sections.flatMap((s) => s.rows.map((r) => r.id));
  if (new Set(ids).size !== (ids?.length ?? 0)) {
    context.addIssue({
      code: "custom",
      path: [value.buttons ? "buttons" : "list"],
      message: "Each choice needs a unique id.",
    });
  }
});
export type Interactive = z.infer<typeof Interactive>;
