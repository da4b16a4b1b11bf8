/**
 * The log for a person at a terminal: what went wrong, in colour, and the few facts that a start is worth. What programs
 * read is the same log as lines of JSON (`adapters/node/json-log.ts`).
 */
import type { LineWriter } from '../adapters/node/index.js';
import { type Colour, paint } from './paint.js';

const COLOURS: Readonly<Record<string, Colour>> = { debug: 'grey', info: 'cyan', warn: 'yellow', error: 'red' };
/** Of everything that is as it should be, what a person is told. */
const WORTH_SAYING = new Set(['nats-server.found', 'process.ready']);
const TIME = { begin: 11, end: 19 } as const;

/** @param tellsAll nothing is left out: somebody asked for debugging */
export function humanLines(stream: NodeJS.WriteStream, tellsAll: boolean): LineWriter {
  return (line) => {
    const { time, level, event, ...fields } = JSON.parse(line) as Record<'time' | 'level' | 'event', string>;
    const isTold = tellsAll || level === 'warn' || level === 'error' || WORTH_SAYING.has(event);
    if (isTold) {
      const at = paint(stream, 'grey', time.slice(TIME.begin, TIME.end));
      const words = Object.entries(fields).map(([name, value]) => `${name}=${wordOf(value)}`);
      stream.write(
        `${at} ${paint(stream, COLOURS[level] ?? 'bold', level.padEnd(5))} ${[event, ...words].join(' ')}\n`,
      );
    }
    return true;
  };
}

function wordOf(value: unknown): string {
  return typeof value === 'string' && /^[\w@%+=:,./-]+$/.test(value) ? value : JSON.stringify(value);
}
