/** The teams, the lowest tier first. */
import { useSignal } from "@preact/signals";
import { useLocation } from "preact-iso/router";
import { Dialog } from "../../controls/dialog.tsx";
import { Form, FormEnd, useForm } from "../../controls/form.tsx";
import { call } from "../../service/call.ts";
import { listAllTeams } from "../../service/list-all.ts";
import { useReading } from "../../service/reading.ts";
import { useOnce } from "../../service/use-once.ts";
import { holdsScope } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { ReadProblem } from "../loaded.tsx";
import { emptyTeam, type Team, TeamFields } from "./team-fields.tsx";

const words = texts.teams;

export function TeamList() {
  const { value, problem, reload } = useReading(listAllTeams);
  const adds = useSignal(false);
  const found = value.value;
  return (
    <div class="stack">
      <h2>{words.title}</h2>
      <p class="muted">{words.intro}</p>
      {holdsScope("inbox:write") ? (
        <div class="row">
          <button type="button" class="primary" onClick={() => (adds.value = true)}>
            {words.add}
          </button>
        </div>
      ) : (
        <p class="notice">{words.readOnly}</p>
      )}
      <ReadProblem problem={problem.value} onRetry={() => void reload()} />
      {found === null ? (
        problem.value === "" && <p>{texts.loading}</p>
      ) : (
        <ul class="link-list">
          {found.map((team) => (
            <TeamCard key={team.id} team={team} />
          ))}
        </ul>
      )}
      {found?.length === 0 && <p class="muted">{words.empty}</p>}
      {adds.value && <NewTeamDialog onClose={() => (adds.value = false)} />}
    </div>
  );
}

function TeamCard({ team: { id, name, description, is_active, members } }: { team: Team }) {
  return (
    <li>
      <a href={`/console/settings/teams/${id}`} data-team={id}>
        <span class="row spread">
          <strong>{name}</strong>
          <span class={`chip ${is_active ? "good" : "bad"}`}>
            {is_active ? words.active : words.inactive}
          </span>
        </span>
        <span class="small muted">
          {[words.members(members.length), ...(description ? [description] : [])].join(" · ")}
        </span>
      </a>
    </li>
  );
}

function NewTeamDialog({ onClose }: { onClose: () => void }) {
  const form = useForm();
  const { route } = useLocation();
  const team = useSignal(emptyTeam);
  const once = useOnce([team.value]);
  const create = async () => {
    const { data } = await once((options) => call("create_team", team.value, options));
    onClose();
    route(`/console/settings/teams/${data.id}`);
  };
  return (
    <Dialog title={words.add} onClose={onClose}>
      <Form form={form} onSubmit={() => void form.run(create)}>
        <TeamFields form={form} team={team.value} onTeam={(next) => (team.value = next)} />
        <FormEnd form={form} label={words.form.create} />
      </Form>
    </Dialog>
  );
}
