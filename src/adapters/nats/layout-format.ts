/**
 * The level up to which data may be stored in an installation (`kernel/format-level.ts`), from its layout. A program
 * reads it first, and is refused before it has read data of a higher level.
 *
 *  LFO1 the level is only ever raised, and before data of it is written
 *  LFO2 a process reads it again after storing its session's record (`agreeOnSealKey`), so a command that raises it
 *       and then reads the records has seen every earlier process
 */
import { FIRST_FORMAT_LEVEL } from '../../kernel/index.js';
import type { NatsConnections } from './connection.js';
import { changeLayout, readLayout } from './layout-record.js';
import type { Names } from './subjects.js';

/** @throws JOURNAL_UNAVAILABLE */
export async function formatOf(connections: NatsConnections, { prefix }: Names): Promise<number> {
  return (await readLayout(connections, prefix))?.format ?? FIRST_FORMAT_LEVEL;
}

/** Raises the level (LFO1). @throws JOURNAL_UNAVAILABLE */
export async function raiseFormat(connections: NatsConnections, { prefix }: Names, level: number): Promise<void> {
  await changeLayout(connections, prefix, (record) =>
    (record.format ?? FIRST_FORMAT_LEVEL) >= level ? record : { ...record, format: level },
  );
}
