/**
 * A simulated review authority for tests: on a database, with a clock that the test
 * advances, and its notices.
 */
import { beforeEach } from "vitest";
import { createSimulatedAuthority } from "../../src/adapters/channel/simulator/templates/index.ts";
import type { RunningJobs } from "../../src/jobs/jobs.ts";
import type {
  ReviewedTemplate,
  SubmissionResult,
  TemplateNotice,
  TemplateSubmission,
} from "../../src/ports/channel/template-authority.ts";
import type { CredentialRequest, HttpAnswer } from "../../src/ports/transport/http-route.ts";
import { callerOf } from "./caller.ts";
import { queryOf } from "./database.ts";
import { emptyTables } from "./empty-database.ts";
import { useJobsFixture } from "./jobs-fixture.ts";

export const inbox = { organization_id: "org_1", id: "inb_1", phone_number: "+15550000001" };
export const signal = new AbortController().signal;

/** A database for each test file, and an authority without templates for each test. */
export function useSimulatedAuthority() {
  const fixture = useJobsFixture();

  beforeEach(async () => {
    await emptyTables(queryOf(fixture.database), ["simulator_templates", "simulator_reviews"]);
  });

  /** `onNotice` runs before a notice is recorded. */
  return function open(onNotice: (notice: TemplateNotice) => void = () => {}) {
    const notices: TemplateNotice[] = [];
    const { authority, routes, jobs } = createSimulatedAuthority({
      database: fixture.database,
      now: fixture.now,
      enqueue: (tx, added) => running.enqueue(tx, added),
      callbacks: {
        async onTemplatesChanged(changed) {
          changed.forEach(onNotice);
          notices.push(...changed);
        },
      },
    });
    const running: RunningJobs = fixture.create(jobs);

    const call = async (
      method: string,
      request: Partial<CredentialRequest<"json">>,
    ): Promise<HttpAnswer | undefined> => {
      const route = routes.find(({ methods }) => methods.some((one) => one === method));
      const empty = {
        params: {},
        query: {},
        headers: {},
        isHead: false,
        body: undefined,
      };
      const { organization_id } = inbox;
      return route?.handle({ organization_id, caller: callerOf(organization_id), ...empty, ...request });
    };

    return {
      authority,
      notices,
      get: (query: Readonly<Record<string, string>> = {}) => call("GET", { query }),
      put: (body: unknown, request: Partial<CredentialRequest<"json">> = {}) =>
        call("PUT", { body, ...request }),
      submit: (fields: Partial<TemplateSubmission> = {}): Promise<SubmissionResult> =>
        authority.submit(submission(fields), signal),
      /** Its id. */
      async submitted(fields: Partial<TemplateSubmission> = {}): Promise<string> {
        const result = await authority.submit(submission(fields), signal);
        if (result.outcome !== "accepted") {
          throw new Error(`The submission is ${result.outcome}.`);
        }
        return result.external_id;
      },
      /** The first page of the inbox's templates. */
      async list(of = inbox): Promise<readonly ReviewedTemplate[]> {
        return (await authority.list({ inbox: of, cursor: null }, signal)).templates;
      },
      /** Advances the clock and runs the jobs that are due. */
      async advance(ms: number) {
        fixture.advance(ms);
        await running.runDue();
      },
      /** The logged failures of jobs. */
      logged: fixture.logged,
    };
  };
}

export function submission(fields: Partial<TemplateSubmission> = {}): TemplateSubmission {
  return {
    inbox,
    name: "order_update",
    language: "en",
    external_id: null,
    category: "utility",
    template_data: { body: "Your order {{1}} is ready." },
    variables: [{ name: "order", component: "BODY", example: "42" }],
    ...fields,
  };
}
