/** `millrace journal checkpoint`, and reading a checkpoint: the state of all shards, signed, in a file. */
import { createPublicKey } from 'node:crypto';
import {
  type CheckpointStatement,
  checkpointOf,
  fingerprintOf,
  readCheckpoint,
  requireComplete,
  type ShardCheckpoint,
  signCheckpoint,
} from '../journal/index.js';
import { MillraceError } from '../kernel/index.js';
import { type JournalCommandDeps, type Tell, teller } from './journal-deps.js';
import type { QuestionOf } from './journal-question.js';

/** @throws JOURNAL_DAMAGED if a journal is damaged; CONFLICT if the file exists */
export async function takeCheckpoint(
  deps: JournalCommandDeps,
  { file, asJson }: QuestionOf<'checkpoint'>,
): Promise<void> {
  const { checkpoints, clock } = deps;
  const shards: ShardCheckpoint[] = [];
  for (const shard of deps.shards) {
    if (deps.signal.aborted) throw new MillraceError('SHUTTING_DOWN', 'interrupted: no checkpoint was written');
    await requireComplete(deps, shard);
    shards.push(await checkpointOf(deps, shard));
  }
  const { clusterId } = checkpoints;
  const statement: CheckpointStatement = { clusterId, takenAt: new Date(clock.nowMs()).toISOString(), shards };
  const key = await checkpoints.signingKey();
  await checkpoints.writeFile(file, signCheckpoint(statement, key));
  const fingerprint = fingerprintOf(createPublicKey(key).export({ type: 'spki', format: 'der' }));
  const lines = shards.map(
    ({ shard, number, position, hash }) =>
      `${shard}: entry ${number} at position ${position}${number === 0 ? '' : ` has hash ${hash}`}\n`,
  );
  const text = `${lines.join('')}wrote ${file}, signed with key ${fingerprint}\n`;
  await teller(deps, asJson)({ file, fingerprint, ...statement }, text);
}

export interface OpenedCheckpoint {
  readonly statement: CheckpointStatement;
  /** Problems of the checkpoint as a whole, one line each. */
  readonly problems: readonly string[];
}

/**
 * Reads a checkpoint, and reports its signer.
 * @param signedBy  the required fingerprint
 * @throws INVALID if it is not a checkpoint or was changed, NOT_FOUND
 */
export async function openCheckpoint(
  { checkpoints }: JournalCommandDeps,
  { file, signedBy }: { readonly file: string; readonly signedBy: string | undefined },
  tell: Tell,
): Promise<OpenedCheckpoint> {
  const { statement, fingerprint } = readCheckpoint(await checkpoints.readFile(file));
  const own = await checkpoints.fingerprint();
  const signer =
    fingerprint === own
      ? "this installation's"
      : 'not the key of this installation: compare it with the fingerprint that you kept';
  const { takenAt } = statement;
  const text = `checkpoint of ${takenAt}, signed with key ${fingerprint}, ${signer}\n`;
  await tell({ checkpoint: takenAt, fingerprint, isOwnKey: fingerprint === own }, text);
  const problems: string[] = [];
  if (signedBy !== undefined && signedBy.toLowerCase() !== fingerprint) {
    problems.push(`the checkpoint: signed with key ${fingerprint}, not with ${signedBy}`);
  }
  if (statement.clusterId !== checkpoints.clusterId) {
    problems.push(`the checkpoint: of installation ${statement.clusterId}, this is ${checkpoints.clusterId}`);
  }
  return { statement, problems };
}
