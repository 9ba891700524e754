/** Members of a team as the settings read them. */
import type { Answer } from "../../service/call.ts";

export type Member = Answer<"list_team_members">["data"][number];
