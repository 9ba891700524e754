/** The secret of a new key: the service does not show it again. */
import { useEffect, useRef } from "preact/hooks";
import { CopyText } from "../../controls/copy-text.tsx";
import { texts } from "../../texts.ts";

const { keys: words } = texts.settings;

export function SecretShown({ secret }: { readonly secret: string }) {
  const element = useRef<HTMLElement>(null);
  // The button that made it is gone.
  useEffect(() => element.current?.focus(), []);
  return (
    <section ref={element} class="stack" tabIndex={-1} aria-label={words.secret}>
      <p class="notice" role="status">
        {words.secretOnce}
      </p>
      <CopyText label={words.secret} text={secret} />
    </section>
  );
}
