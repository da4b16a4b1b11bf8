/**
 * Runs one bench with two builds in turn: this one and that of another commit, so that other load of the machine affects
 * both. The ratio of each figure is now / before, for the medians and for each turn.
 */
import { type Bench, type BenchResult, type Figure, median } from './figures.js';
import { measureBuild } from './millrace.js';

const TURNS = Number(process.env.TURNS ?? 3);

/** The figures of one turn, by name. */
type Turn = ReadonlyMap<string, Figure>;

/** @param directory the other build's checkout */
export async function runAgainst(
  bench: Bench,
  directory: string,
  progress: (line: string) => void,
): Promise<Omit<BenchResult, 'bench'>> {
  const now: Turn[] = [];
  const before: Turn[] = [];
  const skipped = new Set<string>();
  const take = async (turns: Turn[], name: string, build?: string) => {
    progress(`turn ${turns.length + 1} of ${TURNS}, ${name}`);
    measureBuild(build);
    const result = await bench.run((line) => progress(`  ${line}`));
    for (const line of result.skipped) skipped.add(line);
    turns.push(new Map(result.figures.map((figure) => [figure.name, figure])));
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    // The order alternates: the second build finds warmer caches and a fuller disk.
    if (turn % 2 === 0) await take(before, 'before', directory);
    await take(now, 'now');
    if (turn % 2 === 1) await take(before, 'before', directory);
  }
  measureBuild();
  const names = [...(now[0]?.keys() ?? [])].filter((name) => before[0]?.has(name));
  return { figures: names.map((name) => compared(name, now, before)), skipped: [...skipped] };
}

function compared(name: string, now: readonly Turn[], before: readonly Turn[]): Figure {
  const of = (turns: readonly Turn[]) => turns.map((turn) => turn.get(name)?.value ?? Number.NaN);
  const [ours, theirs] = [of(now), of(before)];
  const ratios = ours.map((value, i) => value / (theirs[i] ?? Number.NaN));
  const unit = now[0]?.get(name)?.unit ?? '';
  const spread = `turns ${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  const note = `${spread}, now ${shown(median(ours))} and before ${shown(median(theirs))} ${unit}`;
  return { name: `now / before: ${name.trim()}`, value: median(ours) / median(theirs), unit: 'ratio', note };
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
