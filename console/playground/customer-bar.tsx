/** Chooses the customer whose phone is shown, and the inbox that the customer writes to. */
import { useSignal } from "@preact/signals";
import { texts } from "../texts.ts";
import { availability, type Inbox } from "./available.ts";
import type { Customer } from "./customers.ts";

interface Props {
  readonly inbox: Inbox;
  readonly customer: Customer;
  readonly customers: readonly Customer[];
  readonly onInbox: (id: string) => void;
  readonly onCustomer: (customer: Pick<Customer, "number" | "name">) => void;
}

const words = texts.playground.customer;
const newCustomer = "new";

export function CustomerBar({ inbox, customer, customers, onInbox, onCustomer }: Props) {
  const isMaking = useSignal(false);
  const inboxes = availability.value?.inboxes ?? [];
  const isListed = customers.some(({ number }) => number === customer.number);
  const shown = isListed ? customers : [customer, ...customers];
  const choose = (number: string) => {
    isMaking.value = number === newCustomer;
    const chosen = shown.find((each) => each.number === number);
    if (chosen !== undefined) {
      onCustomer(chosen);
    }
  };
  return (
    <div class="row customer-bar">
      <label>
        {words.label}
        <select
          value={isMaking.value ? newCustomer : customer.number}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          {shown.map(({ number, name }) => (
            <option key={number} value={number}>
              {words.option(name, number)}
            </option>
          ))}
          <option value={newCustomer}>{words.make}</option>
        </select>
      </label>
      {isMaking.value && (
        <NewCustomer
          suggested={suggestNumber(shown)}
          onMake={(made) => {
            isMaking.value = false;
            onCustomer(made);
          }}
        />
      )}
      {inboxes.length > 1 && (
        <label>
          {words.inbox}
          <select value={inbox.id} onChange={({ currentTarget }) => onInbox(currentTarget.value)}>
            {inboxes.map(({ id, name, phone_number }) => (
              <option key={id} value={id}>
                {words.option(name, phone_number)}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

/** Numbers that are reserved for examples. */
const firstNumber = 14155550123;

export function suggestNumber(customers: readonly Pick<Customer, "number">[]): string {
  const taken = new Set(customers.map(({ number }) => number));
  for (let number = firstNumber; ; number += 1) {
    if (!taken.has(`+${number}`)) {
      return `+${number}`;
    }
  }
}

interface NewProps {
  readonly suggested: string;
  readonly onMake: (customer: Pick<Customer, "number" | "name">) => void;
}

function NewCustomer({ suggested, onMake }: NewProps) {
  const number = useSignal(suggested);
  const name = useSignal("");
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        onMake({ number: number.value.trim(), name: name.value.trim() || null });
      }}
    >
      <label>
        {words.number}
        <input
          type="tel"
          required
          pattern="\+[1-9]\d{6,14}"
          title={words.numberHint}
          value={number.value}
          onInput={({ currentTarget }) => {
            number.value = currentTarget.value;
          }}
        />
      </label>
      <label>
        {words.name}
        <input
          maxLength={255}
          value={name.value}
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value;
          }}
        />
      </label>
      <button type="submit">{words.open}</button>
    </form>
  );
}
