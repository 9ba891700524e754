/** The section of teams: the list, or the team that is open. */
import type { SectionProps } from "../section-props.ts";
import { TeamDetail } from "./team-detail.tsx";
import { TeamList } from "./team-list.tsx";

export function SettingsTeams({ id }: SectionProps) {
  return id === undefined ? <TeamList /> : <TeamDetail key={id} id={id} />;
}
