/** Signing in with e-mail address and password. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { describeError } from "../service/describe-error.ts";
import { texts } from "../texts.ts";
import { linkProblem } from "./link.ts";
import { signIn } from "./session.ts";

export function SignIn() {
  const problem = useSignal("");
  const isBusy = useSignal(false);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = texts.signIn.title;
    first.current?.focus();
  }, []);

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) {
      return;
    }
    const fields = new FormData(event.currentTarget);
    isBusy.value = true;
    problem.value = "";
    linkProblem.value = "";
    try {
      await signIn({ email: String(fields.get("email")), password: String(fields.get("password")) });
    } catch (error) {
      problem.value = describeError(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <main class="sign-in stack">
      <h1>{texts.signIn.title}</h1>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <label>
          {texts.signIn.email}
          <input ref={first} name="email" type="email" autocomplete="username" required />
        </label>
        <label>
          {texts.signIn.password}
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        <button type="submit" class="primary" disabled={isBusy.value}>
          {texts.signIn.submit}
        </button>
      </form>
      <p class="error" role="alert">
        {problem.value || linkProblem.value}
      </p>
    </main>
  );
}
