/** Limits of one contact that several operations share. */

/** Each change of a tag reads and writes the whole row, and more tags than this no longer classify a contact. */
export const maxTags = 200;
