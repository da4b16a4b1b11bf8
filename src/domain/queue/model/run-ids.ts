/** Run ids made by the server. */
import { createHash } from 'node:crypto';
import type { Random, RunId } from '../../../kernel/index.js';

/** The header that names a run. */
export const RUN_ID = 'svc-workflow-runid';

const PREFIX = 'wfr_';
const CHARACTERS = 21;
/** 126 bits are used. */
const BYTES = 16;

export function newRunId(random: Random): RunId {
  return named(random.bytes(BYTES));
}

/** Ids of the runs that one call starts; index 0 is `first` itself, so a repeated call names the same runs. */
export function runIdAt(first: RunId, index: number): RunId {
  return index === 0 ? first : named(createHash('sha256').update(`${first} ${index}`, 'utf8').digest());
}

function named(bytes: Uint8Array): RunId {
  return `${PREFIX}${Buffer.from(bytes).toString('base64url').slice(0, CHARACTERS)}` as RunId;
}
