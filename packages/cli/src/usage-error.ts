/** The command was used wrongly: exit code 2, and a message instead of a stack. */
export class UsageError extends Error {}
