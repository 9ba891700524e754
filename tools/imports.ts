/** Imports: contacts from a CSV file. */
import { z } from "zod";
import { type ErrorEntry, errorEntry, id, one, operation, timestamp, yes } from "./contract/index.ts";
import { sourceUrl } from "./uploads.ts";

export const importStatuses = ["queued", "running", "done", "failed"] as const;

/** Further rows are not read. */
export const maxImportRows = 100_000;

const Import = z.object({
  id: z.string(),
  status: z.enum(importStatuses),
  /** Rows read so far. */
  total: z.int(),
  created: z.int(),
  updated: z.int(),
  rejected: z.int(),
  /** The first 1,000 rejected rows. */
  errors: z.array(z.object({ line: z.int(), reason: z.string() })),
  /** Why the import stopped early; the rows before that point are imported. */
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
      "Create or update many contacts from a CSV file with the columns phone_number, name and tags (separated by | or semicolon). Other columns become attributes. Tags require contacts:manage. Existing contacts keep fields that the file does not have. Runs in the background. Follow its progress with get_import.",
    input: z.object({
      upload_id: id("Upload", "upload_file").optional(),
      url: sourceUrl
        .optional()
        .describe("Public https address or storage_url of the file, instead of upload_id"),
    }),
    output: one(Import),
    status: 201,
    tier: "extended",
    hints: {
      destructive: yes("Nothing records the values of contacts that the file overwrites."),
      openWorld: yes("It may fetch the file from an address."),
    },
  }),

  get_import: operation({
    method: "GET",
    path: "/v1/imports/{id}",
    scope: { any: ["contacts:read", "contacts:write"] },
    title: "Get import",
    description: "Get the progress of a contact import, and the rejected lines with the reasons.",
    input: z.object({ id: z.string().min(1).max(64).describe("Import id, from import_contacts") }),
    output: one(Import),
    tier: "extended",
  }),
};

export const importErrors = {
  not_a_csv_file: errorEntry(
    "business_rule",
    422,
    "Contacts can be imported only from CSV; this upload is {value}.",
    "Upload the table as a .csv file.",
  ),
  tags_not_permitted: errorEntry(
    "permission",
    403,
    "The file has a column named tags, and setting tags requires the scope {required_scope}.",
    "Use a key that holds {required_scope}, or delete the column, and import the file again.",
  ),
  import_not_found: errorEntry(
    "not_found",
    404,
    "There is no import with this id.",
    "Use the id that import_contacts (POST /v1/contacts/import) returned.",
  ),
} as const satisfies Record<string, ErrorEntry>;

const ImportChange = z.object({ import_id: z.string() });

/** The counts of rows, as in the import. */
const ImportEnd = ImportChange.extend({
  total: z.int(),
  created: z.int(),
  updated: z.int(),
  rejected: z.int(),
});

export const importEvents = {
  "import.started": { scope: "contacts:read", data: ImportChange },
  "import.completed": { scope: "contacts:read", data: ImportEnd },
  "import.failed": { scope: "contacts:read", data: ImportEnd.extend({ failure: z.string() }) },
} as const;
