/** The members of a team with their load, skills and availability. */
import { useSignal } from "@preact/signals";
import { ConfirmDialog } from "../../controls/confirm-dialog.tsx";
import { call } from "../../service/call.ts";
import { useReading } from "../../service/reading.ts";
import { texts } from "../../texts.ts";
import { formatMoment, now } from "../../time.ts";
import type { Member } from "./member.ts";
import { MemberDialog } from "./member-dialog.tsx";

const words = texts.teams.member;
const most = 100;

interface Props {
  readonly team: { readonly id: string };
  readonly mayChange: boolean;
  /** The warnings of the team follow its members. */
  readonly onChanged: () => void;
}

export function MemberList({ team: { id }, mayChange, onChanged }: Props) {
  const { value, problem, reload } = useReading(
    async () => (await call("list_team_members", { id, per_page: most })).data,
    id,
  );
  const edited = useSignal<Member | "new" | null>(null);
  const removed = useSignal<Member | null>(null);
  const changed = () => {
    void reload();
    onChanged();
  };
  const members = value.value;
  return (
    <section class="stack">
      <h3>{words.title}</h3>
      <p class="small muted">{words.hint}</p>
      {problem.value !== "" && <p class="error">{problem.value}</p>}
      {members?.length === 0 && <p class="muted">{words.none}</p>}
      <ul class="cards">
        {members?.map((member) => (
          <li key={member.id} class="stack" data-member={member.id}>
            <MemberFacts member={member} />
            {mayChange && (
              <div class="row">
                <button
                  type="button"
                  aria-label={words.edit(member.name)}
                  onClick={() => (edited.value = member)}
                >
                  {words.change}
                </button>
                <button
                  type="button"
                  aria-label={words.remove.open(member.name)}
                  onClick={() => (removed.value = member)}
                >
                  {words.remove.label}
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
      {mayChange && members !== null && (
        <div class="row">
          <button type="button" onClick={() => (edited.value = "new")}>
            {words.add}
          </button>
        </div>
      )}
      {edited.value !== null && (
        <MemberDialog
          team={id}
          member={edited.value === "new" ? null : edited.value}
          members={members ?? []}
          onSaved={changed}
          onClose={() => (edited.value = null)}
        />
      )}
      {removed.value !== null && (
        <RemoveMember member={removed.value} onRemoved={changed} onClose={() => (removed.value = null)} />
      )}
    </section>
  );
}

function MemberFacts({ member }: { member: Member }) {
  const { name, email, role, current_chat_count, max_concurrent_chats, skills } = member;
  return (
    <>
      <span class="row spread">
        <span>
          <strong>{name}</strong> <span class="small muted">{email}</span>
        </span>
        <span class="chip">{words.roles[role]}</span>
      </span>
      <span class="small">
        {[
          describeAvailability(member),
          words.load(current_chat_count, max_concurrent_chats),
          skills.length > 0 ? skills.join(", ") : words.noSkills,
        ].join(" · ")}
      </span>
    </>
  );
}

function describeAvailability({ is_available, unavailable_from, unavailable_until }: Member): string {
  if (!is_available) {
    return words.unavailable;
  }
  const isOver = unavailable_until !== null && Date.parse(unavailable_until) <= now.value;
  if ((unavailable_from === null && unavailable_until === null) || isOver) {
    return words.available;
  }
  const text = (time: string | null) => (time === null ? null : formatMoment(time));
  return words.away(text(unavailable_from), text(unavailable_until));
}

interface RemoveProps {
  readonly member: Member;
  readonly onRemoved: () => void;
  readonly onClose: () => void;
}

function RemoveMember({ member: { id: member_id, team_id, name }, onRemoved, onClose }: RemoveProps) {
  const { remove } = words;
  return (
    <ConfirmDialog
      title={remove.title(name)}
      label={remove.act}
      act={async () => {
        await call("remove_team_member", { id: team_id, member_id });
        onRemoved();
      }}
      onClose={onClose}
    >
      <p>{remove.about}</p>
    </ConfirmDialog>
  );
}
