/** The examples of the OpenAPI document: each is a valid request, or a valid response. */
import { expect, test } from "vitest";
import { toDeliveryError } from "../src/platform/inbox/messages/wording/index.ts";
import type { Operation } from "../tools/contract/index.ts";
import { eventExamples } from "../tools/event-examples.ts";
import { catalogue } from "../tools/index.ts";
import { readDocument } from "./support/openapi.ts";

const document = readDocument();

const described = Object.entries<Operation>(catalogue).map(([name, operation]) => {
  const route = document.paths[operation.path]?.[operation.method.toLowerCase()];
  return { name, operation, route };
});

test.each(described)("the response of $name has a valid example", ({ operation, route }) => {
  const { example } = route?.responses[operation.status]?.content?.["application/json"] ?? {};
  const { data, error } = operation.output.safeParse(example);
  expect(error?.issues).toBeUndefined();
  expect(data).toEqual(example);
});

const withBody = described.filter(({ route }) => route?.requestBody);

test.each(withBody)("the request of $name has a valid example", ({ operation, route }) => {
  const { example } = route?.requestBody?.content["application/json"] ?? {};
  const inPath = Object.fromEntries(
    [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, field = ""]) => [field, "x"]),
  );
  const { error } = operation.input.strict().safeParse({ ...inPath, ...Object(example) });
  expect(error?.issues).toBeUndefined();
  expect(Object.keys(Object(example))).not.toEqual([]);
});

test("the error in the example of message.failed is the one of this failure", () => {
  const { error } = eventExamples["message.failed"].data;
  const facts = { channel_code: 131026, title: "Message undeliverable", detail: null };
  expect(error).toEqual(toDeliveryError({ reason: "undeliverable", ...facts }));
});
