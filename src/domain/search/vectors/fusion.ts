/** Merges the results of the dense and of the sparse part of a query into one list. */

export const FUSIONS = ['RRF', 'DBSF'] as const;
export type Fusion = (typeof FUSIONS)[number];

export interface RankedId {
  readonly id: string;
  readonly score: number;
}

/** The usual constant of reciprocal rank fusion. */
const RANK_OFFSET = 60;
/** Scores within this many standard deviations of the mean are spread from 0 to 1. */
const DEVIATIONS = 3;
/** The normalised score if all scores of a list are equal. */
const MIDDLE = 0.5;

/** @param lists best first. @returns best first, equal scores in order of id, at most `most` */
export function fused(lists: readonly (readonly RankedId[])[], fusion: Fusion, most: number): RankedId[] {
  const scores = new Map<string, number>();
  for (const list of lists) {
    const parts = fusion === 'RRF' ? list.map((_, rank) => 1 / (rank + RANK_OFFSET)) : normalised(list);
    list.forEach(({ id }, at) => {
      scores.set(id, (scores.get(id) ?? 0) + (parts[at] as number));
    });
  }
  return [...scores]
    .map(([id, score]) => ({ id, score }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, most);
}

function normalised(list: readonly RankedId[]): number[] {
  const count = list.length;
  const mean = list.reduce((sum, { score }) => sum + score, 0) / count;
  const squares = list.reduce((sum, { score }) => sum + (score - mean) ** 2, 0);
  const deviation = count > 1 ? Math.sqrt(squares / (count - 1)) : 0;
  if (deviation === 0) return list.map(() => MIDDLE);
  const lowest = mean - DEVIATIONS * deviation;
  return list.map(({ score }) => (score - lowest) / (2 * DEVIATIONS * deviation));
}
