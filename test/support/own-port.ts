/** A port for a test that needs the same one twice. */

/**
 * The system gives it to no program that asks for a free port, and no other process of a
 * test run has the same.
 */
export const ownPort = 20_000 + (process.pid % 10_000);
