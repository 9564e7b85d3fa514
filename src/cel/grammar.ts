// Grammar constants shared by the parser and the error recovery.

/** Maximum number of nested rules. */
export const maxNesting = 250;
/** Number of grammar rules that a nested expression enters. */
export const rulesPerNesting = 6;

/** Returns the function name of an operator. */
export const operatorName = (sign: string): string => (sign === "in" ? "@in" : `_${sign}_`);
