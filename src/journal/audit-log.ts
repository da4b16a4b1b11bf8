/**
 * Verifies a log with many writers (the meter's). It has no chain, so the check is that positions have no gap and that
 * each record can be read.
 */
import { describeError, type ShardName } from '../kernel/index.js';
import { type AuditOptions, inOrder } from './audit.js';
import { type Finding, newerFinding } from './audit-chain.js';
import { gapReason, type ReadableJournal, readWithGaps } from './audit-reading.js';

export interface LogAudit {
  readonly shard: ShardName;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly records: number;
  readonly findings: readonly Finding[];
}

const MAX_FINDINGS = 100;

/**
 * @param decode  throws for bytes that are no record
 * @throws JOURNAL_UNAVAILABLE, SHUTTING_DOWN when aborted; damage is reported, not thrown
 */
export async function verifyLog(
  journal: ReadableJournal,
  shard: ShardName,
  decode: (bytes: Uint8Array) => unknown,
  { signal, onProgress }: Pick<AuditOptions, 'signal' | 'onProgress'> = {},
): Promise<LogAudit> {
  const { first, last, holes } = await journal.tail(shard);
  const findings: Finding[] = [];
  let records = 0;
  let missing = 0;
  const reading = {
    signal,
    onProgress: (done: number, total: number) => onProgress?.({ shard, phase: 'entries', done, total }),
  };
  for await (const step of readWithGaps(journal, shard, { first, last }, reading)) {
    if (step.kind === 'gap') {
      findings.push({ reason: gapReason(step.from, step.to), position: step.from });
      missing += step.to - step.from + 1;
    } else {
      const problem = problemOf(decode, step.message.bytes);
      if (problem === undefined) records += 1;
      else findings.push({ ...problem, position: step.message.position });
    }
    if (findings.length >= MAX_FINDINGS) break;
  }
  if (holes > missing) findings.push({ reason: `${holes} messages are missing in the middle` });
  return { shard, firstPosition: first, lastPosition: last, records, findings: inOrder(findings) };
}

function problemOf(decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array): Finding | undefined {
  try {
    decode(bytes);
    return undefined;
  } catch (error) {
    return { reason: `not a record: ${describeError(error)}`, ...newerFinding(error) };
  }
}
