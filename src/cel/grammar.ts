// What both walks over the tokens know of the grammar: that of good expressions, and that of broken ones.

/** How many rules may be nested. */
export const deepest = 250;
/** How many grammar rules one nested expression enters. */
export const rulesPerNesting = 6;

/** The function behind an operator. */
export const operatorName = (sign: string): string => (sign === "in" ? "@in" : `_${sign}_`);
