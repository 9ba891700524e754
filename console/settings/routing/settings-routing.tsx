/** The section of routing: the policies with a try-out, or the policy that is open. */
import type { SectionProps } from "../section-props.ts";
import { PolicyDetail } from "./policy-detail.tsx";
import { PolicyList } from "./policy-list.tsx";

export function SettingsRouting({ id }: SectionProps) {
  return id === undefined ? <PolicyList /> : <PolicyDetail key={id} id={id} />;
}
