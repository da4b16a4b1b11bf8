/** HyperLogLog commands, and the stored bytes, which must equal those of Redis. */
import type { Program } from './dice.js';

export const HYPERLOGLOG_PROGRAM: Program = (dice) => {
  const key = () => dice.pick(['h1', 'h2', 'h3', 'h4', 'text', 'none', 'list']);
  const element = () =>
    dice.pick([`e${dice.below(5000)}`, '', `\xff${'y'.repeat(dice.below(30))}`, String(dice.below(1000))]);
  return [
    () => ['PFADD', key(), ...dice.some(element, 6)],
    () => ['PFADD', key()],
    () => ['PFADD', 'h1', ...Array.from({ length: 100 }, element)],
    () => ['PFADD', 'h2', ...Array.from({ length: 30 }, element)],
    () => ['PFMERGE', key(), key(), ...dice.maybe(() => [key()])],
    () => ['PFMERGE', dice.pick(['h3', 'h4']), ...dice.maybe(() => [key()])],
    // For one key Redis stores the estimate in the value; for two it does not.
    () => ['PFCOUNT', key(), 'none'],
    () => ['PFCOUNT', key(), key(), key()],
    () => ['GET', dice.pick(['h1', 'h2', 'h3', 'h4'])],
    () => ['SET', 'text', dice.pick(['foo', '12', '', 'HYLL'])],
    () => ['RPUSH', 'list', 'x'],
    () => ['PEXPIRE', key(), String(dice.ahead() * 1000)],
    () => ['DEL', dice.pick(['h1', 'h2', 'h3', 'h4'])],
  ];
};
