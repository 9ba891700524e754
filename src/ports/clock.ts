/** The time, injected everywhere so that tests can turn it. */
export type Clock = () => Date;
