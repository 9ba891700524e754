/** What rules can name: the organization's inboxes, templates and cohorts. */
import { call } from "../../service/call.ts";

export interface RuleChoice {
  readonly value: string;
  readonly label: string;
}

const most = 100;

/** A list that can't be read is empty: what the rules name already is shown all the same. */
export async function readChoices() {
  const [inboxes, templates, cohorts] = await Promise.all([
    orNone(async () =>
      (await call("list_inboxes", {})).data.map(({ id, name }) => ({ value: id, label: name })),
    ),
    orNone(async () => {
      const { data } = await call("list_templates", { per_page: most });
      // Each language is an entry of its own, and rules name all of them.
      return [...new Set(data.map(({ name }) => name))].map((name) => ({ value: name, label: name }));
    }),
    orNone(async () =>
      (await call("list_cohorts", { per_page: most })).data.map(({ id, name }) => ({
        value: id,
        label: name,
      })),
    ),
  ]);
  return { inboxes, templates, cohorts };
}

async function orNone(read: () => Promise<readonly RuleChoice[]>): Promise<readonly RuleChoice[]> {
  try {
    return await read();
  } catch {
    return [];
  }
}
