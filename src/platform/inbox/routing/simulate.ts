/** What routing would decide about a conversation, or about one that does not exist, without deciding it. */
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { getOrDefaultInbox, normalizePhone } from "../../account/inboxes/index.ts";
import { phoneKind } from "../../account/phone/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { idOfOwner } from "../contacts/index.ts";
import {
  type ConversationFacts,
  factsOf,
  matchPolicies,
  type RoutedContact,
  readFacts,
} from "./conditions.ts";
import { decide, decideUnmatched } from "./decide.ts";
import { activePolicies, getPolicy } from "./policies.ts";
import { type Policy, type RoutedConversation, toPolicy } from "./policy.ts";

interface SimulationContext {
  readonly db: Queries;
  readonly world: World;
  readonly now: Date;
}

/**
 * By one policy, or by the active ones.
 * @throws Failure `routing_policy_not_found`.
 */
export async function simulateRouting(
  { db, world, now }: SimulationContext,
  conversation: RoutedConversation,
  policy_id: string | undefined,
) {
  const policies = await policiesFor(db, conversation.organization_id, policy_id);
  const facts = await readFacts({ db, world }, [conversation], policies);
  const decision = await simulate(db, { conversation, policies, facts, now });
  return { conversation_id: conversation.id, ...decision };
}

interface DescribedConversation {
  readonly inbox_id?: string | undefined;
  readonly from?: string | undefined;
  readonly text?: string | undefined;
  readonly tags: readonly string[];
  readonly at?: string | undefined;
}

/**
 * About a new conversation whose contact has just written its first message.
 * @throws Failure `inbox_not_found`, `no_inbox`, `invalid_phone_number`, `routing_policy_not_found`.
 */
export async function simulateNewConversation(
  { db, organization, now: present }: SimulationContext & { readonly organization: string },
  { inbox_id, from, text, tags, at }: DescribedConversation,
  policy_id: string | undefined,
) {
  const now = at === undefined ? present : new Date(at);
  const inbox = await getOrDefaultInbox(db, organization, inbox_id);
  const number = { text: from ?? "", field: "new_conversation.from", inbox_id: inbox.id };
  const phone_number = from === undefined ? null : await normalizePhone(db, organization, number);
  const known = phone_number === null ? undefined : await findByNumber(db, organization, phone_number);
  const contact = known ?? newContact(phone_number, now);
  const conversation: RoutedConversation = {
    organization_id: organization,
    id: "",
    contact_id: known?.id ?? "",
    inbox_id: inbox.id,
    status: "open",
    tags: [...tags],
    referrals: null,
    is_favorite: false,
    last_message_at: now.toISOString(),
    last_user_message_at: now.toISOString(),
    assigned_to: null,
    team_id: null,
    policy_id: null,
    queued_at: null,
  };
  const message = { type: "text", text: text ?? "" };
  const facts = new Map([[conversation.id, factsOf(conversation, { contact, message })]]);
  const policies = await policiesFor(db, organization, policy_id);
  return { conversation_id: null, ...(await simulate(db, { conversation, policies, facts, now })) };
}

interface Simulation {
  readonly conversation: RoutedConversation;
  readonly policies: readonly Policy[];
  readonly facts: ConversationFacts;
  readonly now: Date;
}

async function simulate(db: Queries, { conversation, policies, facts, now }: Simulation) {
  const [policy] = matchPolicies(facts, { conversation, policies, now });
  return policy ? decide(db, { conversation, policy }, { now, locks: false }) : decideUnmatched(policies);
}

async function policiesFor(db: Queries, organization: string, policy_id: string | undefined) {
  return policy_id === undefined
    ? activePolicies(db, organization)
    : [toPolicy(await getPolicy(db, organization, policy_id))];
}

async function findByNumber(db: Queries, organization: string, value: string) {
  return ofOrganization(db, organization)
    .selectFrom("contacts")
    .selectAll()
    .where("id", "=", idOfOwner(organization, { kind: phoneKind, value }))
    .where("erased_at", "is", null)
    .executeTakeFirst();
}

/** A contact as its first message creates it. */
function newContact(phone_number: string | null, now: Date): RoutedContact {
  return {
    name: null,
    phone_number,
    tags: [],
    metadata: {},
    opted_out: false,
    blocked_at: null,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  };
}
