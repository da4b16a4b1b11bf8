/** Which commands are not sent from here, and which are asked about first. */

/** They need a connection, which pages have none of. */
const CONNECTED = new Set(
  `SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE MONITOR CLIENT AUTH HELLO SELECT QUIT RESET WATCH
   UNWATCH BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZPOPMIN BZPOPMAX BZMPOP`.split(/\s+/),
);

const DANGEROUS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^FLUSH(ALL|DB)\b/, 'It deletes every key of the database.'],
  [/^KEYS\b/, 'It looks at every key in one step, and everybody waits meanwhile. SCAN, or the Data tab, does not.'],
  [/^CONFIG (SET|RESETSTAT)\b/, 'It changes how the database runs.'],
  [/^(SCRIPT|FUNCTION) (FLUSH|DELETE|RESTORE|KILL)\b/, 'Programs that count on it fail afterwards.'],
  [/^ACL (DELUSER|SETUSER)\b/, 'It changes who may do what, and may end connections.'],
  [/^(SHUTDOWN|DEBUG|SWAPDB)\b/, 'It concerns more than a key.'],
  [/^XGROUP DESTROY\b/, 'What the group has not acknowledged is forgotten.'],
];

/** Their words have secrets in them: such a line is not kept. */
const SECRET = /^\s*(auth|hello|acl\s+(setuser|resttoken)|migrate)\b/i;

export function needsConnection(words: readonly string[]): boolean {
  return CONNECTED.has((words[0] ?? '').toUpperCase());
}

/** Why somebody should think first; undefined: no reason. */
export function dangerOf(words: readonly string[]): string | undefined {
  const line = words.join(' ').toUpperCase();
  return DANGEROUS.find(([pattern]) => pattern.test(line))?.[1];
}

export function hasSecret(line: string): boolean {
  return SECRET.test(line);
}
