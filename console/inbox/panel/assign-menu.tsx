/** Assigns the conversation to a person or a team, or to nobody. */
import { attempt } from "../../controls/attempt.ts";
import { Icon } from "../../controls/icon.tsx";
import { Menu } from "../../controls/menu.tsx";
import { showToast } from "../../controls/toast.tsx";
import { call } from "../../service/call.ts";
import { session } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { moveToAgent } from "../acts.ts";
import type { Context } from "../conversation/open-conversation.ts";
import { directory } from "../directory.ts";

interface Props {
  readonly context: Context;
  readonly onChange: () => void;
}

export function AssignMenu({ context, onChange }: Props) {
  const { id, assigned_to, assigned_to_name, team_id } = context.conversation;
  const { people, teams } = directory.value;
  const me = session.value?.user.id;
  const ordered = [...people].sort((a, b) => Number(b.id === me) - Number(a.id === me));

  const run = async (act: () => Promise<unknown>, text: string, undo?: () => Promise<unknown>) => {
    if (await attempt(act)) {
      onChange();
      showToast(text, undo && (() => void attempt(undo).then(onChange)));
    }
  };
  const assign = (userId: string, name: string) =>
    run(
      () => moveToAgent(id, assigned_to, userId),
      texts.panel.assigned(name),
      userId === assigned_to ? undefined : () => moveToAgent(id, userId, assigned_to),
    );
  // A conversation can't leave its first team again.
  const undoTeam =
    team_id === null
      ? undefined
      : () => call("assign_conversation", { id, team_id, ...(assigned_to === null ? {} : { assigned_to }) });
  return (
    <Menu
      label={assigned_to_name === null ? texts.panel.assign : texts.panel.reassign(assigned_to_name)}
      button={
        <>
          <Icon name="user" size={18} />
          <span class="wide-only">{assigned_to_name ?? texts.panel.assign}</span>
        </>
      }
      shortcut="a"
    >
      <h3>{texts.panel.people}</h3>
      {ordered.map(({ id: userId, name }) => (
        <button
          type="button"
          key={userId}
          aria-pressed={userId === assigned_to}
          onClick={() => void assign(userId, name)}
        >
          {userId === me ? texts.panel.me(name) : name}
        </button>
      ))}
      {teams.length > 0 && <h3>{texts.filter.team}</h3>}
      {teams.map((team) => (
        <button
          type="button"
          key={team.id}
          onClick={() =>
            void run(
              () => call("assign_conversation", { id, team_id: team.id }),
              texts.panel.assigned(team.name),
              undoTeam,
            )
          }
        >
          {team.name}
        </button>
      ))}
      <button
        type="button"
        disabled={assigned_to === null}
        onClick={() =>
          void run(
            () => moveToAgent(id, assigned_to, null),
            texts.panel.nowUnassigned,
            () => moveToAgent(id, null, assigned_to),
          )
        }
      >
        {texts.panel.unassign}
      </button>
    </Menu>
  );
}
