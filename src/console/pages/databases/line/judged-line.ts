/** Commands that the command line does not send, and commands that need a confirmation. */

/** Commands that need a connection, which pages do not have. */
const CONNECTED = new Set(
  `SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE MONITOR CLIENT AUTH HELLO SELECT QUIT RESET WATCH
   UNWATCH BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZPOPMIN BZPOPMAX BZMPOP`.split(/\s+/),
);

const DANGEROUS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^FLUSH(ALL|DB)\b/, 'It deletes every key of the database.'],
  [/^KEYS\b/, 'It reads every key in one step, and all other clients wait. Use SCAN or the Data tab instead.'],
  [/^CONFIG (SET|RESETSTAT)\b/, 'It changes how the database runs.'],
  [/^(SCRIPT|FUNCTION) (FLUSH|DELETE|RESTORE|KILL)\b/, 'Programs that count on it fail afterwards.'],
  [/^ACL (DELUSER|SETUSER)\b/, 'It changes permissions, and may close connections.'],
  [/^(SHUTDOWN|DEBUG|SWAPDB)\b/, 'It concerns more than a key.'],
  [/^XGROUP DESTROY\b/, 'The pending entries of the group are dropped.'],
];

/** Commands with secrets in their words: their lines are not stored. */
const SECRET = /^\s*(auth|hello|acl\s+(setuser|resttoken)|migrate)\b/i;

export function needsConnection(words: readonly string[]): boolean {
  return CONNECTED.has((words[0] ?? '').toUpperCase());
}

/** The reason for a confirmation; undefined: none needed. */
export function dangerOf(words: readonly string[]): string | undefined {
  const line = words.join(' ').toUpperCase();
  return DANGEROUS.find(([pattern]) => pattern.test(line))?.[1];
}

export function hasSecret(line: string): boolean {
  return SECRET.test(line);
}
