/** The section of people: the list, or the person who is open. */
import type { SectionProps } from "../section-props.ts";
import { PeopleList } from "./people-list.tsx";
import { PersonDetail } from "./person-detail.tsx";

export function SettingsPeople({ id }: SectionProps) {
  return id === undefined ? <PeopleList /> : <PersonDetail key={id} id={id} />;
}
