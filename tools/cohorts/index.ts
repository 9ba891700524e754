/** Cohorts: saved filters that select the contacts of a broadcast. */
import { z } from "zod";
import { Contact, checkTagChange, sentTags } from "../contacts.ts";
import {
  DeletionResult,
  describedForTools,
  id,
  jsonObject,
  one,
  operation,
  paged,
  paging,
  timestamp,
  untrusted,
  yes,
} from "../contract/index.ts";
import { sourceUrl } from "../uploads.ts";

export { cohortErrors } from "./errors.ts";
export { type QueryOperator, queryErrors, queryOperators } from "./query.ts";

export const cohortTypes = ["query", "csv"] as const;

export const cohortStatuses = ["building", "ready", "failed"] as const;

/** A query in the forms that describe_attributes explains. */
const query = jsonObject.describe(
  'For example {"and":[{"attribute":"tags","operator":"has_any","value":["vip"]},{"attribute":"last_user_message_at","operator":"not_within_last","value":"30d"}]}; also or, not, nested; {} selects all',
);

const Cohort = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(cohortTypes),
  csv_url: z.string().nullable(),
  query: z.record(z.string(), z.unknown()),
  /** Counted when the cohort was saved, and at each broadcast. */
  contact_count: z.int(),
  /** A csv cohort is building until its file has been read. */
  status: z.enum(cohortStatuses),
  /** For a csv cohort: the lines read so far, and how many of them have no contact. */
  lines_read: z.int(),
  lines_rejected: z.int(),
  /** Why the file could not be read to the end. */
  failure: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

const CohortWithErrors = Cohort.extend({
  /** The first 1,000 rejected lines of a csv cohort's file. */
  errors: z.array(z.object({ line: z.int(), reason: z.string() })),
});

const name = z.string().min(1).max(255).describe("Name");
const description = z.string().max(1000).describe("Purpose");
/** The list of tools shows the form once. */
const savedQuery = describedForTools(query, "Conditions; preview_cohort has their form");
const cohortId = id("Cohort", "list_cohorts");

const NewCohort = z
  .object({
    name,
    query: savedQuery,
    type: z.enum(cohortTypes).default("query").describe("csv: the numbers of a file; query is then {}"),
    csv_url: sourceUrl.optional().describe("For csv: address or storage_url of the file"),
    upload_id: id("Instead of csv_url: upload", "list_uploads").optional(),
    description: description.optional(),
  })
  .superRefine(({ type, query, csv_url, upload_id }, context) => {
    const sources = [csv_url, upload_id].filter((source) => source !== undefined).length;
    const problems: [boolean, string, string][] = [
      [type === "csv" && sources !== 1, "csv_url", "A csv cohort needs csv_url or upload_id, and not both."],
      [type === "query" && sources > 0, csv_url ? "csv_url" : "upload_id", "Send it only with type csv."],
      [type === "csv" && Object.keys(query).length > 0, "query", "Send {} as the query of a csv cohort."],
    ];
    for (const [, field, message] of problems.filter(([isWrong]) => isWrong)) {
      context.addIssue({ code: "custom", path: [field], message });
    }
  });

const readScope = { any: ["broadcasts:read", "broadcasts:create"] } as const;

/** A contact that a query selects. */
const SampleContact = Contact.pick({ phone_number: true, name: true, tags: true }).extend({
  /** Null without contacts:read; then most of the number and the name is hidden too. */
  id: z.string().nullable(),
});

const Preview = z.object({
  contact_count: z.int(),
  /** With sample: up to five contacts. */
  sample: z.array(SampleContact).optional(),
  /**
   * With sample: for each condition, how many contacts meet it, and how many also meet all conditions before
   * it.
   */
  funnel: z
    .array(z.object({ conditions: z.array(z.string()), matching: z.int(), remaining: z.int() }))
    .optional(),
});

const DeclaredAttribute = z.object({
  /** As conditions name it, such as metadata.signed_up. */
  attribute: z.string(),
  type: z.literal("date"),
  /** Preparing: queries are right, but as slow as before for contacts that are not prepared yet. */
  status: z.enum(["preparing", "ready"]),
});

/** Also without the prefix, which the answer has always. */
const metadataAttribute = z
  .string()
  .max(255)
  .transform((name) => name.replace(/^metadata\./, ""))
  .refine((path) => !path.split(".").includes(""), "Send the name of a metadata attribute.")
  .describe("Attribute, for example metadata.signed_up");

const AttributeDescriptions = z.object({
  attributes: z.array(
    z.object({
      attribute: z.string(),
      type: z.string(),
      description: z.string(),
      values: z.array(z.string()).optional(),
    }),
  ),
  /** For each type, the operators that apply, and the value that each operator takes. */
  operators: z.record(z.string(), z.record(z.string(), z.string())),
  /** The tags of the newest 10,000 contacts and conversations. */
  tags: z.array(z.string()),
  conversation_tags: z.array(z.string()),
  metadata_attributes: z.array(
    z.object({ attribute: untrusted(z.string()), types: z.array(z.string()), contacts: z.int() }),
  ),
  declared_attributes: z.array(DeclaredAttribute),
  rules: z.array(z.string()),
  examples: z.array(z.object({ audience: z.string(), query: z.record(z.string(), z.unknown()) })),
});

/** An attribute named like a part of a cohort's path made it ambiguous. */
const formerAttributePath = [
  { path: "/v1/cohorts/attributes/{name}", credential: "any", isFormer: true },
] as const;

export const cohorts = {
  create_cohort: operation({
    method: "POST",
    path: "/v1/cohorts",
    scope: "broadcasts:create",
    tier: "lean",
    title: "Create cohort",
    description:
      "Save an audience for broadcasts; preview_cohort counts a query. It is counted, or built from a csv file, afterwards: see get_cohort.",
    input: NewCohort,
    output: one(Cohort),
    status: 201,
    hints: { openWorld: yes("A csv cohort is read from an address.") },
  }),

  list_cohorts: operation({
    method: "GET",
    path: "/v1/cohorts",
    scope: readScope,
    tier: "lean",
    title: "List cohorts",
    description: "List the saved audiences, newest first.",
    input: z.object({
      search: z.string().max(255).optional().describe("Part of a name"),
      ...paging(25),
    }),
    output: paged(Cohort),
  }),

  tag_contacts: operation({
    method: "POST",
    path: "/v1/contacts/tags",
    scope: "contacts:manage",
    tier: "extended",
    title: "Tag contacts",
    description:
      "Add or remove tags of all contacts of a cohort, or of all that a query selects, at most 1,000 a call. Call it again while remaining is above 0.",
    input: z
      .object({
        cohort_id: cohortId.optional(),
        query: savedQuery.optional(),
        add: sentTags.describe("For example vip"),
        remove: sentTags.describe("Tags"),
      })
      .superRefine(({ cohort_id, query }, context) => {
        if ((cohort_id === undefined) === (query === undefined)) {
          context.addIssue({
            code: "custom",
            path: [cohort_id === undefined ? "cohort_id" : "query"],
            message: "Send cohort_id or query, and not both.",
          });
        }
      })
      .superRefine(checkTagChange),
    output: one(
      z.object({
        /** Contacts that had other tags before. */
        changed: z.int(),
        /** Contacts that stayed as they are: they would have too many tags. */
        rejected: z.int(),
        /** Contacts that still need the change. */
        remaining: z.int(),
      }),
    ),
    hints: {
      destructive: yes("Nothing records which tags were removed."),
      idempotent: yes("Tags that are there, and tags that are not, stay so."),
    },
  }),

  describe_attributes: operation({
    method: "GET",
    path: "/v1/cohorts/attributes",
    scope: { any: ["broadcasts:read", "broadcasts:create", "contacts:read"] },
    tier: "extended",
    title: "Describe attributes",
    description:
      "Get the attributes, types, operators and example queries for cohorts, and the tags and metadata in use. Call it before you write a query.",
    input: z.object({}),
    output: one(AttributeDescriptions),
  }),

  preview_cohort: operation({
    method: "POST",
    path: "/v1/cohorts/preview-query",
    scope: { any: ["broadcasts:read", "broadcasts:create", "contacts:read"] },
    tier: "lean",
    title: "Preview cohort",
    description:
      "Count the contacts that a query selects now. Attributes and operators: describe_attributes.",
    input: z.object({
      query,
      sample: z.boolean().default(false).describe("Also five contacts, and the count of each condition"),
    }),
    output: one(Preview),
    effect: "read",
  }),

  declare_attribute: operation({
    method: "PUT",
    path: "/v1/cohort-attributes/{name}",
    also: formerAttributePath,
    scope: "broadcasts:create",
    tier: "extended",
    title: "Declare attribute",
    description:
      "Declare a metadata attribute of contacts as a date: queries that compare it become faster, and select the same contacts. describe_attributes shows when it is ready.",
    input: z.object({ name: metadataAttribute, type: z.literal("date").describe("Type of the values") }),
    output: one(DeclaredAttribute),
  }),

  undeclare_attribute: operation({
    method: "DELETE",
    path: "/v1/cohort-attributes/{name}",
    also: formerAttributePath,
    scope: "broadcasts:create",
    tier: "extended",
    title: "Undeclare attribute",
    description:
      "End the declaration of a metadata attribute: queries that compare it become slower. Contacts keep their metadata.",
    input: z.object({ name: metadataAttribute }),
    output: one(DeletionResult),
  }),

  get_cohort: operation({
    method: "GET",
    path: "/v1/cohorts/{id}",
    scope: readScope,
    tier: "extended",
    title: "Get cohort",
    description: "Get a cohort: its query, and the progress and rejected lines of a csv cohort.",
    input: z.object({ id: cohortId }),
    output: one(CohortWithErrors),
  }),

  list_cohort_members: operation({
    method: "GET",
    path: "/v1/cohorts/{id}/members",
    scope: "contacts:read",
    title: "List cohort members",
    description:
      "List the contacts that a cohort selects now, newest first, or find out whether one is in it.",
    input: z.object({
      id: cohortId,
      contact_id: id("Contact", "list_contacts")
        .optional()
        .describe("Only this contact, if it is in the cohort"),
      ...paging(25),
    }),
    output: paged(
      Contact.pick({ id: true, phone_number: true, name: true, tags: true, opted_out: true, blocked: true }),
    ),
    tier: "extended",
  }),

  update_cohort: operation({
    method: "PUT",
    path: "/v1/cohorts/{id}",
    scope: "broadcasts:create",
    title: "Update cohort",
    description:
      "Change a cohort's name, description or query, and count it again. Only the fields sent change. A csv cohort keeps its contacts: create another for another file.",
    input: z.object({
      id: cohortId,
      name: name.optional(),
      query: savedQuery.optional(),
      description: description.optional(),
    }),
    output: one(Cohort),
    tier: "extended",
  }),

  delete_cohort: operation({
    method: "DELETE",
    path: "/v1/cohorts/{id}",
    scope: "broadcasts:create",
    title: "Delete cohort",
    description: "Delete a cohort. Its contacts stay. This can't be undone.",
    input: z.object({ id: cohortId }),
    output: one(DeletionResult),
    tier: "extended",
  }),
};

/** How many attributes an organization may declare, also those whose declaration has ended. */
export const maxDeclaredAttributes = 50;
