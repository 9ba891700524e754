/** Fixed words between the prompt and the check of its answer. */

/** What a model must write when the passages have no answer. */
export const unknownAnswer = "NO_ANSWER";

/** In characters: the longest text of a message. */
export const maxAnswer = 4096;
