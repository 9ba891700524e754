/** Texts of the console: all are in texts.ts and texts/, so that another language is other files. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { actWords, describeAct } from "../console/texts/acts.ts";
import { channels } from "../console/texts/channels.ts";
import { subscribedFields } from "../src/adapters/channel/whatsapp/set-up/meta-app.ts";
import { catalogue } from "../tools/index.ts";
import { type Node, Source } from "./support/promises/source.ts";

/** Attributes that are shown or read out. */
const shownAttributes = ["title", "aria-label", "aria-description", "placeholder", "alt", "label"];
const hasLetter = /\p{L}/u;

test("components have no text of their own", async () => {
  const files = (await readdir("console", { recursive: true })).filter((path) => path.endsWith(".tsx"));
  const sources = await Promise.all(
    files.map(async (path) => new Source(path, await readFile(join("console", path), "utf8"))),
  );
  expect(sources.flatMap(findTexts)).toEqual([]);
  expect(sources.length).toBeGreaterThan(25);
});

test("the fields to subscribe to by hand are those that connect_inbox subscribes", () => {
  expect(channels.inboxes.webhook.fieldNames).toEqual(subscribedFields);
});

test("every operation has words for activity, and no other name has", () => {
  expect(Object.keys(actWords).sort()).toEqual(Object.keys(catalogue).sort());
  expect(describeAct("send_message", "done", "Ada")).toBe("Sent a message to Ada");
  expect(describeAct("send_message", "waiting", "")).toBe("Asked to send a message");
  expect(describeAct("delete_contact", "refused", "Ada")).toBe("Tried to delete a contact: Ada");
  expect(describeAct("login", "done", "")).toBe("Signed in");
  expect(describeAct("users create", "done", "")).toBe("Called users create");
});

test.each([
  ["<p>Hello</p>", ["Hello"]],
  ["<p>{count} rows</p>", [" rows"]],
  ['<p>{isOpen ? "Close" : texts.open}</p>', ["Close"]],
  ['<p>{name ?? "Unknown"}</p>', ["Unknown"]],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a component
  ["<p>{`${count} rows`}</p>", [" rows"]],
  ['<input aria-label="Search" />', ["Search"]],
  ['<input placeholder={isShort ? "Find" : texts.find} />', ["Find"]],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a component
  ["<img alt={`Photo of ${name}`} />", ["Photo of "]],
  ['<p class="row"> · {texts.title}{" "}{code === "closed" ? 1 : names["first"]}</p>', []],
])("%s has the texts %j", (component, expected) => {
  expect(findTexts(new Source("example.tsx", component)).map((found) => found.split(": ")[1])).toEqual(
    expected,
  );
});

/** `path:line: text` of each text that a reader would see. */
function findTexts(source: Source): string[] {
  const shown = source.nodes.flatMap((node) => shownValues(source, node));
  return shown
    .filter(({ text }) => hasLetter.test(text))
    .map(({ node, text }) => {
      return `${source.path}:${source.lineOf(node)}: ${text}`;
    });
}

interface Text {
  readonly node: Node;
  readonly text: string;
}

function shownValues(source: Source, node: Node): Text[] {
  if (node.type === "JSXText") {
    return [{ node, text: node.value }];
  }
  if (node.type === "JSXAttribute") {
    const name = source.textOf(node.name);
    return node.value && shownAttributes.includes(name) ? literals(node.value) : [];
  }
  const parent = source.parentOf(node)?.type;
  const isChild = parent === "JSXElement" || parent === "JSXFragment";
  return isChild && node.type === "JSXExpressionContainer" ? literals(node) : [];
}

/** The texts that the value of an expression can be. */
function literals(node: Node | null): Text[] {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string" ? [{ node, text: node.value }] : [];
    case "TemplateLiteral":
      return node.quasis.map((part) => ({ node, text: part.value.raw }));
    case "JSXExpressionContainer":
      return literals(node.expression);
    case "ConditionalExpression":
      return [...literals(node.consequent), ...literals(node.alternate)];
    case "LogicalExpression":
      return [...literals(node.left), ...literals(node.right)];
    default:
      return [];
  }
}
