/** How much of something one contact may have, however it is given. */

/** More are no labels any more; the whole row is read and written with each of them. */
export const maxTags = 200;
