/** Texts of the settings of inboxes, with the set-up of WhatsApp. */
const number = new Intl.NumberFormat();

const channelNames: Readonly<Record<string, string>> = { whatsapp: "WhatsApp", simulator: "Simulated" };

export const channels = {
  inboxes: {
    title: "Inboxes",
    intro: "The numbers that customers write to.",
    empty: "There is no inbox yet.",
    notFound: "There is no such inbox.",
    back: "All inboxes",
    channel: (name: string) => channelNames[name] ?? name,
    connect: "Connect a WhatsApp number",
    readOnly: "Your role may read this, and not change it.",

    simulated: {
      add: "Add a simulated inbox",
      about:
        "A simulated inbox needs no account: its messages reach no real phone. Try things in it before customers see them.",
      name: "Name",
      defaultName: "Test inbox",
      number: "Number",
      numberHint: "Any number with its country code.",
      create: "Create the inbox",
      created: (name: string) => `${name} is ready.`,
    },

    states: {
      ok: "Connected",
      stopped: "Stopped",
      unreachable: "Not reachable",
      unfinished: "Set-up not finished",
    },
    health: {
      title: "State",
      ok: "Messages go out.",
      okSimulated: "Messages go out, to simulated phones alone.",
      stopped: (since: string) => `Since ${since} WhatsApp accepts no messages from this number. They wait.`,
      unreachable: (since: string) =>
        `Since ${since} WhatsApp does not answer. Each message is tried again after a few seconds.`,
      alert: (title: string, time: string) => `Meta reported on ${time}: ${title}`,
      reason: (reason: string) => `WhatsApp says: ${reason}`,
      stoppedNext:
        "Settle it in WhatsApp Manager or the Meta app dashboard. If the access token has ended, replace the credentials below. The first message that is accepted ends the stop, and the others follow.",
      unreachableNext:
        "Wait some minutes. If it stays, read Meta's status page (metastatus.com), and check that the service reaches graph.facebook.com.",
      check: "Check now",
      checking: "Asking …",
      works: (ms: number) => `It works: the credentials are accepted (${number.format(ms)} ms).`,
      worksSimulated: "It works: the simulated channel accepts messages.",
      next: {
        credentials_rejected: "Compare the credentials with Meta's pages, and replace them below.",
        account_rejected: "Settle it in WhatsApp Manager or the Meta app dashboard, then check again.",
        channel_unreachable:
          "Nothing is known of the account now. Check again in a minute. If it stays, check that the service reaches graph.facebook.com.",
      },
    },
    facts: {
      channel: "Channel",
      number: "Number",
      window: "Free text after 24 hours without a message of the customer",
      strict: "Rejected: send a template",
      advisory: "Sent, with a warning",
      strictWindow: "Free text only within 24 hours",
      advisoryWindow: "Free text at any time",
      rating: { yellow: "Quality at Meta: medium", red: "Quality at Meta: low" },
      quality: "Quality at Meta",
      qualities: {
        green: "High",
        yellow: "Medium: customers have blocked or reported the number; send what they expect",
        red: "Low: send less, and only what customers expect",
      },
      limit: "People you may write to first in 24 hours",
      anyLimit: "Any number",
      rate: "Messages a second",
      webhook: "Last report of Meta",
      never: "None yet",
    },

    form: {
      title: "Settings",
      name: "Name",
      window: "Free text after the 24-hour window",
      windows: {
        advisory: "Send it, with a warning",
        strict: "Reject it, as a real number does",
      },
      wallet: "Messages that the wallet can't pay",
      wallets: { recorded: "Send them, and record it", enforced: "Reject them, as a real number does" },
      readMarks: "What the customer sees when you read or answer",
      marks: {
        off: "Nothing",
        read: "Messages are shown as read",
        typing: "Read, and that an answer is being written",
      },
      chatbot: "The chatbot answers here",
      country: "Country of numbers without a country code",
      noCountry: "As the organization has it",
      rate: "Most messages a second",
      rateHint: "Empty: what the channel allows. Replies go before broadcasts.",
      daily: "Most broadcast messages in 24 hours",
      dailyHint: "Empty: any number. The others wait.",
      stopWords: "Words that end marketing",
      stopWordsHint:
        "Separated by commas; empty: the usual words, such as STOP. A message of one of these words alone opts the customer out.",
      startWords: "Words that resume marketing",
      startWordsHint: "Separated by commas; empty: the usual words, such as START.",
      stopReply: "Answer to a word that ends marketing",
      startReply: "Answer to a word that resumes marketing",
      replies: { usual: "The usual text, in English", own: "A text of your own", none: "No answer" },
      replyText: "Text",
    },

    setup: {
      title: "Connect a WhatsApp number",
      steps: ["Number and account", "App and keys", "Check and connect", "Webhook", "Test message"],
      stepOf: (step: number, count: number) => `Step ${step} of ${count}`,
      need: "You need a Meta app of the type Business with the product WhatsApp, a phone number in its WhatsApp Business Account, and a public HTTPS address of this service.",
      guide: "The guide in the documentation",
      next: "Continue",
      before: "Back",
      connect: "Check at Meta and connect",
      replace: "Check at Meta and replace",
      checkAbout:
        "Meta is asked with these values: whether the token reads the account, the account has the number, and the secret is the app's. Nothing is stored unless all is right.",
      checks: {
        token: "The access token reads the WhatsApp Business Account",
        number: "The account has the phone number, and it is the number of this inbox",
        subscription: "The app gets the account's messages",
        secret: "The app secret belongs to the app of the token",
        app: "The app ID is the app of the token",
      },
      results: { passed: "Right", failed: "Wrong", open: "Unchecked" },
      compare: "Compare it with Meta's pages.",
      digits: "These are digits alone. Copy the ID again, not the name or the number.",
      tooShort: (least: number) => `It has at least ${least} characters, without spaces. Copy all of it.`,
      required: "Fill this in.",
      connected: (name: string) => `${name} is connected. Two steps are left.`,
      replaced: "The credentials are replaced.",
      fields: {
        name: { label: "Name of the inbox", hint: "What your colleagues see." },
        phone_number: {
          label: "Phone number",
          hint: "The WhatsApp number with its country code, such as +1 555 078 3881.",
        },
        phone_number_id: {
          label: "Phone number ID",
          hint: "App dashboard: WhatsApp → API setup, below the number in “From”.",
        },
        waba_id: {
          label: "WhatsApp Business Account ID",
          hint: "App dashboard: WhatsApp → API setup, beside the phone number ID.",
        },
        app_id: { label: "App ID", hint: "App dashboard: App settings → Basic, at the top." },
        app_secret: {
          label: "App secret",
          hint: "App dashboard: App settings → Basic → Show.",
        },
        access_token: {
          label: "Access token",
          hint: "Business settings → Users → System users → Generate new token: one that does not expire, with whatsapp_business_messaging and whatsapp_business_management. The token on the page API setup ends after a day.",
        },
        verify_token: {
          label: "Verify token",
          hint: "A text of your choice. You enter it at Meta in step 4, so this page has made one up.",
        },
      },
    },

    webhook: {
      title: "Webhook",
      about:
        "Meta sends messages and receipts to an address of this service. In the app dashboard open WhatsApp → Configuration → Webhook → Edit, and paste:",
      url: "Callback URL",
      token: "Verify token",
      chosenToken:
        "Verify token: the one that you chose. It is not shown again; replace the credentials to choose another.",
      noAddress:
        "This service has no public address yet. Set TIDINGS_PUBLIC_URL to the HTTPS address under which Meta reaches it, and start it again. Then the callback URL is here.",
      insecure:
        "Meta accepts no http:// address, so this one will not be saved there. Set TIDINGS_PUBLIC_URL to the public https:// address of this service, and start it again.",
      fields: "Press “Verify and save”, then “Manage”, and subscribe to these fields:",
      fieldNames: [
        "messages",
        "message_template_status_update",
        "message_template_quality_update",
        "message_template_components_update",
        "template_category_update",
        "account_update",
        "smb_message_echoes",
        "smb_app_state_sync",
        "history",
        "calls",
        "user_preferences",
        "business_capability_update",
        "phone_number_quality_update",
        "phone_number_name_update",
        "account_alerts",
        "security",
      ],
      waiting:
        "Meta has reported nothing yet. Write a message from your phone to the number: this line changes by itself.",
      stillNothing:
        "Nothing comes? Check that the callback URL was saved, that messages is subscribed, and that the app is the one with this app ID.",
      called: (time: string) => `Meta has reported to this address: ${time}.`,
    },

    test: {
      title: "Test message",
      about: (phone: string) =>
        `Write any message from your phone to ${phone}, which allows a free answer for 24 hours. Then answer from here.`,
      to: "Your phone",
      toHint: "With the country code, such as +14155550123.",
      text: "Text",
      defaultText: "Hello from Tidings!",
      send: "Send the test message",
      results: {
        queued: "The message waits. Open the conversation to follow it.",
        sending: "The message is on its way. Open the conversation to follow it.",
        sent: "WhatsApp has accepted the message. Its delivery is reported to the webhook.",
        delivered: "Delivered: the number works in both directions.",
        read: "Delivered and read: the number works in both directions.",
      } as Readonly<Record<string, string>>,
      failed: (reason: string) => `Not delivered: ${reason}`,
      outsideWindow:
        "Your phone has not written to the number in the last 24 hours, so only a template can be sent. Write a message from the phone first, then try again.",
      open: "Open the conversation",
    },

    credentials: {
      title: "Credentials",
      about:
        "They are stored encrypted and never shown. New ones replace all of the former ones, once Meta has accepted them.",
      open: "Replace the credentials …",
    },
  },
} as const;
