/** Tags, each with a button that removes it, and a field that adds one. */
import { Icon } from "../../controls/icon.tsx";
import { texts } from "../../texts.ts";
import { TagField } from "../tag-field.tsx";

interface Props {
  readonly label: string;
  readonly tags: readonly string[];
  /** Undefined if the person may not change them. */
  readonly onAdd: ((tag: string) => void) | undefined;
  readonly onRemove: (tag: string) => void;
}

export function TagEditor({ label, tags, onAdd, onRemove }: Props) {
  return (
    <section class="stack" aria-label={label}>
      <h3>{label}</h3>
      <div class="row">
        {tags.length === 0 && <span class="small muted">{texts.panel.noTags}</span>}
        {tags.map((tag) => (
          <span class="chip" key={tag}>
            {tag}
            {onAdd && (
              <button
                type="button"
                class="plain icon"
                aria-label={texts.panel.removeTag(tag)}
                onClick={() => onRemove(tag)}
              >
                <Icon name="close" size={14} />
              </button>
            )}
          </span>
        ))}
      </div>
      {onAdd && <TagField label={texts.panel.addTagTo(label)} onTag={onAdd} />}
    </section>
  );
}
