/**
 * The messages of a cohort's contacts, for a client that shows them as they arrive.
 *
 * A loop over `wait_for_message`. Its cursor moves after all messages of an answer were handled, and a call
 * is repeated until the service answers it, so an outage loses no message and repeats none. A message is
 * passed on if its contact is in the cohort at that moment and is not blocked.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { cohorts } from "../../../tools/cohorts/index.ts";
import { conversations } from "../../../tools/conversations.ts";
import { messages as messageOperations } from "../../../tools/messages/index.ts";
import { CallFailure, type Client } from "../../client/index.ts";
import { type ChannelNotification, createNotification, type Sender } from "./notification.ts";

export interface HostChannel {
  /**
   * Sends notifications until the signal aborts.
   * @throws Error with a message for a person when the service rejects a call.
   */
  run(notify: (notification: ChannelNotification) => Promise<void>, signal: AbortSignal): Promise<void>;
}

interface ChannelOptions {
  readonly client: Client;
  readonly cohort: string;
  /** Shows a line to the person who runs the program. */
  report(line: string): void;
  /** How long after a failed call the next one is made. */
  readonly retryMs?: number;
}

/**
 * Checks that the key may read the cohort and messages. Messages from this time on are sent.
 * @throws Error with a message for a person.
 */
export async function openHostChannel({
  client,
  cohort,
  report,
  retryMs = 1_000,
}: ChannelOptions): Promise<HostChannel> {
  const isMemberOf = { id: cohort, per_page: 1 };
  let after: string;
  try {
    await client.call(cohorts.list_cohort_members, isMemberOf);
    const { meta } = await client.call(messageOperations.wait_for_message, { timeout_seconds: 0 });
    after = meta.cursor;
  } catch (error) {
    throw new Error(`The channel can't start with --cohort ${cohort}. ${describe(error)}`, { cause: error });
  }

  const findSender = async (conversation_id: string, call: RepeatedCall): Promise<Sender | undefined> => {
    const conversation = await call(() =>
      client.call(conversations.get_conversation, { id: conversation_id }).catch(undefinedIfErased),
    );
    if (conversation === undefined) {
      return undefined;
    }
    const { contact_id } = conversation.data;
    const { data } = await call(() =>
      client.call(cohorts.list_cohort_members, { ...isMemberOf, contact_id }),
    );
    return data.find(({ blocked }) => !blocked);
  };

  return {
    async run(notify, signal) {
      const call = createRepeatedCall({ report, retryMs, signal });
      while (!signal.aborted) {
        const { data, meta } = await call(() =>
          client.call(messageOperations.wait_for_message, { after }, { signal }),
        );
        const senders = new Map<string, Sender | undefined>();
        for (const message of data) {
          const { conversation_id } = message;
          if (!senders.has(conversation_id)) {
            senders.set(conversation_id, await findSender(conversation_id, call));
          }
          const sender = senders.get(conversation_id);
          if (sender) {
            await notify(createNotification(message, sender));
          }
        }
        after = meta.cursor;
      }
    },
  };
}

type RepeatedCall = <Answer>(call: () => Promise<Answer>) => Promise<Answer>;

interface RepeatOptions extends Pick<ChannelOptions, "report"> {
  readonly retryMs: number;
  readonly signal: AbortSignal;
}

/** Repeats a call while the service is away; reports when it is, and when it answers again. */
function createRepeatedCall({ report, retryMs, signal }: RepeatOptions): RepeatedCall {
  let isAway = false;
  return async (call) => {
    for (;;) {
      try {
        const answer = await call();
        if (isAway) {
          report("The service answers again.");
        }
        isAway = false;
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (isRejection(error)) {
          throw new Error(`The channel has ended. ${describe(error)}`, { cause: error });
        }
        if (!isAway) {
          report(`${describe(error)} New messages follow when it answers again.`);
        }
        isAway = true;
        await sleep(Math.max(retryMs, retryAfterMs(error)), undefined, { signal });
      }
    }
  };
}

/** Whether repeating the call is useless. A proxy answers with errors that are not in our envelope. */
function isRejection(error: unknown): boolean {
  return (
    error instanceof CallFailure && error.error !== undefined && error.status < 500 && !error.isRetryable
  );
}

function retryAfterMs(error: unknown): number {
  return error instanceof CallFailure ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
}

/** An erasure may delete the conversation of a message that was read. */
function undefinedIfErased(error: unknown): undefined {
  if (error instanceof CallFailure && error.code === "conversation_not_found") {
    return undefined;
  }
  throw error;
}

/** What is wrong and what to do next. */
function describe(error: unknown): string {
  const { message } = error instanceof Error ? error : { message: String(error) };
  const fix = error instanceof CallFailure ? error.error?.fix : undefined;
  return fix === undefined ? message : `${message} ${fix}`;
}
