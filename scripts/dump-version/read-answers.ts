/** Reads everything that a dump is compared by: the responses of the API, keyed by path. */
import type { TestApp } from "../../test/support/app.ts";
import { readAnswer } from "../../test/support/version-dumps.ts";

interface ListAnswer {
  readonly data: readonly { readonly id: string }[];
}

/** Leaves out values that change by reading: the last use of API keys, and the links of uploads. */
const lists = [
  "/v1/organization",
  "/v1/users",
  "/v1/inboxes",
  "/v1/teams",
  "/v1/routing/policies",
  "/v1/quick-replies",
  "/v1/webhook-subscriptions",
  "/v1/billing/wallet",
  "/v1/billing/ledger?per_page=100",
  "/v1/billing/payments?limit=100",
  "/v1/billing/addons/chatbot",
  "/v1/billing/subscription",
  "/v1/cohorts",
  "/v1/automation/flows",
  "/v1/knowledge-base/documents",
  "/v1/knowledge-base/qa-pairs",
  "/v1/chatbot/config",
  "/v1/chatbot/status",
  "/v1/rules",
  "/v1/activity?per_page=100",
];

export async function readAnswers(app: TestApp): Promise<Record<string, object>> {
  const answers: Record<string, object> = {};
  const read = async <Answer extends object>(path: string): Promise<Answer> => {
    const body = (await readAnswer(app, path)) as Answer; // as the operation declares
    answers[path] = body;
    return body;
  };
  for (const path of lists) {
    await read(path);
  }
  for (const { id } of (await read<ListAnswer>("/v1/contacts?per_page=100")).data) {
    await read(`/v1/contacts/${id}`);
  }
  for (const { id } of (await read<ListAnswer>("/v1/templates?per_page=100")).data) {
    await read(`/v1/templates/${id}`);
  }
  for (const { id } of (await read<ListAnswer>("/v1/broadcasts?per_page=100")).data) {
    await read(`/v1/broadcasts/${id}/recipients?per_page=100`);
  }
  for (const { id } of (await read<ListAnswer>("/v1/automation/runs?per_page=100")).data) {
    await read(`/v1/automation/runs/${id}`);
  }
  for (const { id } of (await read<ListAnswer>("/v1/plans?per_page=100")).data) {
    await read(`/v1/plans/${id}`);
  }
  for (const { id } of (await read<ListAnswer>("/v1/conversations?per_page=100")).data) {
    await read(`/v1/conversations/${id}`);
    await read(`/v1/conversations/${id}/assignments`);
    await read(`/v1/conversations/${id}/routing-decisions`);
    for (const message of (await read<ListAnswer>(`/v1/messages?conversation_id=${id}`)).data) {
      await read(`/v1/conversations/${id}/messages/${message.id}`);
    }
  }
  return answers;
}
