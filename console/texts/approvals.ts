/** Texts of the page of approvals. */
const number = new Intl.NumberFormat();
const plural = new Intl.PluralRules("en");

const people = (count: number) =>
  `${number.format(count)} ${plural.select(count) === "one" ? "person" : "people"}`;

/** `12.50 USD`, in the reader's notation. */
function money({ amount, currency }: { readonly amount: number; readonly currency: string }): string {
  return new Intl.NumberFormat(undefined, { style: "currency", currency, maximumFractionDigits: 4 }).format(
    amount,
  );
}

/** Why a contact of a broadcast's cohort is no recipient. */
const exclusions: Readonly<Record<string, string>> = {
  no_number: "the contact has no phone number",
  blocked: "the contact is blocked",
  opted_out: "the contact has opted out of marketing",
  address_changed: "the contact has another number by now",
  missing_variable: "the contact has no value for a variable of the template",
  invalid_value: "a value of the contact does not fit the template",
  insufficient_funds: "the wallet has too little money",
  cancelled: "the broadcast was cancelled",
  erased: "the contact was erased",
};

export const approvals = {
  title: "Approvals",
  badge: (count: number) => `${number.format(count)} waiting`,
  show: "Show",
  views: { awaiting_approval: "Waiting", released: "Released for later", all: "All plans" },
  empty: "Nothing that you may see waits for a person.",
  about: (name: string) => `About: ${name}`,
  emptyElsewhere: "No plans here.",
  choose: "Choose a plan.",
  hint: "Calls of assistants and keys wait here when their rules or budgets ask for a person.",
  back: "Back to the list",
  more: "Show more",
  cut: (most: number) => `Only the newest ${most} are shown.`,
  asked: (name: string, time: string) => `Asked by ${name} on ${time}`,
  statuses: {
    preparing: "Being prepared",
    ready: "Ready",
    awaiting_approval: "Waiting",
    released: "Released for later",
    running: "Running",
    run: "Done",
    failed: "Failed",
    declined: "Declined",
    withdrawn: "Withdrawn",
    expired: "Expired",
    lapsed: "Lapsed",
  },
  statusLabel: "Status",
  facts: {
    recipients: "Gets a message",
    excluded: "Gets none",
    price: "Price",
    expires: "Expires",
    runAt: "Runs at",
    undo: "Can be undone",
    decided: "Decided by",
    reason: "Reason",
    error: "What failed",
  },
  people,
  money,
  simulated: (amount: string) => `${amount} of simulated money`,
  yes: "Yes",
  no: "No",
  why: "Why it waits",
  warnings: "Warnings",
  preparing: (prepared: number, total: number) =>
    `${number.format(prepared)} of ${number.format(total)} recipients are prepared.`,
  input: "The call",
  targets: {
    title: "Recipients",
    search: "Search names, numbers and texts",
    none: "No recipient was found.",
    unusual: "Unusual",
    unusualFirst: "Those with unusual values are first.",
    excluded: (reason: string) => `Gets no message: ${exclusions[reason] ?? reason}`,
    nobody: "Unknown contact",
  },
  approve: "Approve …",
  decline: "Decline …",
  approveTitle: "Approve this?",
  declineTitle: "Decline this?",
  consequence: (count: number, price: string) =>
    count === 0 ? "It happens as soon as you approve." : `${people(count)} will get a message${price}.`,
  consequencePrice: (price: string) => ` for ${price}`,
  later: "Run at (empty: now)",
  reasonLabel: "Reason (optional; it is stored)",
  approveNow: "Approve",
  declineNow: "Decline",
  changed: "It has changed since you opened it. Read what is different, then decide again.",
  before: "Before",
  after: "Now",
  changes: {
    summary: "What it does",
    recipient_count: "Recipients",
    excluded_count: "Excluded",
    price: "Price",
    warnings: "Warnings",
    samples: "First texts",
    input: "The call",
  },
  nothing: "–",
  done: {
    run: "Approved, and done.",
    released: "Approved: it runs at its time.",
    running: "Approved: it runs.",
    failed: "Approved, but it failed.",
    declined: "Declined.",
  } as Readonly<Record<string, string>>,
} as const;
