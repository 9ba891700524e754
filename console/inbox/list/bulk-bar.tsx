/** Closes, assigns or tags the selected conversations one by one, and says how many were changed. */
import { useSignal } from "@preact/signals";
import { Menu } from "../../controls/menu.tsx";
import { showToast } from "../../controls/toast.tsx";
import { call } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { texts } from "../../texts.ts";
import { moveToAgent, restoreStatus, updateConversation } from "../acts.ts";
import { directory } from "../directory.ts";
import { TagField } from "../tag-field.tsx";

interface Props {
  readonly ids: readonly string[];
  readonly onChange: () => void;
  readonly onClear: () => void;
}

export function BulkBar({ ids, onChange, onClear }: Props) {
  const progress = useSignal<number | null>(null);
  const run: Run = async (act, describe) => {
    const { changes, problem } = await changeAll(ids, act, (count) => {
      progress.value = count;
    });
    progress.value = null;
    const undos = changes.flatMap(({ undo }) => undo ?? []);
    const undoAll = () => void Promise.allSettled(undos.map((undo) => undo())).then(onChange);
    showToast(`${describe(changes.length)} ${problem}`.trim(), undos.length > 0 ? undoAll : undefined);
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
      <button type="button" onClick={() => void run(close, texts.bulk.closed).then(onClear)}>
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

interface Change {
  /** Takes it back, if that is possible. */
  readonly undo?: () => Promise<unknown>;
}

/** Changes one conversation. It returns null if nothing is to be changed. */
type Act = (id: string) => Promise<Change | null>;
type Run = (act: Act, describe: (count: number) => string) => Promise<void>;

const close: Act = async (id) => {
  const { data: former } = await call("get_conversation", { id });
  if (former.status === "closed") {
    return null;
  }
  await updateConversation(id, { status: "closed" });
  return { undo: () => restoreStatus(former) };
};

const assignTo =
  (agent: string): Act =>
  async (id) => {
    const { assigned_to } = (await call("get_conversation", { id })).data;
    if (assigned_to === agent) {
      return null;
    }
    await moveToAgent(id, assigned_to, agent);
    return { undo: () => moveToAgent(id, agent, assigned_to) };
  };

const addTag =
  (tag: string): Act =>
  async (id) => {
    await updateConversation(id, { add_tags: [tag] });
    return {};
  };

/** Continues after an error, and returns the last one in words. */
async function changeAll(ids: readonly string[], act: Act, onProgress: (count: number) => void) {
  const changes: Change[] = [];
  let problem = "";
  for (const [index, id] of ids.entries()) {
    onProgress(index);
    try {
      const change = await act(id);
      if (change !== null) {
        changes.push(change);
      }
    } catch (error) {
      problem = describeError(error);
    }
  }
  return { changes, problem };
}

function AssignAll({ run }: { run: Run }) {
  return (
    <Menu label={texts.panel.assign} button={texts.panel.assign}>
      {directory.value.people.map((person) => (
        <button
          type="button"
          key={person.id}
          onClick={() => void run(assignTo(person.id), (count) => texts.bulk.assigned(count, person.name))}
        >
          {person.name}
        </button>
      ))}
    </Menu>
  );
}

function TagAll({ run }: { run: Run }) {
  const tagAll = (tag: string) => run(addTag(tag), (count) => texts.bulk.tagged(count, tag));
  return <TagField label={texts.panel.addTag} onTag={(tag) => void tagAll(tag)} />;
}
