/** Filters and sketches on few keys, so small that they fill, grow and compact. */
import type { Program } from './dice.js';

export const SKETCH_KEYS = ['bloom', 'cuckoo', 'counts', 'more', 'top', 'digest', 'other'];

export const sketchProgram: Program = (dice) => {
  const item = (): string => (dice.chance(0.02) ? 'x'.repeat(300) : `item${dice.below(60)}`);
  const value = (): string => dice.pick(['1', '2.5', '-7', '1e10', String(dice.below(1000) / 7)]);
  const many = (): string[] => dice.some(item, 8);
  const counted = (): string[] => dice.some(item, 3).flatMap((one) => [one, dice.pick(['1', '3', '700', '-1'])]);
  const counts = (): string => dice.pick(['counts', 'more']);
  const digest = (): string => dice.pick(['digest', 'other']);
  return [
    () => ['BF.RESERVE', 'bloom', '0.1', '5', ...dice.maybe(() => ['NONSCALING'], 0.2)],
    () => ['BF.MADD', 'bloom', ...many()],
    () => ['BF.ADD', 'bloom', item()],
    () => ['BF.MEXISTS', 'bloom', ...many()],
    () => ['CF.RESERVE', 'cuckoo', '8', 'EXPANSION', dice.pick(['0', '1', '2'])],
    () => ['CF.INSERT', 'cuckoo', 'ITEMS', ...many()],
    () => ['CF.INSERTNX', 'cuckoo', 'ITEMS', ...many()],
    () => ['CF.COMPACT', 'cuckoo'],
    () => ['CF.DEL', 'cuckoo', item()],
    () => ['CF.DEL', 'cuckoo', item()],
    () => ['CMS.INITBYDIM', counts(), '20', '3'],
    () => ['CMS.INCRBY', counts(), ...counted()],
    () => ['CMS.MERGE', counts(), '2', counts(), counts(), ...dice.maybe(() => ['WEIGHTS', '1', '2'])],
    () => ['TOPK.RESERVE', 'top', '4', '5', '2', '0.8'],
    () => ['TOPK.ADD', 'top', ...many()],
    () => ['TOPK.INCRBY', 'top', ...counted()],
    () => ['TDIGEST.CREATE', digest(), 'COMPRESSION', dice.pick(['1', '2', '10'])],
    () => ['TDIGEST.ADD', digest(), ...dice.some(value, 20)],
    () => ['TDIGEST.MERGE', digest(), '1', digest(), ...dice.maybe(() => ['OVERRIDE'])],
    () => ['TDIGEST.QUANTILE', digest(), '0.5', '0.9'],
    () => ['TDIGEST.RESET', digest()],
    () => ['COPY', dice.pick(SKETCH_KEYS), dice.pick(SKETCH_KEYS), 'REPLACE'],
    () => ['DUMP', dice.pick(SKETCH_KEYS)],
    () => [dice.pick(['DEL', 'PERSIST']), dice.pick(SKETCH_KEYS)],
    () => ['EXPIRE', dice.pick(SKETCH_KEYS), String(dice.ahead())],
  ];
};
