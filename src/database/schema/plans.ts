/** Columns of plans. */
import type { SealedText, StoredActor } from "./columns.ts";

export interface PlanColumns {
  plans: {
    status: "ready" | "run" | "withdrawn" | "expired" | "lapsed";
    created_by: StoredActor;
    /** Null: no person has to release it. */
    approval: "awaiting" | "released" | "declined";
    /** Why a person has to release it. */
    why: string[];
    /** The call that was held back: null if it was planned. */
    call_route: string;
    /** The user who made the call, or who made its key. */
    asked_for: string;
    /** Who released or declined it. */
    decided_by: StoredActor;
    /** In millionths of the currency's unit. */
    price: number;
    /** The contacts, conversations and addresses that it is about, for their erasure. */
    subjects: string[];
    /** The input, and what the operation has frozen. */
    content: SealedText;
    /** The response of the operation; null if it has not run. */
    result: SealedText;
  };
  plan_targets: {
    /** Null if the contact does not exist yet. */
    contact_id: string;
    /** What the person would read. */
    text: string;
    /** Why the person gets no message; null if the person gets one. */
    reason: string;
    /** How many of its values are rare among the plan's targets. */
    unusual: number;
    /** What the operation has frozen for this target. */
    frozen: unknown;
  };
}
