/**
 * Contacts: the people with whom an organization exchanges messages, one per phone number or other identity.
 */
import { z } from "zod";
import {
  type ErrorEntry,
  errorEntry,
  id,
  metadata,
  one,
  operation,
  paged,
  paging,
  phone,
  RecordedActor,
  tag,
  tags,
  timestamp,
  untrusted,
  yes,
} from "./contract/index.ts";

export const Contact = z.object({
  id: z.string(),
  organization_id: z.string(),
  /** Null if the contact hides the number: send to the bsuid (business-scoped user id) instead. */
  phone_number: z.string().nullable(),
  /** The channel's id of the person for this business; null if the channel has not sent one. */
  bsuid: untrusted(z.string()).nullable(),
  username: untrusted(z.string()).nullable(),
  name: untrusted(z.string()).nullable(),
  tags: z.array(z.string()),
  metadata: untrusted(z.record(z.string(), z.unknown())),
  /** Whether the contact opted out of marketing, by a stop word or an update. */
  opted_out: z.boolean(),
  /** Whether every message to the contact is rejected. */
  blocked: z.boolean(),
  /** The reason that the blocking user gave; null without a reason. */
  blocked_reason: z.string().nullable(),
  blocked_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

const name = z.string().trim().max(255).describe("Display name");
const attributes = metadata.describe('Custom attributes, like {"tier":"gold"}');
const contactId = id("Contact", "list_contacts");
export const sentTags = tags.unwrap().optional();
const newTags = sentTags.describe("Needs contacts:manage");

interface TagChange {
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

export function checkTagChange({ add, remove }: TagChange, context: z.core.$RefinementCtx): void {
  if (add === undefined && remove === undefined) {
    context.addIssue({ code: "custom", path: ["add"], message: "Send tags in add, in remove, or in both." });
  }
  if (add?.some((name) => remove?.includes(name))) {
    const message = "Send a tag in add or in remove, and not in both.";
    context.addIssue({ code: "custom", path: ["remove"], message });
  }
}

const profile = { name: name.optional(), metadata: attributes.optional(), tags: newTags };

export const contacts = {
  create_contact: operation({
    method: "POST",
    path: "/v1/contacts",
    scope: "contacts:write",
    failures: [404],
    tier: "lean",
    title: "Create contact",
    description: "Create a contact. Fails with existing_id if the number exists.",
    input: z.object({ phone_number: phone, ...profile }),
    output: one(Contact),
    status: 201,
  }),

  list_contacts: operation({
    method: "GET",
    path: "/v1/contacts",
    scope: "contacts:read",
    tier: "lean",
    title: "List contacts",
    description: "List or search contacts, newest first, without attributes.",
    input: z.object({
      search: z.string().max(255).optional().describe("Words of a name, or part of a number"),
      tag: tag.optional().describe("Only with this tag"),
      ...paging(20),
    }),
    output: paged(
      Contact.pick({
        id: true,
        phone_number: true,
        name: true,
        tags: true,
        opted_out: true,
        blocked: true,
        created_at: true,
        updated_at: true,
      }),
    ),
  }),

  get_contact: operation({
    method: "GET",
    path: "/v1/contacts/{id}",
    scope: "contacts:read",
    tier: "lean",
    title: "Get contact",
    description: "Get one contact with its custom attributes.",
    input: z.object({ id: contactId }),
    output: one(Contact),
  }),

  update_contact: operation({
    method: "PUT",
    path: "/v1/contacts/{id}",
    scope: "contacts:write",
    tier: "lean",
    title: "Update contact",
    description:
      "Change a contact's name, attributes or marketing consent, or block it. Only the fields sent change. An empty name removes the name; metadata replaces all attributes. For tags use tag_contact.",
    input: z
      .object({
        id: contactId,
        name: name.optional(),
        metadata: attributes.optional(),
        opted_out: z.boolean().optional().describe("true: send no marketing; replies stay allowed"),
        blocked: z.boolean().optional().describe("true: the contact gets no message by any path"),
        blocked_reason: z.string().trim().max(500).optional().describe("Why it is blocked"),
      })
      .superRefine(({ blocked, blocked_reason }, context) => {
        if (blocked === false && blocked_reason) {
          context.addIssue({
            code: "custom",
            path: ["blocked_reason"],
            message: "Send it only for a contact that is blocked, not with blocked: false.",
          });
        }
      }),
    output: one(Contact.omit({ organization_id: true })),
  }),

  upsert_contact: operation({
    method: "PUT",
    path: "/v1/contacts",
    scope: "contacts:write",
    failures: [404],
    tier: "extended",
    title: "Find or create contact",
    description:
      "Find or create the contact with this phone number, and set the fields sent. metadata replaces all attributes; tags are added. Safe to repeat.",
    input: z.object({ phone_number: phone, ...profile }),
    output: one(Contact.extend({ created: z.boolean() })),
  }),

  tag_contact: operation({
    method: "POST",
    path: "/v1/contacts/{id}/tags",
    scope: "contacts:manage",
    tier: "extended",
    title: "Tag contact",
    description: "Add tags to a contact, or remove them. For many contacts use tag_contacts.",
    input: z
      .object({
        id: contactId,
        add: sentTags.describe("For example vip"),
        remove: sentTags.describe("Tags"),
      })
      .superRefine(checkTagChange),
    output: one(Contact),
    hints: {
      destructive: yes("Nothing records which tags were removed."),
      idempotent: yes("Tags that are there, and tags that are not, stay so."),
    },
  }),

  delete_contact: operation({
    method: "DELETE",
    path: "/v1/contacts/{id}",
    scope: "contacts:manage",
    title: "Delete contact",
    description: "Erase a contact, its conversations and the text of its messages. This can't be undone.",
    input: z.object({ id: contactId }),
    output: one(z.object({ id: z.string(), deleted: z.literal(true) })),
  }),
};

export const contactErrors = {
  contact_exists: errorEntry(
    "conflict",
    409,
    "A contact with this phone number already exists.",
    "Use the contact in existing_id, or find or create in one call with upsert_contact (PUT /v1/contacts).",
  ),
  contact_not_found: errorEntry(
    "not_found",
    404,
    "There is no contact with this id.",
    "Find the id with list_contacts (GET /v1/contacts).",
  ),
  contact_blocked: errorEntry(
    "business_rule",
    422,
    "The contact is blocked and gets no message by any path.",
    "Unblock it with update_contact (PUT /v1/contacts/{id}) only if the contact agreed to get messages again.",
  ),
  contact_not_blocked: errorEntry(
    "invalid_request",
    400,
    "The contact is not blocked, so it can't have a blocked_reason.",
    "Add blocked: true to block the contact, or remove blocked_reason.",
  ),
  too_many_words: errorEntry(
    "invalid_request",
    400,
    "A search can have {limit} different words; this one has {count}.",
    "Search for fewer words.",
  ),
  too_many_tags: errorEntry(
    "business_rule",
    422,
    "A contact or conversation can have {limit} tags; this would make {count}.",
    "Remove some tags in the same call, or store values in a contact's metadata.",
  ),
} as const satisfies Record<string, ErrorEntry>;

export const contactEvents = {
  "contact.created": {
    scope: "contacts:read",
    data: z.object({
      contact_id: z.string(),
      phone_number: z.string().nullable(),
      name: z.string().nullable(),
      /** Who caused it; the service itself where the contact wrote first. */
      actor: RecordedActor,
    }),
  },
  "contact.tag_added": {
    scope: "contacts:read",
    /** tags: the tags that the contact did not have before. */
    data: z.object({ contact_id: z.string(), tags: z.array(z.string()), actor: RecordedActor }),
  },
  "contact.updated": {
    scope: "contacts:read",
    data: z.object({
      contact_id: z.string(),
      /** The fields that were set; get_contact returns their values. */
      fields: z.array(z.enum(["name", "metadata", "tags", "opted_out", "blocked", "phone_number"])),
      /** The consent and the block after the change. */
      opted_out: z.boolean(),
      blocked: z.boolean(),
      /** Who caused it; the service itself where the contact or the channel did. */
      actor: RecordedActor,
    }),
  },
} as const;
