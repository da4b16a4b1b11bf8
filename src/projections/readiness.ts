/**
 * Readiness checks of read models and search indexes: whether they are complete, and the reasons if not. They contain
 * no tenant's data.
 */
import type { Check } from '../ports/index.js';
import type { ReadModelStatus } from './read-models.js';
import type { SearchStatus } from './search-index/index.js';
import type { StatisticsStatus } from './stats/index.js';

type FollowerStatus = Pick<SearchStatus, 'behindPositions' | 'behindMs' | 'troubles'>;

/** @param statistics reported without affecting readiness, because no request waits for them */
export function readinessOfModels(
  models: ReadModelStatus | undefined,
  statistics: StatisticsStatus | undefined,
): Check {
  if (models === undefined || statistics === undefined)
    return { ok: false, detail: 'the read models are being opened' };
  const ofStatistics = notesOfModels(statistics).map((note) => `statistics: ${note}`);
  const notes = [...notesOfModels(models), ...ofStatistics];
  return { ok: models.isCaughtUp, isStuck: models.troubles.length > 0, ...asDetail(notes) };
}

export function readinessOfSearch(status: SearchStatus | undefined): Check {
  if (status === undefined) return { ok: false, detail: 'the search indexes are being opened' };
  const unreadable = status.unreadable > 0 ? [`${status.unreadable} documents cannot be read`] : [];
  const isStuck = status.troubles.length > 0;
  return { ok: status.isCaughtUp, isStuck, ...asDetail([...notesOf(status), ...unreadable]) };
}

function notesOfModels(status: Omit<ReadModelStatus, 'rows'>): string[] {
  const { incompleteShards } = status;
  const older = incompleteShards.length > 0 ? [`older events may be missing: ${incompleteShards.join(', ')}`] : [];
  return [...notesOf(status), ...older];
}

function notesOf({ behindPositions, behindMs, troubles }: FollowerStatus): string[] {
  return [
    ...(behindPositions > 0 ? [`${behindPositions} messages (${Math.ceil(behindMs / 1000)} s) behind`] : []),
    ...troubles.map(([shard, reason]) => `${shard} is held up: ${reason}`),
  ];
}

function asDetail(notes: readonly string[]): { readonly detail?: string } {
  return notes.length === 0 ? {} : { detail: notes.join('; ') };
}
