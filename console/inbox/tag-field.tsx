/** A field for one tag, which Enter takes. */
interface Props {
  readonly label: string;
  readonly onTag: (tag: string) => void;
}

export function TagField({ label, onTag }: Props) {
  return (
    <form
      class="tag-field"
      onSubmit={(event) => {
        event.preventDefault();
        onTag(String(new FormData(event.currentTarget).get("tag")).trim().toLowerCase());
        event.currentTarget.reset();
      }}
    >
      <input name="tag" required maxLength={64} aria-label={label} placeholder={label} />
    </form>
  );
}
