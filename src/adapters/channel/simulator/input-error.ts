/** A control was asked for something that it can't do: the caller's mistake in one field. */
export class ControlInputError extends Error {
  /** Dotted, for example `failures.0.to`; empty: the whole body. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = "ControlRefusal";
    this.field = field;
  }
}
