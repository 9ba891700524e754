/** Asks before a link ends the session of the person who is signed in. */
import { useSignal } from "@preact/signals";
import { Dialog } from "../controls/dialog.tsx";
import { describeError } from "../service/describe-error.ts";
import { texts } from "../texts.ts";
import { acceptOffer, linkOffer } from "./link.ts";
import { session } from "./session.ts";

export function LinkOffer() {
  const problem = useSignal("");
  const { value: offer } = linkOffer;
  const user = session.value?.user;
  if (offer === null || user === undefined) {
    return null;
  }
  const close = () => {
    problem.value = "";
    linkOffer.value = null;
  };
  const accept = async () => {
    try {
      await acceptOffer(offer);
      close();
    } catch (error) {
      problem.value = describeError(error);
    }
  };
  return (
    <Dialog title={texts.link.title(offer.name)} onClose={close}>
      <p>{texts.link.present(user)}</p>
      <p>{texts.link.next(offer)}</p>
      <p class="error" role="alert">
        {problem.value}
      </p>
      <div class="row">
        <button type="button" class="primary" onClick={() => void accept()}>
          {texts.link.accept(offer.name)}
        </button>
        <button type="button" onClick={close}>
          {texts.link.decline(user.name)}
        </button>
      </div>
    </Dialog>
  );
}
