/** One team: what it is called, its members, and its deletion. */
import { useSignal } from "@preact/signals";
import { Form, FormEnd, useForm } from "../../controls/form.tsx";
import { Icon } from "../../controls/icon.tsx";
import { type Answer, call } from "../../service/call.ts";
import { useReading } from "../../service/reading.ts";
import { holdsScope } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { ReadProblem } from "../loaded.tsx";
import { RemoveButton } from "../remove-button.tsx";
import { useSaveParts } from "../save-parts.ts";
import { MemberList } from "./member-list.tsx";
import { type EditedTeam, TeamFields, toEdited } from "./team-fields.tsx";

type OpenTeam = Answer<"get_team">["data"];

const words = texts.teams;

export function TeamDetail({ id }: { id: string }) {
  const { value, problem, reload } = useReading(async () => (await call("get_team", { id })).data, id);
  const team = value.value;
  return (
    <div class="stack">
      <p>
        <a class="row" href="/console/settings/teams">
          <Icon name="back" size={18} />
          {words.back}
        </a>
      </p>
      <ReadProblem problem={problem.value} onRetry={() => void reload()} />
      {team === null ? (
        problem.value === "" && <p>{texts.loading}</p>
      ) : (
        <Shown team={team} onChanged={() => void reload()} />
      )}
    </div>
  );
}

interface Props {
  readonly team: OpenTeam;
  readonly onChanged: () => void;
}

function Shown({ team, onChanged }: Props) {
  const mayChange = holdsScope("inbox:write");
  return (
    <>
      <div class="row">
        <h2>{team.name}</h2>
        <span class={`chip ${team.is_active ? "good" : "bad"}`}>
          {team.is_active ? words.active : words.inactive}
        </span>
      </div>
      {!mayChange && <p class="notice">{words.readOnly}</p>}
      {team.warnings.map(({ code, message }) => (
        <p key={code} class="notice">
          {message}
        </p>
      ))}
      <MemberList team={team} mayChange={mayChange} onChanged={onChanged} />
      <TeamForm team={team} mayChange={mayChange} onChanged={onChanged} />
      {mayChange && (
        <RemoveButton
          name={team.name}
          words={words.remove}
          back="/console/settings/teams"
          remove={() => call("delete_team", { id: team.id })}
        />
      )}
    </>
  );
}

function TeamForm({ team, mayChange, onChanged }: Props & { mayChange: boolean }) {
  const form = useForm();
  const edited = useSignal<EditedTeam>(toEdited(team));
  const { id } = team;
  const read = async () => (await call("get_team", { id })).data;
  const save = useSaveParts({
    shown: team,
    read,
    write: async (part: EditedTeam) => {
      await call("update_team", { id, ...part });
      return read();
    },
    onRead: onChanged,
  });
  return (
    <section class="stack">
      <h3>{words.settings}</h3>
      <Form form={form} onSubmit={() => void form.run(() => save(edited.value))}>
        <TeamFields
          form={form}
          team={edited.value}
          isDisabled={!mayChange}
          onTeam={(next) => (edited.value = next)}
        />
        {mayChange && <FormEnd form={form} label={texts.form.save} />}
      </Form>
    </section>
  );
}
