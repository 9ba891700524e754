/** Adds a member to a team, or changes one. */
import { useSignal } from "@preact/signals";
import { Choice } from "../../controls/choice.tsx";
import { Dialog } from "../../controls/dialog.tsx";
import { Field, Form, FormEnd, type FormState, TextField, useForm } from "../../controls/form.tsx";
import { readList } from "../../controls/read-list.ts";
import { showToast } from "../../controls/toast.tsx";
import { call } from "../../service/call.ts";
import { listEverybody } from "../../service/list-all.ts";
import { useReading } from "../../service/reading.ts";
import { texts } from "../../texts.ts";
import { fromLocal, toLocal } from "../../time.ts";
import type { Member } from "./member.ts";

const words = texts.teams.member;

interface Props {
  readonly team: string;
  /** Null: a new one. */
  readonly member: Member | null;
  /** Who is in the team already. */
  readonly members: readonly Member[];
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

interface Draft {
  readonly role: Member["role"];
  readonly is_available: boolean;
  readonly max_concurrent_chats: string;
  readonly skills: string;
  readonly from: string;
  readonly until: string;
}

export function MemberDialog({ team: id, member, members, onSaved, onClose }: Props) {
  const form = useForm();
  const user = useSignal("");
  const draft = useSignal(toDraft(member));
  const save = async () => {
    const values = fromDraft(draft.value);
    if (member === null) {
      const { data } = await call("add_team_member", { id, user_id: user.value, ...values });
      if (data.assigned_from_queue > 0) {
        showToast(words.queued(data.assigned_from_queue));
      }
    } else {
      await call("update_team_member", { id, member_id: member.id, ...values });
    }
    onSaved();
    onClose();
  };
  return (
    <Dialog title={member === null ? words.addTitle : words.edit(member.name)} onClose={onClose}>
      <Form form={form} onSubmit={() => void form.run(save)}>
        {member === null && (
          <PersonChoice form={form} members={members} onValue={(next) => (user.value = next)} />
        )}
        <MemberFields form={form} draft={draft.value} onDraft={(next) => (draft.value = next)} />
        <FormEnd form={form} label={member === null ? words.add : words.save} />
      </Form>
    </Dialog>
  );
}

interface PersonChoiceProps {
  readonly form: FormState;
  readonly members: readonly Member[];
  readonly onValue: (id: string) => void;
}

function PersonChoice({ form, members, onValue }: PersonChoiceProps) {
  const taken = new Set(members.map(({ user_id }) => user_id));
  const { value, problem } = useReading(async () => {
    const people = await listEverybody();
    const free = people.filter(({ id, is_active }) => is_active && !taken.has(id));
    onValue(free[0]?.id ?? "");
    return free;
  });
  if (value.value?.length === 0) {
    return <p class="notice">{words.everybody}</p>;
  }
  return (
    <>
      {problem.value !== "" && <p class="error">{problem.value}</p>}
      <Field form={form} name="user_id" label={words.person}>
        {(attributes) => (
          <select {...attributes} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
            {value.value?.map(({ id, name, email }) => (
              <option key={id} value={id}>
                {words.option(name, email)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  );
}

interface FieldsProps {
  readonly form: FormState;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}

function MemberFields({ form, draft, onDraft }: FieldsProps) {
  const set = (change: Partial<Draft>) => onDraft({ ...draft, ...change });
  return (
    <>
      <Choice
        form={form}
        name="role"
        label={words.role}
        options={words.roles}
        value={draft.role}
        onValue={(role) => set({ role })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={draft.is_available}
          onChange={({ currentTarget }) => set({ is_available: currentTarget.checked })}
        />
        {words.isAvailable}
      </label>
      <TextField
        form={form}
        name="max_concurrent_chats"
        type="number"
        label={words.most}
        value={draft.max_concurrent_chats}
        onValue={(max_concurrent_chats) => set({ max_concurrent_chats })}
      />
      <TextField
        form={form}
        name="skills"
        label={words.skills}
        hint={words.skillsHint}
        value={draft.skills}
        onValue={(skills) => set({ skills })}
      />
      <TextField
        form={form}
        name="unavailable_from"
        type="datetime-local"
        label={words.from}
        value={draft.from}
        onValue={(from) => set({ from })}
      />
      <TextField
        form={form}
        name="unavailable_until"
        type="datetime-local"
        label={words.until}
        hint={words.untilHint}
        value={draft.until}
        onValue={(until) => set({ until })}
      />
    </>
  );
}

const most = 5;

function toDraft(member: Member | null): Draft {
  return {
    role: member?.role ?? "member",
    is_available: member?.is_available ?? true,
    max_concurrent_chats: String(member?.max_concurrent_chats ?? most),
    skills: member?.skills.join(", ") ?? "",
    from: toLocal(member?.unavailable_from ?? null),
    until: toLocal(member?.unavailable_until ?? null),
  };
}

function fromDraft({ role, is_available, max_concurrent_chats, skills, from, until }: Draft) {
  return {
    role,
    is_available,
    max_concurrent_chats: Number(max_concurrent_chats),
    skills: readList(skills),
    unavailable_from: fromLocal(from),
    unavailable_until: fromLocal(until),
  };
}
