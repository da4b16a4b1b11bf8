/** Every bound of the console's own routes, with its reason. The planes behind them have their own. */

/** An e-mail and a key. */
export const MAX_SIGN_IN_BYTES = 4 * 1024;
/** What the data browser writes at once; whoever has more to say uses a client. All of it is read to see what it changes. */
export const MAX_CONSOLE_BODY_BYTES = 8 * 1024 * 1024;
/** Command names that a line of the audit log names; the rest are counted. */
export const MAX_NOTED_COMMANDS = 8;
