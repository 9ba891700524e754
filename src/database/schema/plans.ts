/** Columns of plans. */
import type { SealedText, StoredActor } from "./columns.ts";

/** How far a job has prepared a plan. */
export interface StoredPreparation {
  /** The files are downloaded, then the targets are stored, and then the unusual ones are marked. */
  readonly step: "files" | "targets" | "unusual";
  /** The number of the job that continues. */
  readonly turn: number;
  /** What the operation continues after. */
  readonly after: string;
  /** The position of the next target that is stored or marked. */
  readonly position: number;
  /** What the stored targets cost, in millionths of the currency's unit; null without a price. */
  readonly amount: number | null;
  /** For each property by which a target may be unusual, how many targets have which value. */
  readonly values: readonly Readonly<Record<string, number>>[];
}

export interface PlanColumns {
  plans: {
    status: "ready" | "run" | "withdrawn" | "expired" | "lapsed";
    created_by: StoredActor;
    /** Null: no person has to release it. */
    approval: "awaiting" | "released" | "declined";
    /** Why a person has to release it, or the user of the client has to confirm it. */
    why: string[];
    /** Identifies the confirmation that was asked for last; null: none that may still be given. */
    confirmation: string;
    /** When the run of a released plan begins; null: at once. */
    run_at: string;
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
    /** The response of the operation, which may be an error; null if it has not run. */
    result: SealedText;
    /** Of a plan whose call to a third party runs; null otherwise. */
    intent: SealedText;
    run_owner: string;
    running_until: string;
    /** The status of the response, an error from 400; null: the operation's own. */
    result_status: number;
    /** How far a job has prepared it; null unless it is being prepared. */
    preparation: StoredPreparation;
    /** How many targets a plan has that a job prepares, and how many of them are stored. */
    total: number;
    prepared: number;
    /** How many of the stored targets get a message; null: they are few, and are counted. */
    included: number;
    excluded: number;
    /** The uploads of the files that it keeps. */
    upload_ids: string[];
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
