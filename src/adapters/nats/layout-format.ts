/**
 * Up to which level things may be stored in an installation (`kernel/format-level.ts`), as its layout says: what a program
 * reads before anything else, so that one which could not read all of it is refused before it has read a part.
 *
 *  LFO1 the level is only ever raised, and before anything of it is written
 *  LFO2 a process reads it again behind its session's record (`agreeOnSealKey`): whoever raises it and then looks at the
 *       records has seen every process that was let in before
 */
import { FIRST_FORMAT_LEVEL } from '../../kernel/index.js';
import type { NatsConnections } from './connection.js';
import { changeLayout, readLayout } from './layout-record.js';
import type { Names } from './subjects.js';

/** @throws JOURNAL_UNAVAILABLE */
export async function formatOf(connections: NatsConnections, { prefix }: Names): Promise<number> {
  return (await readLayout(connections, prefix))?.format ?? FIRST_FORMAT_LEVEL;
}

/** LFO1. @throws JOURNAL_UNAVAILABLE */
export async function raiseFormat(connections: NatsConnections, { prefix }: Names, level: number): Promise<void> {
  await changeLayout(connections, prefix, (record) =>
    (record.format ?? FIRST_FORMAT_LEVEL) >= level ? record : { ...record, format: level },
  );
}
