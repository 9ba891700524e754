/** Closes, assigns or tags the selected conversations one by one, and says how many were changed. */
import { useSignal } from "@preact/signals";
import { Menu } from "../../controls/menu.tsx";
import { showToast } from "../../controls/toast.tsx";
import { call } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { texts } from "../../texts.ts";
import { updateConversation } from "../acts.ts";
import { directory } from "../directory.ts";
import { TagField } from "../tag-field.tsx";

interface Props {
  readonly ids: readonly string[];
  readonly onChange: () => void;
  readonly onClear: () => void;
}

export function BulkBar({ ids, onChange, onClear }: Props) {
  const progress = useSignal<number | null>(null);
  const run: Run = async (act, describe, undo) => {
    const { changed, problem } = await changeAll(ids, act, (count) => {
      progress.value = count;
    });
    progress.value = null;
    const takeBack = undo && (() => void Promise.allSettled(changed.map(undo)).then(onChange));
    showToast(`${describe(changed.length)} ${problem}`.trim(), changed.length > 0 ? takeBack : undefined);
    onChange();
  };
  if (progress.value !== null) {
    return (
      <div class="bulk-bar" role="status">
        <progress value={progress.value} max={ids.length} aria-label={texts.bulk.progress} />
        {texts.bulk.count(ids.length)}
      </div>
    );
  }
  return (
    <fieldset class="bulk-bar" aria-label={texts.bulk.count(ids.length)}>
      <span>{texts.bulk.count(ids.length)}</span>
      <button
        type="button"
        onClick={() => void run(setStatus("closed"), texts.bulk.closed, setStatus("open")).then(onClear)}
      >
        {texts.close}
      </button>
      <AssignAll run={run} />
      <TagAll run={run} />
      <button type="button" class="plain" onClick={onClear}>
        {texts.cancel}
      </button>
    </fieldset>
  );
}

type Act = (id: string) => Promise<unknown>;
type Run = (act: Act, describe: (count: number) => string, undo?: Act) => Promise<void>;

const setStatus = (status: "open" | "closed") => (id: string) => updateConversation(id, { status });

/** Continues after an error, and returns the last one in words. */
async function changeAll(ids: readonly string[], act: Act, onProgress: (count: number) => void) {
  const changed: string[] = [];
  let problem = "";
  for (const id of ids) {
    onProgress(changed.length);
    try {
      await act(id);
      changed.push(id);
    } catch (error) {
      problem = describeError(error);
    }
  }
  return { changed, problem };
}

function AssignAll({ run }: { run: Run }) {
  return (
    <Menu label={texts.panel.assign} button={texts.panel.assign}>
      {directory.value.people.map((person) => (
        <button
          type="button"
          key={person.id}
          onClick={() =>
            void run(
              (id) => call("assign_conversation", { id, assigned_to: person.id }),
              (count) => texts.bulk.assigned(count, person.name),
            )
          }
        >
          {person.name}
        </button>
      ))}
    </Menu>
  );
}

function TagAll({ run }: { run: Run }) {
  const tagAll = (tag: string) =>
    run(
      (id) => updateConversation(id, { add_tags: [tag] }),
      (count) => texts.bulk.tagged(count, tag),
    );
  return <TagField label={texts.panel.addTag} onTag={(tag) => void tagAll(tag)} />;
}
