/** The output options of `serve`, `dev` and `demo`. */
import { Option } from 'commander';
import type { ParsedArguments } from './parser.js';

export function logOption(): Option {
  return new Option('--log <format>', 'human or json (human on a terminal)').choices(['human', 'json']);
}

export function openOption(): Option {
  return new Option('--open', 'opens the console in the browser');
}

/** On a terminal the output is for a person, unless an option says otherwise. */
export function isHuman({ options: { log } }: ParsedArguments): boolean {
  return log === undefined ? process.stderr.isTTY === true && process.stdout.isTTY === true : log === 'human';
}
