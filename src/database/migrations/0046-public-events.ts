/**
 * Events of conversations and contacts for webhooks and pollers: the contact of an event, so that an erasure
 * finds it, and what wants events. Until now only flows did.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `alter table events add column contact_id text collate "C"`,
  "create index events_contact on events (organization_id, contact_id) where contact_id is not null",

  // Which events list_events was called for, and when at the latest, to about a day.
  `create table polled_events (
    organization_id text collate "C" not null references organizations (id),
    type text not null,
    polled_at timestamptz not null,
    primary key (organization_id, type)
  )`,
  "create index polled_events_age on polled_events (polled_at)",

  // One transaction at a time for each organization, as in migration 0040.
  `create or replace function keep_listened_events() returns trigger language plpgsql as $$
  declare
    organization text := coalesce(new.organization_id, old.organization_id);
    wanted text[];
  begin
    perform pg_advisory_xact_lock(hashtextextended('listened_events ' || organization, 0));
    wanted := array(
      select trigger_event_type from flows
      where flows.organization_id = organization and is_enabled
        and trigger_type = 'event' and trigger_event_type is not null
      union
      select unnest(events) from webhooks where webhooks.organization_id = organization
      union
      select type from polled_events where polled_events.organization_id = organization
    );
    delete from listened_events where organization_id = organization and type <> all(wanted);
    insert into listened_events (organization_id, type)
      select organization, unnest(wanted) on conflict do nothing;
    return null;
  end $$`,
  `create trigger webhooks_listened_events after insert or delete or update of events on webhooks
    for each row execute function keep_listened_events()`,
  `create trigger polled_events_listened_events after insert or delete on polled_events
    for each row execute function keep_listened_events()`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
