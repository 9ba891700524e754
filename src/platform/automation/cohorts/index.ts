/** Cohorts: saved audiences, and the functions with which broadcasts select their recipients. */
import { cohorts as contract, maxDeclaredAttributes } from "../../../../tools/cohorts/index.ts";
import { fail, failField } from "../../../../tools/errors.ts";
import {
  containsText,
  ofOrganization,
  ReadTimeoutError,
  readPage,
  withTimeLimit,
} from "../../../database/query/index.ts";
import {
  type Change,
  defineHook,
  implement,
  type World,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import {
  declareDate,
  erasesContact,
  normalizeContacts,
  serializeContact,
  tagContacts,
  withdrawDate,
} from "../../inbox/contacts/index.ts";
import { buildCohortJob } from "./build.ts";
import { countCohortJob } from "./count.ts";
import { createCohort } from "./create.ts";
import { describeAttributes, serializeDateAttribute } from "./describe.ts";
import {
  type Audience,
  countMembers,
  isMember,
  parseCohortQuery,
  requireCohort,
  serializeCohort,
} from "./members.ts";
import { previewQuery } from "./preview.ts";

export { normalizeContacts } from "../../inbox/contacts/index.ts";
export {
  type Cohort,
  contactQueries,
  countMembers,
  isMember,
  listMemberIds,
  recordCount,
  requireCohort,
} from "./members.ts";

/**
 * A cohort is about to be deleted. Not an event: a handler can reject the deletion.
 * @throws Failure `cohort_in_use` if something still needs the cohort.
 */
export const cohortWithdrawn =
  defineHook<[change: Change, cohort: { readonly organization: string; readonly cohort_id: string }]>();

export const cohorts = implement(contract, {
  tables: ["cohorts", "cohort_members"],
  operations: {
    create_cohort: {
      async prepare(input, { world, caller }) {
        const count = await countAtOnce(world, caller?.organization_id, input);
        return (context) => createCohort(input, count, context);
      },
    },

    async list_cohorts({ search, ...paging }, { db, organization }) {
      const query = ofOrganization(db, organization)
        .selectFrom("cohorts")
        .selectAll()
        .$if(search !== undefined, (rows) => rows.where(containsText(search ?? "", "name")))
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(query, paging);
      return { data: rows.map(serializeCohort), meta };
    },

    tag_contacts: {
      async prepare({ cohort_id, query = {}, add = [], remove = [] }, { world, caller }) {
        await normalizeContacts(world, caller?.organization_id ?? "");
        return async (context) => {
          const { tx, organization, now } = context;
          const audience: Audience =
            cohort_id === undefined
              ? { type: "query", query }
              : await requireCohort(tx, organization, cohort_id);
          return {
            data: await tagContacts(context, isMember(organization, audience, now), { add, remove }),
          };
        };
      },
    },

    async describe_attributes(_, { db, organization }) {
      return { data: await describeAttributes(db, organization) };
    },

    async declare_attribute({ name }, context) {
      const limit = maxDeclaredAttributes;
      const attribute = await declareDate(context, { name, limit });
      if (!attribute) {
        throw fail("too_many_declared_attributes", { limit });
      }
      return { data: serializeDateAttribute(attribute) };
    },

    async undeclare_attribute({ name }, context) {
      if (!(await withdrawDate(context, name))) {
        throw fail("attribute_not_declared", { name });
      }
      return { data: { deleted: true as const } };
    },

    async preview_cohort(input, context) {
      return { data: await previewQuery(context, input) };
    },

    async get_cohort({ id }, { db, organization }) {
      return { data: serializeCohort(await requireCohort(db, organization, id)) };
    },

    async list_cohort_members({ id, contact_id, ...paging }, { db, world, organization, now }) {
      const cohort = await requireCohort(db, organization, id);
      await normalizeContacts(world, organization);
      const { rows, meta } = await withTimeLimit(
        world.database,
        (queries) => {
          const members = ofOrganization(queries, organization)
            .selectFrom("contacts")
            .where("erased_at", "is", null)
            .$if(contact_id !== undefined, (contacts) => contacts.where("contacts.id", "=", contact_id ?? ""))
            .where(isMember(organization, cohort, now));
          return readPage(members.selectAll().orderBy("id", "desc"), paging);
        },
        "scan",
      );
      return { data: rows.map(serializeContact), meta };
    },

    update_cohort: {
      async prepare(input, { world, caller }) {
        const count = await countQuery(world, caller?.organization_id, input.query);
        return (context) => updateCohort(input, count, context);
      },
    },

    async delete_cohort({ id }, context) {
      const { tx, world, organization } = context;
      await cohortWithdrawn.run(world, context, { organization, cohort_id: id });
      // A running build finds no cohort, and deletes the file.
      const { numDeletedRows } = await ofOrganization(tx, organization)
        .deleteFrom("cohorts")
        .where("id", "=", id)
        .executeTakeFirst();
      if (!numDeletedRows) {
        throw fail("cohort_not_found");
      }
      return { data: { deleted: true as const } };
    },
  },
  jobs: [buildCohortJob, countCohortJob],
  erase: erasesContact({
    async now({ tx }, { organization_id, contact_id }) {
      await ofOrganization(tx, organization_id)
        .deleteFrom("cohort_members")
        .where("contact_id", "=", contact_id)
        .execute();
    },
  }),
});

/**
 * Counts the contacts of a query; undefined without a query. Runs before the transaction, which holds the
 * embedded engine's only connection.
 */
async function countQuery(
  world: World,
  organization: string | undefined,
  query: Record<string, unknown> | undefined,
): Promise<number | undefined> {
  if (query === undefined || organization === undefined) {
    return undefined;
  }
  parseCohortQuery(query);
  return countMembers(world, organization, { type: "query", query }, world.now());
}

/** The count of a new cohort; undefined if it takes too long, and for the contacts of a file. */
async function countAtOnce(
  world: World,
  organization: string | undefined,
  { type, query }: { readonly type: string; readonly query: Record<string, unknown> },
): Promise<number | undefined> {
  try {
    return type === "query" ? await countQuery(world, organization, query) : undefined;
  } catch (error) {
    if (error instanceof ReadTimeoutError) {
      return undefined;
    }
    throw error;
  }
}

interface CohortChanges {
  readonly id: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly query?: Record<string, unknown> | undefined;
}

/** `count` is the number of contacts that the new query selects. */
async function updateCohort(
  { id, name, description, query }: CohortChanges,
  count: number | undefined,
  { tx, organization, now }: WriteContext,
) {
  const cohort = await requireCohort(tx, organization, id, { forUpdate: true });
  if (cohort.type === "csv" && query !== undefined) {
    throw failField("query", "cohort_has_file");
  }
  const updated = await ofOrganization(tx, organization)
    .updateTable("cohorts")
    .set({
      name,
      description,
      contact_count: count,
      updated_at: now.toISOString(),
      query: query && JSON.stringify(query),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { data: serializeCohort(updated) };
}
