/** A checkbox whose change is saved at once. A change that could not be saved is taken back. */
interface Props {
  readonly label: string;
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  /** Returns whether it succeeded. */
  readonly save: (isChecked: boolean) => Promise<boolean>;
}

export function SavedCheck({ label, isChecked, isDisabled = false, save }: Props) {
  const change = async (element: HTMLInputElement) => {
    const { checked } = element;
    if (!(await save(checked))) {
      element.checked = !checked;
    }
  };
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={({ currentTarget }) => void change(currentTarget)}
      />
      {label}
    </label>
  );
}
