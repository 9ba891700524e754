/** Every list of tools is closed: its texts name only tools of the same list. */
import { describe, expect, test } from "vitest";
import { embeddedTools } from "../src/cli/embedded-tools.ts";
import { defaultInstructions, searchInstructions } from "../src/mcp/instructions.ts";
import {
  createToolFilter,
  createToolList,
  defaultToolFilterSettings,
  executeToolName,
  searchToolsName,
  type ToolFilterSettings,
  tools,
} from "../src/mcp/tool-list/index.ts";
import { rankTools } from "../src/mcp/tool-list/search.ts";
import { operationsOf } from "../src/platform/index.ts";
import {
  allScopes,
  closeTexts,
  describeTools,
  type JsonSchema,
  type Operation,
  removeMentions,
  type Scope,
} from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";

const known = tools.map(({ name }) => name);
const toolsets = [...new Set(tools.map(({ toolset }) => toolset))];

interface ToolTexts {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
}

/** Every text of a tool that a model reads. */
function textsOf({ description = "", inputSchema }: ToolTexts): string[] {
  return [description, ...describedFields(inputSchema)];
}

function describedFields(schema: JsonSchema): string[] {
  const inner = [...Object.values((schema.properties ?? {}) as object), schema.items ?? {}] as JsonSchema[];
  const own = typeof schema.description === "string" ? [schema.description] : [];
  return [...own, ...inner.flatMap((one) => (Object.keys(one).length > 0 ? describedFields(one) : []))];
}

/** The tools that the texts of a list name, and that it does not contain. */
function danglingMentions(list: readonly ToolTexts[]): string[] {
  const names = new Set(list.map(({ name }) => name));
  return list.flatMap((tool) =>
    textsOf(tool)
      .flatMap((text) => text.match(/\w+/g) ?? [])
      .filter((word) => known.includes(word) && !names.has(word))
      .map((word) => `${tool.name} names ${word}`),
  );
}

const scopeSets: readonly (readonly [string, readonly Scope[] | undefined])[] = [
  ["unknown scopes", undefined],
  ["every scope", allScopes],
  ["no scope", []],
  ...allScopes.map((scope) => [`only ${scope}`, [scope]] as const),
  ...allScopes.map((scope) => [`all but ${scope}`, allScopes.filter((one) => one !== scope)] as const),
];

const modes = [{}, { mode: "all" as const }, { readOnly: true }];

const filters = [
  ...toolsets.map((toolset) => ({ toolsets: [toolset], mode: "all" as const })),
  ...known.map((name) => ({ deny: [name], mode: "all" as const })),
  ...known.map((name) => ({ allow: [name] })),
];

describe.each([
  ["the embedded service", { availableTools: new Set(embeddedTools) }],
  ["the embedded service with local files", { availableTools: new Set(embeddedTools), isLocal: true }],
  ["another service", {}],
])("a list of %s names no tool that it lacks", (_, options) => {
  const list = createToolList(tools, options);

  const mentions = (settings: Partial<ToolFilterSettings>, scopes?: readonly Scope[]) => {
    const filter = createToolFilter(tools, { ...defaultToolFilterSettings, ...settings });
    return danglingMentions(list.list({ scopes: scopes && new Set(scopes), filter }));
  };

  test.each(scopeSets)("with %s", (_name, scopes) => {
    for (const mode of modes) {
      expect(mentions(mode, scopes), JSON.stringify(mode)).toEqual([]);
    }
  });

  test("with one toolset, one tool denied or one tool allowed", () => {
    for (const filter of filters) {
      expect(mentions(filter), JSON.stringify(filter)).toEqual([]);
    }
  });

  test("in search mode, where a search answers with the tools that can be called", () => {
    const filter = createToolFilter(tools, { ...defaultToolFilterSettings, mode: "search" });
    for (const [, scopes] of scopeSets) {
      const viewer = { scopes: scopes && new Set(scopes), filter };
      expect(list.list(viewer).map(({ name }) => name)).toEqual([searchToolsName, executeToolName]);
      const found = list.callable(viewer).map(({ definition }) => definition);
      expect(danglingMentions([...list.list(viewer), ...found])).toEqual([]);
    }
  });

  test("when the service reports fewer tools", () => {
    const filter = createToolFilter(tools, defaultToolFilterSettings);
    const availableTools = new Set(["send_message", "upload_file"]);
    expect(danglingMentions(list.list({ scopes: undefined, filter, availableTools }))).toEqual([]);
  });
});

test("the instructions name only the tools of search mode", () => {
  const named = (text: string) => (text.match(/\w+/g) ?? []).filter((word) => known.includes(word));
  expect(named(defaultInstructions)).toEqual([]);
  expect(named(searchInstructions)).toEqual([]);
});

test.each(describeTools(catalogue).map((tool) => [tool.name, tool] as const))(
  "%s reads well without its mentions",
  (name, tool) => {
    const [alone] = closeTexts([tool], known);
    expect(alone?.description).toMatch(/^[A-Z].{8,}[.)]$/);
    for (const text of [tool, ...(alone ? [alone] : [])].flatMap(textsOf)) {
      expect(text, name).toMatch(/^[^\s;,.].*[^\s;,]$/s);
      expect(text, name).not.toMatch(/\.[;,.]|[;,][;,.]| {2}/);
    }
  },
);

test("a clause that names an absent tool is removed, and nothing else", () => {
  const absent = new Set(["get_it", "whoami"]);
  expect(removeMentions("List them. Get one with get_it. Safe.", absent)).toBe("List them. Safe.");
  expect(removeMentions("List them; get_it gets one.", absent)).toBe("List them.");
  expect(removeMentions("Thing id, from get_it; by default the last", absent)).toBe(
    "Thing id; by default the last",
  );
  expect(removeMentions("Names it. Describe it with list_it.", absent)).toBe(
    "Names it. Describe it with list_it.",
  );
});

const built: Readonly<Record<string, Operation>> = operationsOf();

/** An order becomes a payment when it is paid; an organization has one add-on. */
const unlisted = ["create_payment_order", "subscribe_chatbot_addon"];

/** The operations that create something under an id, each with the path of the collection. */
const creations = Object.entries(built).filter(
  ([name, { method, path, status, tools: mappings }]) =>
    !unlisted.includes(name) &&
    method === "POST" &&
    status === 201 &&
    !path.endsWith("}") &&
    (mappings === undefined || Object.keys(mappings).length > 0),
);

/**
 * For the size of the list: a broadcast is cancelled and created again, an unused cohort does no harm, a flow
 * is disabled. A knowledge base is kept up by people and programs, rather than by an assistant.
 */
const leftOut = [
  "update_broadcast",
  "delete_broadcast",
  "update_cohort",
  "delete_cohort",
  "update_flow",
  "delete_flow",
  "list_documents",
  "update_document",
  "delete_document",
  "list_qa_pairs",
  "update_qa_pair",
  "delete_qa_pair",
];

describe.each(creations)("what %s creates", (_name, { path, tier }) => {
  const at = (methods: readonly string[], suffix: RegExp) =>
    Object.entries(built).filter(
      ([, other]) =>
        methods.includes(other.method) &&
        other.path.startsWith(path) &&
        suffix.test(other.path.slice(path.length)),
    );

  test.runIf(tier === "core")(
    "can be listed, changed and deleted in the default list, where that is possible",
    () => {
      const needed = [...at(["GET"], /^$/), ...at(["PUT", "PATCH", "DELETE"], /^\/\{\w+\}$/)];
      const missing = needed.filter(([name, { tier }]) => tier !== "core" && !leftOut.includes(name));
      expect(missing.map(([name]) => name)).toEqual([]);
      expect(at(["GET"], /^$/)).toHaveLength(1);
    },
  );
});

test.each([
  ["how much money is left", "get_wallet"],
  ["what does a message cost", "get_wallet"],
  ["what was charged", "list_ledger_entries"],
  ["show transactions", "list_ledger_entries"],
  ["create a payment", "create_payment_order"],
  ["show the payments", "list_payments"],
  ["billing period of our plan", "get_subscription"],
  ["plans with prices", "get_pricing"],
  ["our subscription", "get_subscription"],
  ["pricing of the plans", "get_pricing"],
  ["create a campaign", "create_broadcast"],
  ["send a newsletter", "execute_broadcast"],
  ["send in bulk", "execute_broadcast"],
  ["stop the campaign", "cancel_broadcast"],
  ["mass mailing", "create_broadcast"],
  ["build an audience", "create_cohort"],
])("a search for '%s' finds %s first", (query, expected) => {
  const listed = describeTools(catalogue).map((definition) => ({ definition }));
  expect(rankTools(listed as never, query)[0]?.definition.name).toBe(expected);
});
