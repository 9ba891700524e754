/** Invalid input of a control, in one field. */
export class ControlInputError extends Error {
  /** Dotted, for example `failures.0.to`; empty for the whole body. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = "ControlInputError";
    this.field = field;
  }
}
