/**
 * A case of the key-value engine as data: a given keyspace, a command, and the expected reply and effects. The specs
 * run cases on the engine alone; the differential tests send the same commands to a real server and compare.
 *
 * A line of words is split at blanks; `''` is the empty word, `\xNN` a byte. `@+500` and `@-500` are instants in
 * milliseconds around now, `@s+5` in seconds.
 */
export interface KvCase {
  readonly title: string;
  /** Commands that run first; their replies are not checked. */
  readonly given: readonly string[];
  /** The tested command, as a line or as words. */
  readonly when: string | readonly string[];
  readonly then: Expected;
  /** The recorded effects, one per line; undefined if only the reply is tested. */
  readonly effects?: readonly string[];
}

/**
 * Readable replies: `+status`, `-error`, plain bulk strings, numbers, null, lists; or a function that checks the
 * reply.
 */
export type Expected = string | number | bigint | null | readonly Expected[] | ((reply: unknown) => boolean);

/** The fixed time of all specs, so that expected replies can contain instants. */
export const NOW = 1_900_000_000_000;

export function kvCase(
  title: string,
  given: readonly string[],
  when: string | readonly string[],
  then: Expected,
  effects?: readonly string[],
): KvCase {
  return effects === undefined ? { title, given, when, then } : { title, given, when, then, effects };
}

export function wordsOf(line: string | readonly string[], nowMs: number): string[] {
  const parts = typeof line === 'string' ? line.split(' ') : [...line];
  return parts.map((part) => {
    if (part === "''") return '';
    const instant = /^@(s?)([+-][0-9]+)$/.exec(part);
    if (instant !== null) {
      const shift = Number(instant[2]);
      return String(instant[1] === 's' ? Math.floor(nowMs / 1000) + shift : nowMs + shift);
    }
    return part.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  });
}
