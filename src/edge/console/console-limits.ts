/** The limits of the console's own routes, with their reasons. The data planes have their own. */

/** An e-mail and a key. */
export const MAX_SIGN_IN_BYTES = 4 * 1024;
/** One write of the data browser; larger ones need a client. The whole body is read to find its changes. */
export const MAX_CONSOLE_BODY_BYTES = 8 * 1024 * 1024;
/** Command names in a line of the audit log; the rest are counted. */
export const MAX_NOTED_COMMANDS = 8;
