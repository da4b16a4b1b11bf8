/**
 * MULTI, EXEC, DISCARD, WATCH and UNWATCH.
 *
 *  TX1 queued commands run in one step of one partition, or not at all
 *  TX2 commands about the connection run after the others, and their answers stand in their places
 *  TX3 EXEC and DISCARD end every watch, also when they fail
 */
import { encodeInPieces, type RespVersion } from '../../../codec/resp/index.js';
import {
  type CommandSpec,
  ERRORS,
  ErrorReply,
  findCommand,
  NIL_ARRAY,
  OK,
  PermissionDenied,
  type Reply,
} from '../../../domain/kv/index.js';
import type { ByteString, PartitionName } from '../../../kernel/index.js';
import type { KvGrant } from '../../../ports/index.js';
import { bytesOfWords } from '../../commands/admission.js';
import { denialOf } from '../../commands/permissions.js';
import { type ClientWatch, namesBytes, type QueuedCommand } from '../client-state.js';
import { NO_MEMORY } from '../memory-refusals.js';
import type { RespClient } from '../resp-client.js';
import { trackReads } from '../tracked-reads.js';
import { clientLine } from './client-line.js';
import { type CommandAnswer, type ConnectionCommand, InPieces, Several } from './connection-command.js';
import { withFields } from './field-sets.js';

const NESTED = new ErrorReply('ERR MULTI calls can not be nested');
const NO_EXEC = new ErrorReply('ERR EXEC without MULTI');
const NO_DISCARD = new ErrorReply('ERR DISCARD without MULTI');
const BROKEN = new ErrorReply('EXECABORT Transaction discarded because of previous errors.');
const NO_WATCH = new ErrorReply('ERR WATCH inside MULTI is not allowed');
/** Short answers are joined into pieces of this size. */
const GATHERED_BYTES = 64 * 1024;
/** Sent if only the watches have to be checked. */
const NOTHING: readonly ByteString[] = ['PING'];

type FindOwn = (name: string) => ConnectionCommand | undefined;

function multi(client: RespClient): Reply {
  if (client.transaction !== undefined) return NESTED;
  client.transaction = { queued: [], bytes: 0, heldBytes: 0, isBroken: false };
  return OK;
}

function discard(client: RespClient): Reply {
  if (client.transaction === undefined) return NO_DISCARD;
  client.transaction = undefined;
  client.unwatch();
  return OK;
}

function unwatch(client: RespClient): Reply {
  client.unwatch();
  return OK;
}

/** WATCH key … → OK. */
async function watch(client: RespClient, words: readonly ByteString[]): Promise<CommandAnswer> {
  if (client.transaction !== undefined) return NO_WATCH;
  const grant = client.grant as KvGrant;
  const { router, parts } = client.endpoint;
  const { maxWatchedKeys } = parts.limits;
  const watched = client.watches.reduce((count, { keys }) => count + keys.length, 0);
  if (watched + words.length - 1 > maxWatchedKeys) {
    return new ErrorReply(`ERR too many watched keys. Limit: ${maxWatchedKeys}`);
  }
  if (!client.link.mayHold(namesBytes(words))) return NO_MEMORY;
  try {
    return await watchAt(client, grant, words);
  } catch (failure) {
    return router.again(failure, grant, (present) => watchAt(client, present, words));
  }
}

async function watchAt(client: RespClient, grant: KvGrant, words: readonly ByteString[]): Promise<CommandAnswer> {
  const { router, parts } = client.endpoint;
  const marks: ClientWatch[] = [];
  const spec = findCommand(['WATCH']) as CommandSpec;
  const keysByPartition = new Map<PartitionName, ByteString[]>();
  for (const key of words.slice(1)) {
    const partition = router.partitionOf(grant, { specs: [spec], commands: [['WATCH', key]], bytes: 0 });
    const keys = keysByPartition.get(partition);
    if (keys === undefined) keysByPartition.set(partition, [key]);
    else keys.push(key);
  }
  for (const [partition, keys] of keysByPartition) {
    const { replies } = await parts.gateway.execute({
      database: grant.database,
      partition,
      mode: 'watch',
      commands: [['WATCH', ...keys]],
      bytes: bytesOfWords(keys),
      client: client.identity,
    });
    const [mark] = replies;
    if (mark instanceof ErrorReply) return mark;
    marks.push({ partition, keys, mark: mark as ByteString });
  }
  for (const mark of marks) client.watch(mark);
  return OK;
}

/** EXEC → the replies; null if a watched key has changed. */
function exec(client: RespClient, findOwn: FindOwn): CommandAnswer | Promise<CommandAnswer> {
  const { transaction, watches } = client;
  if (transaction === undefined) return NO_EXEC;
  client.transaction = undefined;
  client.unwatch();
  if (transaction.isBroken) return discardBroken(client);
  const { queued } = transaction;
  if (watches.length === 0 && queued.every(({ spec }) => findOwn(spec.name) !== undefined)) {
    return answerAll(client, queued, findOwn, () => OK);
  }
  client.executingBytes = transaction.heldBytes;
  return execAtPartition(client, queued, watches, findOwn).finally(() => {
    client.executingBytes = 0;
  });
}

/** Tells the owner that a transaction began and ended, for clients in MONITOR. */
async function discardBroken(client: RespClient): Promise<CommandAnswer> {
  const grant = client.grant as KvGrant;
  const nothing = { specs: [], commands: [], bytes: 0 };
  const home = client.endpoint.router.partitionOf(grant, nothing);
  // The transaction is discarded even if this fails.
  await client.calls.runTransaction(grant, home, nothing, [], false).catch(() => undefined);
  return BROKEN;
}

async function execAtPartition(
  client: RespClient,
  queued: readonly QueuedCommand[],
  watches: readonly ClientWatch[],
  findOwn: FindOwn,
): Promise<CommandAnswer> {
  const grant = client.grant as KvGrant;
  const specs: CommandSpec[] = [];
  const commands: (readonly ByteString[])[] = [];
  const settled = new Map<QueuedCommand, CommandAnswer>();
  const fieldSets = queued.some(({ spec }) => findOwn(spec.name)?.isBeforeOthers) ? client.fieldSets.copy() : undefined;
  let bytes = 0;
  let isTracked = false;
  for (const command of queued) {
    const own = findOwn(command.spec.name);
    if (own?.isBeforeOthers === true) settled.set(command, await own.run(client, command.words));
    if (own !== undefined) continue;
    // The user's rules may have changed since the command was queued.
    const refusal = denialOf(grant, command.spec, command.words);
    if (refusal !== undefined) {
      if (refusal instanceof PermissionDenied) {
        client.endpoint.parts.acl?.noteDenied(grant.database, refusal, clientLine(client), 'multi');
      }
      settled.set(command, refusal);
      continue;
    }
    const sent = withFields(client, command.spec, command.words);
    if (sent instanceof ErrorReply) {
      settled.set(command, sent);
      continue;
    }
    const { spec, words } = sent;
    specs.push(spec);
    commands.push(words);
    bytes += bytesOfWords(words);
    if (trackReads(client, grant, spec, words, 'in-transaction') !== undefined) isTracked = true;
  }
  if (client.tracking !== undefined) client.tracking.caching = undefined;
  if (commands.length === 0) {
    specs.push(findCommand(NOTHING) as CommandSpec);
    commands.push(NOTHING);
  }
  const admitted = { specs, commands, bytes };
  const { router } = client.endpoint;
  const problem = router.transactionProblem(grant, admitted);
  if (problem !== undefined) return problem;
  const hasKeys = specs.some(({ keys }) => keys.kind !== 'none');
  const home = (hasKeys ? undefined : watches[0]?.partition) ?? router.partitionOf(grant, admitted);
  // A key of a layout that was changed counts as changed.
  if (watches.some(({ partition }) => !grant.partitions.includes(partition))) return NIL_ARRAY;
  if (watches.some((watched) => watched.partition !== home)) return ERRORS.crossSlot;
  const { replies, isAborted } = await client.calls.runTransaction(grant, home, admitted, watches, isTracked);
  if (isAborted === true) {
    if (fieldSets !== undefined) client.fieldSets = fieldSets;
    return replies[0] ?? NIL_ARRAY;
  }
  let next = 0;
  const replyTo = () => replies[next++] as Reply;
  return answerAll(client, queued, findOwn, replyTo, settled);
}

/** @param replyTo returns the partition's replies in order. @param settled answers that are known already */
async function answerAll(
  client: RespClient,
  queued: readonly QueuedCommand[],
  findOwn: FindOwn,
  replyTo: () => Reply,
  settled: ReadonlyMap<QueuedCommand, CommandAnswer> = new Map(),
): Promise<CommandAnswer> {
  const answers: CommandAnswer[] = [];
  for (const command of queued) {
    const own = findOwn(command.spec.name);
    if (settled.has(command)) answers.push(settled.get(command));
    else if (own === undefined) answers.push(replyTo());
    else {
      const run = () => own.run(client, command.words);
      answers.push(own.inTransaction ?? (await client.endpoint.slowNotes.timed(client, command.words, run)));
    }
  }
  return inOneArray(answers, client.protocol);
}

/** Confirmations of a command with several take several places in the array, as in Redis. */
function inOneArray(answers: readonly CommandAnswer[], protocol: RespVersion): CommandAnswer {
  if (!answers.some((answer) => answer instanceof Several)) return answers as Reply[];
  return new InPieces(piecesOf(answers, protocol));
}

function* piecesOf(answers: readonly CommandAnswer[], protocol: RespVersion): IterableIterator<ByteString> {
  let gathered = `*${answers.length}\r\n`;
  for (const answer of answers) {
    const pieces = answer instanceof Several ? [answer.bytes] : encodeInPieces(answer as Reply, protocol);
    for (const piece of pieces) {
      gathered += piece;
      if (gathered.length <= GATHERED_BYTES) continue;
      yield gathered;
      gathered = '';
    }
  }
  yield gathered;
}

export function transactionCommands(findOwn: FindOwn): Readonly<Record<string, ConnectionCommand>> {
  return {
    MULTI: { run: multi, isIndependent: true, isDoneInTransaction: true },
    EXEC: { run: (client) => exec(client, findOwn), isDoneInTransaction: true },
    DISCARD: { run: discard, isDoneInTransaction: true },
    WATCH: { run: watch, isDoneInTransaction: true },
    UNWATCH: { run: unwatch, isQueueable: true },
  };
}
