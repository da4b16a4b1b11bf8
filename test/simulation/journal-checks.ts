/**
 * Checks of the journal at the end of a run, read directly from the simulated server.
 *
 *  SJC1 the whole chain verifies: numbers, hashes, epochs, clocks, sections
 *  SJC2 an epoch has one owner
 *  SJC3 the journal holds every acknowledged write and no write that certainly failed (the ledger)
 */
import { EntryAssembler, type ReadEntry } from '../../src/codec/envelope/index.js';
import { Chain } from '../../src/journal/index.js';
import type { ShardName } from '../../src/kernel/index.js';
import type { History } from './history.js';
import type { SimServer } from './sim-server.js';
import { Violation } from './violation.js';

/** All entries that were ever stored, including truncated ones. */
export function entriesOf(server: SimServer, shard: ShardName): ReadEntry[] {
  const assembler = new EntryAssembler();
  const messages = server.streams.get(shard)?.archive ?? [];
  try {
    return messages.flatMap(({ position, bytes }) => assembler.add(position, bytes) ?? []);
  } catch (error) {
    throw new Violation('the chain verifies', `${shard}: ${(error as Error).message}`);
  }
}

export function checkChain(shard: ShardName, entries: readonly ReadEntry[]): void {
  const chain = new Chain(shard, undefined);
  const writersByEpoch = new Map<number, string>();
  for (const read of entries) {
    try {
      chain.follow(read);
    } catch (error) {
      throw new Violation('the chain verifies', (error as Error).message);
    }
    const { epoch, writer: writerBytes } = read.entry;
    const writer = Buffer.from(writerBytes).toString('hex');
    const known = writersByEpoch.get(epoch);
    if (known !== undefined && known !== writer) {
      throw new Violation('an epoch has one owner', `${shard} epoch ${epoch} was written by ${known} and by ${writer}`);
    }
    writersByEpoch.set(epoch, writer);
  }
}

/** The prefix of each written value (workload.ts). */
const WRITE_MARK = /<[a-z0-9]+-\d+>/g;
const WRITE_MARK_ALONE = new RegExp(WRITE_MARK.source);

/** Written values are unique, so a value identifies its write. */
export function checkLedger(history: History, entries: readonly ReadEntry[]): void {
  const stored = new Set<string>();
  for (const { entry } of entries) {
    for (const { effects } of entry.body.kind === 'batch' ? entry.body.sections : []) {
      for (const [mark] of Buffer.from(effects).toString('latin1').matchAll(WRITE_MARK)) stored.add(mark);
    }
  }
  for (const { input, ending, key, client } of history.attempts) {
    if (input.type !== 'set' && input.type !== 'cas') continue;
    const isStored = stored.has(WRITE_MARK_ALONE.exec(input.value)?.[0] ?? input.value);
    const isAcknowledged = ending.kind === 'answered' && ending.output === 'OK';
    if (isAcknowledged && !isStored) {
      throw new Violation(
        'an acknowledged write is never lost',
        `${client} ${key} ${input.value} is not in the journal`,
      );
    }
    if (ending.kind === 'failed' && isStored) {
      throw new Violation(
        'a failed write has no effect',
        `${client} ${key} ${input.value}: ${ending.code}, but stored`,
      );
    }
  }
}
