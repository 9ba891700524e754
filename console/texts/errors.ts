/** What errors mean for the person at the page, by their codes. */
export const errors = {
  connection: "The service can't be reached. Check the connection, then try again.",
  unknown: "Something in this page failed. Reload it.",
  codes: {
    signed_out: "Your session has ended. Sign in again.",
    login_failed: "The e-mail address or the password is wrong.",
    sign_in_link_invalid:
      "This link was used or has expired: it works once, within 10 minutes. Run tidings console on the machine of the service for a new one.",
    console_session_not_found: "This session has already ended.",
    conversation_not_found: "There is no such conversation. It may have been erased.",
    invalid_phone_number: "This is not a valid phone number. Write it with + and the country code.",
    insufficient_scope: "Your role may not do this. Ask an administrator.",
    insufficient_funds:
      "The wallet has too little money for this message. Ask an administrator to top it up.",
    wrong_agent: "Somebody else has just assigned the conversation.",
    already_assigned: "The conversation is already assigned to this person.",
    outside_service_window: "The 24-hour window has closed: send a template.",
    contact_blocked: "The contact is blocked and gets no messages.",
    sign_in_again:
      "A release needs a sign-in by password within the last 12 hours. Sign out, then sign in with your password.",
    plan_not_found: "There is no such plan. It may have been erased with its contact.",
    api_key_not_found: "There is no such key. It may have been revoked.",
    scope_not_held: "Your role can't give a key what it may not do itself.",
    inbox_not_found: "There is no such inbox.",
    inbox_exists: "There is an inbox with this number already.",
    team_not_found: "There is no such team.",
    team_member_exists: "This person is in the team already.",
    user_not_found: "There is no such person.",
    user_exists: "Somebody with this e-mail address is here already, or in another organization.",
    routing_policy_not_found: "There is no such policy.",
    plan_state: "The plan has been decided or has ended meanwhile.",
  } as Readonly<Record<string, string>>,
} as const;
