/** Stands for a part of the console whose script could not be loaded: only a reload tries it again. */
import { texts } from "../texts.ts";

export function NotLoaded() {
  return (
    <div class="empty" role="alert">
      <p class="error">{texts.notLoaded.text}</p>
      <div>
        <button type="button" onClick={() => location.reload()}>
          {texts.notLoaded.reload}
        </button>
      </div>
    </div>
  );
}
