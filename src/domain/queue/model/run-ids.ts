/** Run ids made by the server. */
import { createHash } from 'node:crypto';
import type { Random, RunId, SessionId } from '../../../kernel/index.js';

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

/** `wft.<process>.<21 characters>`: a run that exists only in the process that checks an endpoint. */
const TRIAL = /^wft\.([A-Za-z0-9_-]{1,128})\.[A-Za-z0-9_-]{21}$/;

/** @param process that gets the endpoint's requests */
export function trialRunId(process: SessionId, random: Random): RunId {
  return `wft.${process}.${newRunId(random).slice(PREFIX.length)}` as RunId;
}

/** Undefined: it is not the id of a trial run. */
export function processOfTrial(runId: string): SessionId | undefined {
  return TRIAL.exec(runId)?.[1] as SessionId | undefined;
}

function named(bytes: Uint8Array): RunId {
  return `${PREFIX}${Buffer.from(bytes).toString('base64url').slice(0, CHARACTERS)}` as RunId;
}
