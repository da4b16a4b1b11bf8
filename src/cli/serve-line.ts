/** What the words of `serve`, `dev` and `demo` say about their output. */
import { Option } from 'commander';
import type { Asked } from './parser.js';

export function logOption(): Option {
  return new Option('--log <format>', 'human or json (human on a terminal)').choices(['human', 'json']);
}

/** On a terminal a person reads along, unless told otherwise. */
export function isHuman({ options: { log } }: Asked): boolean {
  return log === undefined ? process.stderr.isTTY === true && process.stdout.isTTY === true : log === 'human';
}
