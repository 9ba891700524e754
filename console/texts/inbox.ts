/** Texts of the inbox. */
import { isolate } from "./isolate.ts";

const plural = new Intl.PluralRules("en");
const list = new Intl.ListFormat("en");

/** `1 conversation`, `2 conversations`. */
function count(number: number, one: string, other: string): string {
  return `${number.toLocaleString()} ${plural.select(number) === "one" ? one : other}`;
}

const conversations = (number: number) => count(number, "conversation", "conversations");

export const inbox = {
  views: {
    open: "Open",
    mine: "Mine",
    unassigned: "Unassigned",
    unread: "Unread",
    mentions: "Mentions of me",
    favorites: "Favorites",
    waiting: "Waiting longest",
    snoozed: "Snoozed",
    closed: "Closed",
    spam: "Spam",
    all: "All",
  },

  filter: {
    view: "Show",
    more: "Inbox, team and saved views",
    inbox: "Inbox",
    team: "Team",
    tag: "Tag",
    saved: "Saved views",
    save: "Save this view",
    isSaved: (name: string) => `Saved as “${name}” in this menu.`,
    forget: "Delete this view",
    inboxOption: (name: string, phone: string) => `${isolate(name)} · ${phone}`,
    remove: (name: string) => `Remove the filter ${name}`,
    mentions: (number: number) => `${conversations(number)} with new mentions of you`,
  },

  list: {
    title: "Inbox",
    empty: "No conversations here.",
    noMessage: "No messages yet",
    unread: "unread messages",
    sentBy: (sender: string) => `${sender}: `,
    select: (name: string) => `Select ${name}`,
    more: (number: number) => `Show more (${conversations(number)})`,
    cut: (most: number) => `Only the first ${most} are shown. Search, or choose a filter.`,
    windowOpen: (left: string) => `${left} left to reply`,
    waiting: (time: string) => `Waiting for ${time}`,
  },

  search: {
    label: "Search names, numbers, messages",
    people: "Contacts",
    messages: "Messages",
    nothing: "Nothing was found.",
  },

  bulk: {
    count: (number: number) => `${conversations(number)} selected`,
    progress: "Progress",
    closed: (number: number) => `${conversations(number)} closed.`,
    assigned: (number: number, name: string) => `${conversations(number)} assigned to ${name}.`,
    tagged: (number: number, tag: string) => `${conversations(number)} tagged ${tag}.`,
  },

  start: {
    title: "New conversation",
    hint: "A contact who has not written in the last 24 hours can get an approved template.",
    number: "Phone number with country code",
  },

  statuses: {
    open: "Open",
    pending: "Pending",
    closed: "Closed",
    snoozed: "Snoozed",
    spam: "Spam",
  } as Readonly<Record<string, string>>,

  messageTypes: {
    text: "Text",
    image: "Image",
    video: "Video",
    audio: "Voice note",
    document: "Document",
    template: "Template",
    interactive: "Choices",
    sticker: "Sticker",
    location: "Location",
    contacts: "Contact",
    order: "Order",
    form: "Form",
    call_permission: "Call permission",
    call: "Missed call",
    unsupported: "Unsupported message",
  } as Readonly<Record<string, string>>,

  messageStatuses: {
    queued: "Waiting to be sent",
    sent: "Sent",
    delivered: "Delivered",
    read: "Read",
    failed: "Not delivered",
    received: "Received",
  },

  conversation: {
    title: "Conversation",
    log: "Messages",
    choose: "Choose a conversation.",
    back: "Back to the list",
    begin: "The conversation begins here.",
    latest: "Show the latest messages",
    /** What the contact can do with a message. */
    offers: {
      location: "Send location",
      address: "Send address",
      product: "View product",
      products: "View products",
      catalog: "View catalog",
      pay: (amount: string) => `Review and pay ${amount}`,
    },
    reopen: "Reopen",
    closed: "Conversation closed.",
    reopened: "Conversation reopened.",
    markedSpam: "Conversation marked as spam.",
    notFound: "The message is too far back to be shown here.",
    snoozedUntil: (time: string) => `Snoozed until ${time}`,
    snoozedUntilReply: "Snoozed until the contact writes",
    wake: "Reopen now",
    snooze: "Snooze until",
    snoozeTimes: {
      hour: "In one hour",
      tomorrow: "Tomorrow at 9",
      week: "In a week at 9",
      reply: "The contact writes",
    },
    mark: "Mark as",
    favorite: "Favorite",
    noFavorite: "Not a favorite",
    markUnread: "Unread",
    spam: "Spam",
    note: "Internal note",
    noteFor: (names: readonly string[]) => `for ${list.format(names)}`,
    writing: (names: readonly string[]) =>
      `${list.format(names)} ${names.length > 1 ? "are" : "is"} writing.`,
    here: (names: readonly string[]) =>
      `${list.format(names)} ${names.length > 1 ? "have" : "has"} this conversation open.`,
    quote: "Reply to this message",
    quotedUnknown: "An earlier message",
    edited: "Edited",
    deleted: "The contact deleted this message.",
    simulated: "Simulated",
    waits: {
      turn: "Waits for its turn.",
      limit: "Waits because of a limit of the channel.",
      stop: "Waits because the inbox can't send.",
      confirmation:
        "The channel may have accepted it, and has not confirmed it. It is not sent again; without a confirmation it fails after 24 hours.",
      file: "Waits for its file to be uploaded.",
      outage: "Waits because the channel can't be reached.",
    },
    waitCause: (title: string) => `${title}.`,
    waitsSince: (time: string) => `Since ${time}`,
    nextAttempt: (time: string) => `It is tried again at ${time}.`,
    windowClosed: "24-hour window closed",
    sendAgain: "Send again",
    isSentAgain: "The text was sent again, as a new message.",
    unsupported: "A message of a type that can't be shown.",
    cameBy: (ad: string) => (ad === "" ? "Came from an ad" : `Came from the ad “${ad}”`),
    file: "File",
    reactionFrom: (name: string) => `Reaction from ${name}`,
  },

  senders: {
    you: "You",
    us: "We",
    key: (name: string) => `Key ${name}`,
    assistant: (name: string) => `Assistant with the key ${name}`,
    bot: (_name: string) => "Chatbot",
    flow: (name: string) => `Flow ${name}`,
    system: (_name: string) => "Tidings",
    phone: (_name: string) => "We, on the phone",
    sources: (number: number) => count(number, "source", "sources"),
  },

  outbox: {
    sending: "Sending …",
    waiting: "No connection. It is sent when the connection is back.",
    sent: "Waiting to be sent",
    edit: "Edit",
    discard: "Delete",
    notSent: (problem: string) => `A message was not sent. ${problem}`,
    tooOld: "It was not confirmed for 12 hours. Look whether the contact has it before you send it again.",
  },

  compose: {
    mode: "What to write",
    modes: { reply: "Reply", note: "Note" },
    replyLabel: "Write a reply. / inserts a quick reply",
    noteLabel: "Write an internal note. @ mentions a colleague",
    noteHint: "The contact does not see notes.",
    send: "Send",
    addNote: "Add note",
    attach: "Attach files",
    quickReplies: "Quick replies",
    template: "Send template",
    removeQuote: "Quote no message",
    removeFile: (name: string) => `Remove ${name}`,
    uploading: (name: string) => `Uploading ${name}`,
    fileTooLarge: "A file can be at most 32 MB.",
    tooLong: (most: number, excess: number) =>
      `A text has at most ${most.toLocaleString()} characters. Remove ${count(excess, "character", "characters")}.`,
    notPermitted: "Your role may not send messages.",
    blocked: "The contact is blocked and gets no messages. Unblock it in the panel if the contact agreed.",
    windowClosed: "The contact has not written in the last 24 hours. Send an approved template instead.",
  },

  templates: {
    title: "Send a template",
    search: "Search templates",
    none: "No approved template was found.",
    noneYet:
      "There is no approved template yet. Somebody who has not written in the last 24 hours can only be sent a template.",
    tryPlayground: "The playground has a sample with a template, and a customer who writes first:",
    other: "Another template",
    preview: "Preview",
    variable: (name: string) => (/^\d+$/.test(name) ? `Value ${name}` : name),
    categories: { authentication: "Authentication", utility: "Utility", marketing: "Marketing" },
  },

  panel: {
    title: "Contact",
    hide: "Hide the panel",
    number: "Number",
    username: "User name",
    since: "Contact since",
    contactTags: "Contact tags",
    conversationTags: "Conversation tags",
    noTags: "No tags",
    addTag: "Add a tag",
    addTagTo: (tags: string) => `${tags}: add one`,
    removeTag: (tag: string) => `Remove the tag ${tag}`,
    consent: "Consent",
    optedOut: "Wants no marketing messages",
    optedOutHint:
      "Set when the contact writes STOP or a similar word. Not ticked means only that nobody has said so.",
    blocked: "Blocked: gets no messages at all",
    assign: "Assign",
    reassign: (name: string) => `Assign, now ${name}`,
    unassign: "Unassign",
    unassigned: "Unassigned",
    assigned: (name: string) => `Assigned to ${name}.`,
    nowUnassigned: "The conversation is unassigned.",
    people: "People",
    me: (name: string) => `${name} (you)`,
    assignment: "Assignment",
    agent: "Agent",
    how: "Assigned by",
    why: "Reason",
    at: "Since",
    assigners: {
      user: "A person",
      api_key: "An API key",
      flow: "A flow",
      bot: "The chatbot",
      system: "Routing",
      phone: "A person on the phone",
    },
    automation: "Automation",
    flow: "Running flow",
    bot: "Chatbot",
    botStates: { active: "Answers", handed_off: "Handed over to a person", ended: "Ended" },
    handedOff: "Why it handed over",
    question: "Question",
    notAllowed: "Not possible now, and why",
  },

  warnings: {
    contact_blocked: "The contact is blocked and gets no messages.",
    opted_out: "The contact gets no marketing messages.",
    asks_to_stop: "The contact seems to ask for no more messages.",
    outside_service_window:
      "The 24-hour window is closed. This inbox still accepts a text, but a real channel rejects it: send a template.",
    inbox_stopped: "The inbox can't send at the moment. Messages wait until it can.",
    inbox_unreachable: "The channel can't be reached at the moment. Messages wait and are tried again.",
  } as Readonly<Record<string, string>>,

  actions: {
    send_message: "Text",
    send_media_message: "Files",
    send_interactive_message: "Choices",
    send_template_message: "Templates",
    transfer_conversation: "Transfer",
  } as Readonly<Record<string, string>>,

  /** Why an action is not possible, by the beginning of the service's reason. */
  reasons: [
    ["This credential", "Your role does not allow it. Ask an administrator."],
    ["The contact is blocked", "The contact is blocked. Unblock it above if the contact agreed."],
    ["The 24-hour window closed", "The contact has not written in the last 24 hours. Send a template."],
    ["The contact has never written", "The contact has never written. Send a template."],
    ["The contact has no address", "The contact has no address in this channel until they write."],
    ["No agent is assigned", "Nobody is assigned yet. Assign a person."],
  ] as const,
  /** The service's other reasons name tools after a colon; people need the part before it. */
  otherReason: (reason: string) => `${reason.split(": ")[0]}.`.replace(/\.\.$/, "."),

  shortcuts: {
    title: "Keyboard shortcuts",
    keys: [
      ["J", "Next conversation"],
      ["K", "Previous conversation"],
      ["E", "Close or reopen"],
      ["A", "Assign"],
      ["R", "Write a reply"],
      ["N", "Write a note"],
      ["Z", "Undo"],
      ["/", "Search, or a quick reply in the reply box"],
      ["Enter", "Send; Shift and Enter begin a new line"],
      ["Esc", "Leave a field"],
      ["?", "This list"],
    ],
  },
} as const;
