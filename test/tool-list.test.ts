/**
 * The lists of the modes, and that every list is closed: its texts name only tools that its reader can call.
 */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { embeddedTools } from "../src/cli/embedded-tools.ts";
import { defaultInstructions, describeList } from "../src/mcp/instructions.ts";
import {
  createToolFilter,
  createToolList,
  defaultToolFilterSettings,
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

/** The tools that the texts of a list name, and that its reader can't call. */
function danglingMentions(
  list: readonly ToolTexts[],
  callable: readonly { readonly name: string }[],
): string[] {
  const names = new Set(callable.map(({ name }) => name));
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

const modes = [{}, { mode: "all" as const }, { mode: "lean" as const }, { readOnly: true }];

const filters = [
  ...toolsets.map((toolset) => ({ toolsets: [toolset], mode: "all" as const })),
  ...known.map((name) => ({ deny: [name], mode: "all" as const })),
  ...known.map((name) => ({ allow: [name] })),
];

describe.each([
  ["the embedded service", { availableTools: new Set(embeddedTools) }],
  ["the embedded service with local files", { availableTools: new Set(embeddedTools), isLocal: true }],
  ["another service", {}],
])("a list of %s names no tool that its reader can't call", (_, options) => {
  const list = createToolList(tools, options);

  const mentions = (settings: Partial<ToolFilterSettings>, scopes?: readonly Scope[]) => {
    const filter = createToolFilter(tools, { ...defaultToolFilterSettings, ...settings });
    const viewer = { scopes: scopes && new Set(scopes), filter };
    return danglingMentions(list.list(viewer), list.callable(viewer));
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
      const found = list.callable(viewer);
      const texts = [...list.list(viewer), ...found.map(({ definition }) => definition)];
      expect(danglingMentions(texts, found)).toEqual([]);
    }
  });

  test("when the service reports fewer tools", () => {
    const filter = createToolFilter(tools, defaultToolFilterSettings);
    const availableTools = new Set(["send_message", "upload_file"]);
    const viewer = { scopes: undefined, filter, availableTools };
    expect(danglingMentions(list.list(viewer), list.callable(viewer))).toEqual([]);
  });
});

/** Tools that another change adds to the default list: their places and tokens are kept. */
const reserved = ["view_media", "plan_call", "run_plan"];
const missing = reserved.filter((name) => !known.includes(name));
const tokensOfReserved = 150;

const gateways = ["search_tools", "run_read_tool", "run_write_tool"];

function listOf(settings: Partial<ToolFilterSettings>, scopes?: readonly Scope[]) {
  const filter = createToolFilter(tools, { ...defaultToolFilterSettings, ...settings });
  return createToolList(tools).list({ scopes: scopes && new Set(scopes), filter });
}

const namesOf = (...options: Parameters<typeof listOf>) => listOf(...options).map(({ name }) => name);

describe("the mode", () => {
  test("core is the default, within the limits of hosts", () => {
    const list = listOf({});
    const sizes = list
      .map(({ name, description, inputSchema }) =>
        countTokens(JSON.stringify({ name, description, inputSchema })),
      )
      .sort((a, b) => a - b);
    expect(list.length).toBeLessThanOrEqual(79 - missing.length);
    const tokens = sizes.reduce((sum, size) => sum + size, 0);
    expect(tokens).toBeLessThanOrEqual(9_500 - tokensOfReserved * missing.length);
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(130);
    expect(sizes.at(-1)).toBeLessThanOrEqual(500);
    expect(JSON.stringify({ tools: list }).length).toBeLessThanOrEqual(90_000 - 1_000 * missing.length);
  });

  test("lean lists at most 37 tools of the default list, beside the gateways", () => {
    const lean = namesOf({ mode: "lean" });
    expect(lean.slice(0, 3)).toEqual(gateways);
    expect(lean.length).toBeLessThanOrEqual(
      40 - reserved.slice(0, 1).filter((name) => missing.includes(name)).length,
    );
    expect(namesOf({})).toEqual(expect.arrayContaining(lean));
  });

  test("all lists every tool, and needs no gateways", () => {
    expect(namesOf({ mode: "all" })).toEqual(known);
  });

  test("search lists the gateways alone", () => {
    expect(namesOf({ mode: "search" })).toEqual(gateways);
  });

  test("a tool that is allowed by name is listed, whatever its tier", () => {
    expect(namesOf({ allow: ["unassign_conversation", "list_contacts"] })).toEqual([
      "list_contacts",
      "unassign_conversation",
    ]);
  });

  test("the gateways are listed as far as they reach something", () => {
    expect(namesOf({ readOnly: true }).filter((name) => gateways.includes(name))).toEqual(
      gateways.slice(0, 2),
    );
    expect(namesOf({ toolsets: ["auth"] })).toEqual(["whoami"]);
    expect(namesOf({}, ["tokens:create"]).slice(0, 3)).toEqual(gateways);
  });
});

test("the line about the list says how many tools it has, and what the gateways reach", () => {
  const known = { others: ["inboxes", "ledger"], runners: ["run_read_tool"], isEstimate: false };
  expect(describeList({ ...known, listed: 70, otherCount: 50 })).toBe(
    "70 of 120 tools are listed. Find the others (inboxes, ledger) with search_tools, and run them with run_read_tool.",
  );
  expect(describeList({ ...known, listed: 70, others: [], otherCount: 0 })).toBeUndefined();
});

test("the instructions name no tool of the list", () => {
  const named = (defaultInstructions.match(/\w+/g) ?? []).filter((word) => known.includes(word));
  expect(named).toEqual([]);
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

/**
 * An order becomes a payment when it is paid; an organization has one add-on; an import and a test
 * create other things. A template for codes is listed with all templates.
 */
const unlisted = [
  "create_otp_template",
  "create_payment_order",
  "subscribe_chatbot_addon",
  "import_contacts",
  "test_broadcast",
];

/** The operations that create something under an id, each with the path of the collection. */
const creations = Object.entries(built).filter(
  ([name, { method, path, status, tools: mappings }]) =>
    !unlisted.includes(name) &&
    method === "POST" &&
    status === 201 &&
    !path.endsWith("}") &&
    (mappings === undefined || Object.keys(mappings).length > 0),
);

test.each(creations)("what %s creates has a tool that lists it", (_name, { path }) => {
  const lists = Object.values(built).filter((other) => other.method === "GET" && other.path === path);
  expect(lists).toHaveLength(1);
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
  ["pause a broadcast", "pause_broadcast"],
  ["change the flow", "update_flow"],
  ["list the questions and answers", "list_qa_pairs"],
])("a search for '%s' finds %s first", (query, expected) => {
  const listed = describeTools(catalogue).map((definition) => ({ definition }));
  expect(rankTools(listed as never, query)[0]?.definition.name).toBe(expected);
});

test("a search for a name that every object has finds nothing", () => {
  const listed = describeTools(catalogue).map((definition) => ({ definition }));
  expect(rankTools(listed as never, "constructor")).toEqual([]);
});
