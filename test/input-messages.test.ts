/** Every rejected field of every operation says in our words what is wrong, and what to send instead. */
import { expect, test } from "vitest";
import { z } from "zod";
import { type Failure, failInput, inputMessages } from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";

const wrong = [null, 1.5, -1, 1e9, true, "", "x".repeat(70_000), [], [null], {}, { unknown: 1 }];

function reject(schema: z.ZodType, input: unknown): Failure | undefined {
  const { error } = schema.safeParse(input, { error: inputMessages });
  return error && failInput(error.issues, input);
}

test.each(Object.entries(catalogue))("%s", (_, { input }) => {
  const inputs = [
    {},
    ...Object.keys(input.shape).flatMap((name) => wrong.map((value) => ({ [name]: value }))),
  ];
  const details = inputs.flatMap((sent) => reject(input, sent)?.detail.details ?? []);
  for (const { message, fix } of details) {
    expect(message).not.toMatch(/^(invalid|too |expected|unrecognized)/i);
    expect(message).toMatch(/\.$/);
    expect(fix).toMatch(/\.$/);
    expect(fix).not.toBe("Correct this field, and send the request again.");
  }
});

const Person = z.object({
  name: z.string().min(1).max(3),
  age: z.int().min(18),
  role: z.enum(["admin", "agent"]),
  tags: z.array(z.string()).max(1),
  email: z.email(),
  at: z.iso.datetime({ offset: true }),
});

test.each([
  [{ name: 5 }, "It must be a text, and is a number.", "Send a text."],
  [{ name: "" }, "It must have at least 1 character.", "Send at least 1 character."],
  [{ name: "Adam" }, "It must have at most 3 characters.", "Send at most 3 characters."],
  [{ age: 3 }, "It must be at least 18.", "Send a number that is at least 18."],
  [
    { age: 1.5 },
    "It must be a whole number, and is a number with decimals, or too large.",
    "Send a whole number.",
  ],
  [{ role: "boss" }, "It is none of the allowed values.", "Send one of these: admin, agent."],
  [{ tags: ["a", "b"] }, "It must have at most 1 entry.", "Send at most 1 entry."],
  [{ email: "ada" }, "It is not an e-mail address.", "Send an address such as ada@example.com."],
  [
    { at: "tomorrow" },
    "It is not a date and time in ISO 8601 with a time zone.",
    "Send a time such as 2030-01-31T09:00:00Z.",
  ],
])("%j", (sent, message, fix) => {
  const [field] = Object.keys(sent);
  const details = reject(Person.partial(), sent)?.detail.details;
  expect(details).toEqual([{ field, code: expect.any(String), message, fix }]);
});

test("a missing field says what to add", () => {
  expect(reject(Person.pick({ name: true }), {})?.detail.details).toEqual([
    { field: "name", code: "missing", message: "This field is required.", fix: "Add it: a text." },
  ]);
});
