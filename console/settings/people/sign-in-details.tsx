/** What a person needs to sign in, shown once. */
import { CopyText } from "../../controls/copy-text.tsx";
import { texts } from "../../texts.ts";

const words = texts.people.created;

interface Props {
  readonly email: string;
  readonly password: string;
  readonly onDone: () => void;
}

export function SignInDetails({ email, password, onDone }: Props) {
  return (
    <>
      <p role="status">{words.about}</p>
      <CopyText label={words.label} text={words.text(`${location.origin}/console/`, email, password)} />
      <div class="row">
        <button type="button" class="primary" onClick={onDone}>
          {words.done}
        </button>
      </div>
    </>
  );
}
