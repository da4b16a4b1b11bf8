/** Ids of runs that the server names itself. */
import { createHash } from 'node:crypto';
import type { Random, RunId } from '../../../kernel/index.js';

const PREFIX = 'wfr_';
const CHARACTERS = 21;
/** 126 bits. */
const BYTES = 16;

export function newRunId(random: Random): RunId {
  return named(random.bytes(BYTES));
}

/** It names those that one call starts: the first is `first` itself, and asked again it names the same ones. */
export function runIdAt(first: RunId, index: number): RunId {
  return index === 0 ? first : named(createHash('sha256').update(`${first} ${index}`, 'utf8').digest());
}

function named(bytes: Uint8Array): RunId {
  return `${PREFIX}${Buffer.from(bytes).toString('base64url').slice(0, CHARACTERS)}` as RunId;
}
