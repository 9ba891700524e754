/** The current time; injected everywhere, so that tests and sandboxes can set it. */
export type Clock = () => Date;

/** A clock that can be moved forward. */
export interface Sandbox {
  /** Whether a request is moving it. */
  isMoving: boolean;
  /** How far it is ahead of the real time. */
  aheadMs(): number;
  /** Moves it to this time, if that is later. The new time is stored first, so it never goes back. */
  moveTo(time: Date): Promise<void>;
}
