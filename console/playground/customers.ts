/** The customers who have written to an inbox, those with the latest messages first. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { listen } from "../live/live.ts";
import { createRefresher } from "../live/refresh.ts";
import { type Answer, call } from "../service/call.ts";
import { describeError } from "../service/describe-error.ts";
import { isTemporary } from "../service/errors.ts";

type ListedConversation = Answer<"list_conversations">["data"][number];

export interface Customer {
  /** E.164 */
  readonly number: string;
  readonly name: string | null;
  readonly conversation_id: string | null;
}

export interface CustomerList {
  /** Undefined until they were read. */
  readonly customers: ReadonlySignal<readonly Customer[] | undefined>;
  readonly problem: ReadonlySignal<string>;
  refresh(): void;
  stop(): void;
}

const most = 50;

/** @param number a customer who is in the list whenever there is a conversation, however old it is. */
export function createCustomerList(inbox_id: string, number: string | undefined): CustomerList {
  const customers = signal<readonly Customer[] | undefined>(undefined);
  const problem = signal("");
  const read = async () => {
    try {
      const { data } = await call("list_conversations", { inbox_id, per_page: most });
      const listed = data.flatMap(toCustomer);
      const isListed = number === undefined || listed.some((customer) => customer.number === number);
      customers.value = isListed ? listed : [...listed, ...(await findByNumber(inbox_id, number))];
      problem.value = "";
      return true;
    } catch (error) {
      problem.value = describeError(error);
      return !isTemporary(error);
    }
  };
  const refresh = createRefresher(read, { delayMs: 200 });
  const stopListening = listen((event) => {
    if (event === "resync" || /^(message|conversation|contact)\./.test(event.type)) {
      refresh();
    }
  });
  refresh.start();
  return {
    customers,
    problem,
    refresh,
    stop() {
      stopListening();
      refresh.stop();
    },
  };
}

async function findByNumber(inbox_id: string, number: string): Promise<readonly Customer[]> {
  const { data } = await call("list_contacts", { search: number, per_page: 1 });
  const contact = data.find(({ phone_number }) => phone_number === number);
  if (contact === undefined) {
    return [];
  }
  const found = await call("list_conversations", { inbox_id, contact_id: contact.id, per_page: 1 });
  const customers = found.data.flatMap(toCustomer);
  return customers.length > 0 ? customers : [{ number, name: contact.name, conversation_id: null }];
}

/** A contact who hides the number has no phone here. */
function toCustomer({ phone_number, contact_name, id }: ListedConversation): Customer[] {
  return phone_number === null ? [] : [{ number: phone_number, name: contact_name, conversation_id: id }];
}
