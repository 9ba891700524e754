/** A team as a form has it. */
import { type FormState, TextField } from "../../controls/form.tsx";
import type { Answer } from "../../service/call.ts";
import { texts } from "../../texts.ts";

export type Team = Answer<"list_teams">["data"][number];

export interface EditedTeam {
  readonly name: string;
  readonly description: string;
  readonly tier: number;
  readonly is_active: boolean;
}

const words = texts.teams.form;

export const emptyTeam: EditedTeam = { name: "", description: "", tier: 1, is_active: true };

export function toEdited({ name, description, tier, is_active }: Omit<Team, "members">): EditedTeam {
  return { name, description: description ?? "", tier, is_active };
}

interface Props {
  readonly form: FormState;
  readonly team: EditedTeam;
  readonly isDisabled?: boolean;
  readonly onTeam: (team: EditedTeam) => void;
}

export function TeamFields({ form, team, isDisabled = false, onTeam }: Props) {
  const set = (change: Partial<EditedTeam>) => onTeam({ ...team, ...change });
  return (
    <>
      <TextField
        form={form}
        name="name"
        label={words.name}
        disabled={isDisabled}
        value={team.name}
        onValue={(name) => set({ name })}
      />
      <TextField
        form={form}
        name="description"
        label={words.description}
        disabled={isDisabled}
        value={team.description}
        onValue={(description) => set({ description })}
      />
      <TextField
        form={form}
        name="tier"
        type="number"
        label={words.tier}
        hint={words.tierHint}
        disabled={isDisabled}
        value={String(team.tier)}
        onValue={(tier) => set({ tier: Number(tier) })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={team.is_active}
          disabled={isDisabled}
          onChange={({ currentTarget }) => set({ is_active: currentTarget.checked })}
        />
        {words.isActive}
      </label>
    </>
  );
}
