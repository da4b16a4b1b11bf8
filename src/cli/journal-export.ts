/** `millrace journal export`: the history of a database or a queue, as JSON lines or as RESP commands. */
import { replayFold } from '../actors/kv-shard/index.js';
import {
  DEFAULT_COMPACTION_LIMITS,
  type ExportRange,
  exportCommands,
  exportLines,
  exportState,
  withoutParameters,
} from '../journal/index.js';
import { MillraceError } from '../kernel/index.js';
import { byShard, type JournalCommandDeps, type PlacedPartition } from './journal-deps.js';

export async function exportNdjson(
  deps: JournalCommandDeps,
  places: readonly PlacedPartition[],
  range: ExportRange,
): Promise<void> {
  for (const [shard, partitions] of byShard(places)) {
    await pour(deps, exportLines(deps, shard, new Set(partitions), range));
  }
}

export async function exportResp(
  deps: JournalCommandDeps,
  places: readonly PlacedPartition[],
  range: ExportRange,
): Promise<void> {
  const { segmentBytes } = DEFAULT_COMPACTION_LIMITS;
  for (const { shard, partition } of places) {
    // For one partition its actual history; for several the final state, because a FLUSHALL of one partition must not
    // empty the others.
    const commands = exportCommands(deps, shard, partition, range);
    const output = places.length === 1 ? commands : exportState(commands, replayFold(), segmentBytes);
    await pour(deps, withoutParameters(output));
  }
}

async function pour(deps: JournalCommandDeps, output: AsyncIterable<string | Uint8Array>): Promise<void> {
  for await (const piece of output) {
    if (deps.signal.aborted) throw new MillraceError('SHUTTING_DOWN', 'interrupted: the output is incomplete');
    await deps.write(piece);
  }
}
