/**
 * A case of the key-value engine, as data: given a keyspace, when a command runs, then a reply and
 * effects. The specs run cases against the engine alone; the differential tests send the same commands
 * to a real server and compare.
 *
 * A line of words is split at blanks; `''` is the empty word, `\xNN` a byte.
 * `@+500` and `@-500` are instants in milliseconds around now, `@s+5` in seconds.
 */
export interface KvCase {
  readonly title: string;
  /** Lines run before, whose replies do not matter. */
  readonly given: readonly string[];
  /** The command, as a line or as words. */
  readonly when: string | readonly string[];
  readonly then: Expected;
  /** Lines of the effects the command records; left out where the case is about the reply. */
  readonly effects?: readonly string[];
}

/** Readable replies: `+status`, `-error`, bulk strings as they are, numbers, null, lists; or a check of one's own. */
export type Expected = string | number | bigint | null | readonly Expected[] | ((reply: unknown) => boolean);

/** The instant of every spec: replies that name instants can be written down. */
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
