/**
 * Applies the review authority's list of an inbox's templates to our templates, page by page.
 *
 * A template that has changed since the sync began is left to the next sync, because the page may be older
 * than the change. So repeated or concurrent syncs apply nothing twice. A template that exists only at the
 * authority is added. A template that no longer exists there is marked and kept.
 */

import type { TemplateSkipReason } from "../../../../../tools/templates/index.ts";
import { newId } from "../../../../database/id.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { TemplateInbox } from "../../../../ports/channel/template-authority.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { stateOf, storeState, toTemplateColumns } from "../find.ts";
import {
  applyReview,
  createState,
  hasChanged,
  markMissing,
  type TemplateReview,
  type TemplateRow,
  type TemplateState,
} from "../states.ts";
import { type InboxOfTemplate, readPages, submissionEndedMs } from "./authority.ts";

interface Target {
  readonly inbox: InboxOfTemplate;
  /** Only the templates of this name. */
  readonly name?: string | undefined;
}

export interface SyncedInbox {
  /** The status of each template that exists at the authority and that this service can send. */
  readonly statuses: readonly TemplateRow["status"][];
  /** How many templates changed or were added. */
  readonly updated: number;
  /** Whether a template was left to the next sync. */
  readonly isPartial: boolean;
  readonly skipped: readonly SkippedTemplate[];
}

/** A template of the authority that this service can't send, and therefore did not add. */
interface SkippedTemplate {
  readonly name: string;
  readonly language: string;
  readonly reason: TemplateSkipReason;
}

/** The inbox's templates at the beginning of the sync. */
interface Snapshot {
  /** Keyed by id. */
  readonly revisions: ReadonlyMap<string, number>;
  /** Name and language of each template. */
  readonly keys: ReadonlySet<string>;
  readonly now: Date;
}

export async function syncInbox(world: World, target: Target): Promise<SyncedInbox> {
  const snapshot = await readSnapshot(world, target);
  const statuses: TemplateRow["status"][] = [];
  const seen = new Set<string>();
  const listed = new Set<string>();
  const skipped: SkippedTemplate[] = [];
  let updated = 0;
  let isPartial = false;
  let isReadable = true;
  for await (const page of readPages(world, target)) {
    const templates = takeNew(page.templates, listed);
    isReadable &&= !page.isPartial;
    skipped.push(...templates.filter((one) => isUnsendable(one, snapshot)).map(toSkipped));
    const applied = await world.database.transaction((tx) => applyPage(tx, target, { snapshot, templates }));
    for (const { id, status, isChanged, isSkipped } of applied) {
      statuses.push(status);
      seen.add(id);
      updated += isChanged ? 1 : 0;
      isPartial ||= isSkipped;
    }
  }
  // An unreadable template may be any of the missing templates.
  const missing = isReadable ? [...snapshot.revisions.keys()].filter((id) => !seen.has(id)) : [];
  updated += await world.database.transaction((tx) => markAllMissing(tx, target, { snapshot, missing }));
  return { statuses, updated, isPartial, skipped };
}

/** Whether it is not known here and has a part that can't be sent. */
function isUnsendable(reviewed: TemplateReview, { keys }: Snapshot): boolean {
  return reviewed.version === null && !keys.has(keyOf(reviewed));
}

function toSkipped({ name, language, skip_reason: reason = "unknown" }: TemplateReview): SkippedTemplate {
  return { name, language, reason };
}

/** A template that the authority lists twice counts once. Adds the keys of the others to `listed`. */
function takeNew(page: readonly TemplateReview[], listed: Set<string>): readonly TemplateReview[] {
  return page.filter((reviewed) => {
    const isNew = !listed.has(keyOf(reviewed));
    listed.add(keyOf(reviewed));
    return isNew;
  });
}

async function readSnapshot({ database, now }: World, { inbox, name }: Target): Promise<Snapshot> {
  const rows = await ofOrganization(database.queries, inbox.organization_id)
    .selectFrom("templates")
    .select(["id", "name", "language", "revision"])
    .where("inbox_id", "=", inbox.id)
    .$if(name !== undefined, (query) =>
      query.where((row) => row(row.fn<string>("lower", ["name"]), "=", (name ?? "").toLowerCase())),
    )
    .execute();
  return {
    revisions: new Map(rows.map(({ id, revision }) => [id, revision])),
    keys: new Set(rows.map(keyOf)),
    now: now(),
  };
}

interface AppliedTemplate {
  readonly id: string;
  readonly status: TemplateRow["status"];
  readonly isChanged: boolean;
  readonly isSkipped: boolean;
}

interface Page {
  readonly snapshot: Snapshot;
  readonly templates: readonly TemplateReview[];
}

async function applyPage(
  tx: Transaction,
  { inbox }: Target,
  { snapshot, templates }: Page,
): Promise<readonly AppliedTemplate[]> {
  const rows = await lockNamed(tx, inbox, templates);
  const applied: AppliedTemplate[] = [];
  for (const reviewed of templates) {
    const row = rows.get(keyOf(reviewed));
    applied.push(
      ...(row
        ? [await applyOne(tx, snapshot, { row, reviewed })]
        : await addTemplate(tx, inbox, { reviewed, snapshot })),
    );
  }
  return applied;
}

/** The inbox's templates of these names, locked in the order of their ids, by name and language. */
async function lockNamed(tx: Transaction, inbox: TemplateInbox, templates: readonly TemplateReview[]) {
  const names = [...new Set(templates.map(({ name }) => name.toLowerCase()))];
  const rows =
    names.length === 0
      ? []
      : await ofOrganization(tx, inbox.organization_id)
          .selectFrom("templates")
          .selectAll()
          .where((row) => row(row.fn<string>("lower", ["name"]), "in", names))
          .where("inbox_id", "=", inbox.id)
          .orderBy("id")
          .forUpdate()
          .execute();
  return new Map(rows.map((row) => [keyOf(row), row]));
}

function keyOf({ name, language }: { readonly name: string; readonly language: string }): string {
  return `${name.toLowerCase()} ${language}`;
}

async function applyOne(
  tx: Transaction,
  snapshot: Snapshot,
  { row, reviewed }: { readonly row: TemplateRow; readonly reviewed: TemplateReview },
): Promise<AppliedTemplate> {
  const { id, status } = row;
  const state = stateOf(row);
  const isSkipped = !isCurrent(row, snapshot);
  const after = isSkipped ? state : applyReview(state, reviewed);
  const isChanged = hasChanged(state, after);
  if (isChanged) {
    await storeState(tx, row, { state: after, now: snapshot.now });
  }
  return { id, status: isChanged ? after.status : status, isChanged, isSkipped };
}

/** Whether the template has not changed since the sync began, and is not being submitted. */
function isCurrent({ id, revision, submitting_since }: TemplateRow, { revisions, now }: Snapshot): boolean {
  const isSubmitting =
    submitting_since !== null && Date.parse(submitting_since) + submissionEndedMs > now.getTime();
  return revisions.get(id) === revision && !isSubmitting;
}

/** Adds a template that was created at the authority, unless another sync has added it meanwhile. */
async function addTemplate(
  tx: Transaction,
  { organization_id, id: inbox_id }: TemplateInbox,
  { reviewed, snapshot: { keys, now } }: { readonly reviewed: TemplateReview; readonly snapshot: Snapshot },
): Promise<readonly AppliedTemplate[]> {
  const { name, language, version } = reviewed;
  // A template of the snapshot was deleted meanwhile: the page may be older than the deletion.
  if (version === null || keys.has(keyOf(reviewed))) {
    return [];
  }
  const { category, template_data, variables } = version;
  const state = applyReview(
    { ...createState({ category, template_data, variables }), status: "pending" },
    reviewed,
  );
  const id = newId("tpl", now);
  const added = await tx
    .insertInto("templates")
    .values({
      organization_id,
      id,
      inbox_id,
      name,
      language,
      ...toTemplateColumns(state),
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return [{ id, status: state.status, isChanged: added !== undefined, isSkipped: false }];
}

interface MissingTemplates {
  readonly snapshot: Snapshot;
  /** The ids of the missing templates. */
  readonly missing: readonly string[];
}

async function markAllMissing(
  tx: Transaction,
  { inbox }: Target,
  { snapshot, missing }: MissingTemplates,
): Promise<number> {
  const rows =
    missing.length === 0
      ? []
      : await ofOrganization(tx, inbox.organization_id)
          .selectFrom("templates")
          .selectAll()
          .where("id", "in", missing)
          .where((row) =>
            row.or([row("submitting_since", "is not", null), row("external_id", "is not", null)]),
          )
          .orderBy("id")
          .forUpdate()
          .execute();
  let marked = 0;
  for (const row of rows.filter((one) => isCurrent(one, snapshot))) {
    const before = stateOf(row);
    const after: TemplateState = markMissing(before);
    if (hasChanged(before, after)) {
      await storeState(tx, row, { state: after, now: snapshot.now });
      marked += 1;
    }
  }
  return marked;
}
