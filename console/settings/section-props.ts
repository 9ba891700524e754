/** What the page of the settings gives to its sections. */
export interface SectionProps {
  /** What follows the section in the address: the record that is open. */
  readonly id: string | undefined;
}
