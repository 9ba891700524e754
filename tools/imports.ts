/** Imports: many contacts at once, from a CSV file. */
import { z } from "zod";
import { type ErrorEntry, errorEntry, id, one, operation, timestamp } from "./contract/index.ts";
import { sourceUrl } from "./uploads.ts";

export const importStatuses = ["queued", "running", "done", "failed"] as const;

/** More rows than this are not read. */
export const maxImportRows = 100_000;

const Import = z.object({
  id: z.string(),
  status: z.enum(importStatuses),
  /** Rows that were read so far; at the end, all of them. */
  total: z.int(),
  created: z.int(),
  updated: z.int(),
  rejected: z.int(),
  /** Of the rows that were rejected, the first 1,000. */
  errors: z.array(z.object({ line: z.int(), reason: z.string() })),
  /** Why it stopped before its end; what it did until then is done. */
  failure: z.string().nullable(),
  created_at: timestamp,
  finished_at: timestamp.nullable(),
});

export const imports = {
  import_contacts: operation({
    method: "POST",
    path: "/v1/contacts/import",
    scope: "contacts:write",
    title: "Import contacts",
    description:
      "Find or create many contacts from a CSV file: columns phone_number, name, tags (between ; or |), any other becomes an attribute. Known contacts keep what the file does not name. Answers at once; get_import tells how far it is.",
    input: z.object({
      upload_id: id("Upload", "upload_file").optional(),
      url: sourceUrl.optional().describe("Public https address of the file, in place of upload_id"),
    }),
    output: one(Import),
    status: 201,
    tier: "extended",
  }),

  get_import: operation({
    method: "GET",
    path: "/v1/imports/{id}",
    scope: { any: ["contacts:read", "contacts:write"] },
    title: "Get import",
    description: "How far an import of contacts is, and which lines it rejected and why.",
    input: z.object({ id: id("Import", "import_contacts") }),
    output: one(Import),
    tier: "extended",
  }),
};

export const importErrors = {
  not_a_csv_file: errorEntry(
    "business_rule",
    422,
    "Contacts are imported from CSV; this upload is {value}.",
    "Upload the table as a file that ends with .csv.",
  ),
  import_not_found: errorEntry(
    "not_found",
    404,
    "There is no import with this id.",
    "Use the id that import_contacts (POST /v1/contacts/import) answered.",
  ),
} as const satisfies Record<string, ErrorEntry>;
