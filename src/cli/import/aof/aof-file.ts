/** Reads the commands of an append-only file in order, each with its offset. Memory is bounded by one command. */
import type { ByteString } from '../../../kernel/index.js';
import type { FileBytes } from '../file-bytes.js';

const STAR = 0x2a;
const DOLLAR = 0x24;
/** Starts a line with the time of the following commands. */
const HASH = 0x23;
const CR = 0x0d;
const LF = 0x0a;
/** The same as for a client's command. */
const MOST_WORDS = 1024 * 1024;
const MOST_WORD_BYTES = 512 * 1024 * 1024;
/** The longest line with a length or an annotation. */
const MOST_LINE_BYTES = 1024;

export interface AofCommand {
  readonly offset: number;
  readonly words: readonly ByteString[];
}

export function isAof([first]: Buffer): boolean {
  return first === undefined || first === STAR || first === HASH;
}

/** @throws EndsTooSoon within the last command; DamagedFile */
export function* readAof(input: FileBytes): Generator<AofCommand> {
  while (!input.isAtEnd) {
    const { offset } = input;
    if (input.peek() === HASH) {
      readLine(input);
      continue;
    }
    const count = readCount(input, STAR, MOST_WORDS);
    const words: ByteString[] = [];
    for (let at = 0; at < count; at += 1) {
      words.push(input.text(readCount(input, DOLLAR, MOST_WORD_BYTES)));
      if (input.byte() !== CR || input.byte() !== LF) throw input.damage('an argument is longer than its length field');
    }
    if (count > 0) yield { offset, words };
  }
}

function readCount(input: FileBytes, mark: number, most: number): number {
  if (input.byte() !== mark) throw input.damage(`"${String.fromCharCode(mark)}" is missing`);
  const line = readLine(input);
  const count = Number(line);
  if (!/^\d{1,10}$/.test(line) || count > most)
    throw input.damage('the count is missing or above the limit of a server');
  return count;
}

function readLine(input: FileBytes): string {
  let line = '';
  for (;;) {
    const byte = input.byte();
    if (byte === LF) return line;
    if (byte !== CR) line += String.fromCharCode(byte);
    if (line.length > MOST_LINE_BYTES) throw input.damage('the line has no end');
  }
}
