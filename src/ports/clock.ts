/** The current time; injected everywhere, so that tests can set it. */
export type Clock = () => Date;
