/** Says beside the conversation which failures the channel injects, if any. */
import { useEffect } from "preact/hooks";
import { texts } from "../texts.ts";
import { describeFaults, presentFaults, watchFaults } from "./controls/faults.ts";

const words = texts.playground.faults;

interface Props {
  /** The phone that is shown. */
  readonly number: string;
  readonly onOpen: () => void;
}

export function FaultNotice({ number, onOpen }: Props) {
  useEffect(watchFaults, []);
  const { value } = presentFaults;
  const lines = value === null ? [] : describeFaults(value, number);
  return (
    <div role="status" class="fault-notice">
      {lines.length > 0 && (
        <div class="notice row spread">
          <span>
            <strong>{words.active}</strong> {lines.join("; ")}
          </span>
          <button type="button" onClick={onOpen}>
            {words.open}
          </button>
        </div>
      )}
    </div>
  );
}
