/** Texts of the section of the person's own account. */
export const account = {
  title: "Your account",
  open: "Your account",
  role: (role: string) => `Your role: ${role}`,
  name: { title: "Name", label: "Name", hint: "What your colleagues see.", save: "Save the name" },
  email: {
    title: "E-mail address",
    label: "E-mail address",
    hint: "You sign in with it.",
    password: "Your password",
    save: "Change the e-mail address",
    saved: "Changed: sign in with the new address from now on.",
  },
  password: {
    title: "Password",
    current: "Current password",
    next: "New password",
    nextHint: "At least 10 characters.",
    again: "New password again",
    different: "The two new passwords are different.",
    lost: "You do not know the current one? An administrator sets a new one under People.",
    save: "Change the password",
    saved: "Changed. Your sessions in other browsers have ended.",
  },
  sessionsHint: "The browsers in which you are signed in.",
  showSessions: "Show my sessions",
  wrongPassword: "This is not your password.",
} as const;
