/**
 * Data of upper layers that lower layers need, in tables of their own: jobs read which organizations are
 * suspended, and the kernel reads which events start a flow. Triggers maintain the tables, because during a
 * deployment the previous version still suspends organizations and saves flows.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  "create table suspended_organizations (organization_id text primary key)",
  `insert into suspended_organizations (organization_id)
    select id from organizations where suspended_at is not null`,
  `create function suspend_jobs() returns trigger language plpgsql as $$
  begin
    if new.suspended_at is null then
      delete from suspended_organizations where organization_id = new.id;
    else
      insert into suspended_organizations (organization_id) values (new.id) on conflict do nothing;
    end if;
    return null;
  end $$`,
  `create trigger organizations_suspend_jobs after update of suspended_at on organizations
    for each row execute function suspend_jobs()`,

  `create table listened_events (
    organization_id text not null,
    type text not null,
    primary key (organization_id, type)
  )`,
  `insert into listened_events (organization_id, type)
    select distinct organization_id, trigger_event_type from flows
    where is_enabled and trigger_type = 'event' and trigger_event_type is not null`,
  // One transaction at a time for each organization: if two transactions change the last two flows of an
  // event, the later one must see the change of the earlier one.
  `create function keep_listened_events() returns trigger language plpgsql as $$
  declare
    organization text := coalesce(new.organization_id, old.organization_id);
  begin
    perform pg_advisory_xact_lock(hashtextextended('listened_events ' || organization, 0));
    delete from listened_events where organization_id = organization and not exists (
      select from flows where flows.organization_id = organization and flows.is_enabled
        and flows.trigger_type = 'event' and flows.trigger_event_type = listened_events.type
    );
    insert into listened_events (organization_id, type)
      select distinct organization_id, trigger_event_type from flows
      where organization_id = organization and is_enabled
        and trigger_type = 'event' and trigger_event_type is not null
      on conflict do nothing;
    return null;
  end $$`,
  `create trigger flows_listened_events
    after insert or delete or update of is_enabled, trigger_type, trigger_event_type on flows
    for each row execute function keep_listened_events()`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
