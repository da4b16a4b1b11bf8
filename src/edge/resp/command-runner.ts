/**
 * Judges one client's commands, in Redis's order: known, of right arity, signed in, permitted, allowed where the
 * connection is; and runs those that may run, at the connection, at an edge or at a partition.
 *
 * Invariants
 *  RCR1 nothing runs under a grant that is not current, or while the database is closed to this client; who listens to
 *       what it does not allow is ended before anything more is told
 *  RCR2 a client that waits at an owner is given up there when it goes
 *  RCR3 of commands of one row that are taken one after the other without a pause only the first is judged: all that is
 *       asked of client and row is the same for the others, and nothing but a command of another row changes it
 */
import {
  admit,
  type CommandSpec,
  ERRORS,
  ErrorReply,
  keysOf,
  PermissionDenied,
  type Reply,
  requestTooLarge,
  SimpleString,
} from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { bytesOfWords, closureOf, sizeProblem } from '../commands/admission.js';
import { denialOf, mayRunWhatever } from '../commands/permissions.js';
import type { RespBatch } from './command-batch.js';
import { clientLine } from './commands/client-line.js';
import { CONNECTION_COMMANDS, type CommandAnswer, InPieces, Several } from './commands/index.js';
import { hearsForbidden } from './listening-rights.js';
import { NO_MEMORY } from './memory-refusals.js';
import type { QueuedTransaction, RespClient } from './resp-client.js';
import type { RespFace } from './resp-face.js';
import { MAX_RESP_KEY_BYTES } from './resp-limits.js';
import { trackReads } from './tracked-reads.js';

export type SettledOutcome =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'bytes'; readonly bytes: ByteString }
  | { readonly kind: 'silent' };

export type Outcome =
  | SettledOutcome
  /** Waits in the batch. */
  | { readonly kind: 'batched' }
  /** It has to be taken again when all in front of it has been answered. */
  | { readonly kind: 'cut' }
  /** Answers, or the bytes of them, or of one. */
  | { readonly kind: 'later'; readonly answers: Promise<readonly Reply[] | ByteString | InPieces> };

const BATCHED: Outcome = { kind: 'batched' };
const CUT: Outcome = { kind: 'cut' };
const SILENT: SettledOutcome = { kind: 'silent' };

/** What a queued command, and each of its words, costs beside its bytes. */
const QUEUED_COMMAND_BYTES = 96;
const QUEUED_WORD_BYTES = 32;

const QUEUED = new SimpleString('QUEUED');
const NOT_SIGNED_IN = new ErrorReply('NOAUTH Authentication required.');
const NOT_IN_TRANSACTION = new ErrorReply('ERR Command not allowed inside a transaction');
const TRANSACTION_TOO_LARGE = new ErrorReply('ERR transaction exceeds the maximum number of commands or bytes');

export class ClientCommandRunner {
  /** Whether the grant is current cannot be told. */
  #doubt: ErrorReply | undefined;
  /** The row of the command before, where all of that row go the same way whatever their words. (RCR3) */
  #alike: CommandSpec | undefined;

  constructor(
    private readonly face: RespFace,
    private readonly client: RespClient,
  ) {}

  /** Nobody knows right now what the client may do. */
  get isInDoubt(): boolean {
    return this.#doubt !== undefined;
  }

  /** Ends the connection of one who may do nothing any more, or not hear what it listens to. (RCR1) */
  checkGrant(): void {
    const { client } = this;
    const { access } = this.face.parts;
    this.#doubt = undefined;
    this.#alike = undefined;
    if (client.grant === undefined) {
      // Nobody can sign in right now; in a moment somebody can.
      if (this.face.parts.freshness?.isFresh === false) this.#doubt = NOT_SIGNED_IN;
      return;
    }
    try {
      if (access.isCurrent(client.grant)) return;
      const renewed = access.renewed?.(client.grant);
      if (renewed === undefined) client.link.cut('revoked');
      else this.#renew(renewed);
    } catch (failure) {
      this.#doubt = new ErrorReply(this.face.failureText(failure));
    }
  }

  #renew(grant: KvGrant): void {
    const { client } = this;
    const before = client.grant as KvGrant;
    client.grant = grant;
    if (hearsForbidden(client, before)) client.link.cut('revoked');
    const closure = closureOf(grant, () => client.link.remoteAddress);
    if (closure !== undefined) client.closure = new ErrorReply(closure.text);
  }

  /** @param isBehind have commands in front of the batch not been answered? */
  take(words: readonly ByteString[], batch: RespBatch, isBehind: boolean): Outcome {
    const { client } = this;
    const spec = admit(words);
    if (spec === this.#alike && this.#addAlike(spec, words, batch)) return BATCHED;
    this.#alike = undefined;
    if (spec instanceof ErrorReply) return this.#refuse(isExec(words) ? this.#abort(spec) : spec);
    const problem = this.#problemOf(spec, words);
    if (problem !== undefined) return this.#refuse(problem);
    const own = CONNECTION_COMMANDS.get(spec.name);
    const { transaction } = client;
    if (transaction !== undefined && own?.isDoneInTransaction !== true) return this.#queue(transaction, spec, words);
    if (own === undefined) return this.#takeOrdinary(client.grant as KvGrant, spec, words, batch, isBehind);
    if (!own.isIndependent && (isBehind || !batch.isUnused)) return CUT;
    client.lastCommand = spec.name;
    const isSilent = own.leavesSilence !== true && this.#takesSilence() && own.isAlwaysHeard !== true;
    return this.#outcomeOf(own.run(client, words), isSilent);
  }

  oversized(bytes: number): SettledOutcome {
    return this.#refuse(requestTooLarge(this.client.grant?.limits.maxCommandBytes ?? 0, bytes));
  }

  /** What is left of one that was answered in part; as it stands when the client may do nothing any more. (RCR1) */
  runRest(batch: RespBatch): Promise<readonly Reply[]> {
    const { client } = this;
    this.checkGrant();
    const problem = this.#doubt ?? client.closure;
    if (problem === undefined) return client.calls.runRest(client.grant as KvGrant, batch);
    batch.hasRest = false;
    return Promise.resolve(batch.answers(batch.commands.map(() => problem)));
  }

  /** Why it may not run at all; undefined if it may. */
  #problemOf(spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
    const { client } = this;
    const { grant } = client;
    if (spec.isBeforeAuth === true) return undefined;
    if (grant === undefined) return NOT_SIGNED_IN;
    if (this.#doubt !== undefined) return this.#doubt;
    if (client.closure !== undefined) return client.closure;
    if (client.astray !== undefined && spec.family !== 'connection') return client.astray;
    const denial = denialOf(grant, spec, words);
    if (denial !== undefined) {
      if (denial instanceof PermissionDenied) this.#noteDenial(grant, denial);
      return denial;
    }
    if (client.protocol === 2 && client.isSubscriber && spec.mayFollowSubscribe !== true) {
      return notWhileSubscribed(spec.name);
    }
    return undefined;
  }

  #noteDenial({ database }: KvGrant, denial: PermissionDenied): void {
    const { client } = this;
    const context = client.transaction === undefined ? 'toplevel' : 'multi';
    this.face.parts.acl?.noteDenied(database, denial, clientLine(client), context);
  }

  #queue(transaction: QueuedTransaction, spec: CommandSpec, words: readonly ByteString[]): Outcome {
    const own = CONNECTION_COMMANDS.get(spec.name);
    const isOfEdge = spec.family === 'acl';
    if (isOfEdge || spec.flags.includes('nomulti') || (own !== undefined && !own.isQueueable)) {
      return this.#refuse(NOT_IN_TRANSACTION);
    }
    const { maxQueuedBytes, maxQueuedCommands } = this.face.parts.limits;
    const bytes = bytesOfWords(words);
    const grant = this.client.grant as KvGrant;
    const problem = sizeProblem(grant, spec, words, bytes, MAX_RESP_KEY_BYTES);
    if (problem !== undefined) return this.#refuse(problem);
    if (spec.mayGrow === true && this.face.fullDatabases.has(grant.database)) {
      return this.#refuse(ERRORS.databaseFull);
    }
    if (transaction.queued.length >= maxQueuedCommands || transaction.bytes + bytes > maxQueuedBytes) {
      return this.#refuse(TRANSACTION_TOO_LARGE);
    }
    // A transaction that will not run keeps nothing, as in Redis.
    if (!transaction.isBroken && !this.#keep(transaction, spec, words, bytes)) return this.#refuse(NO_MEMORY);
    return this.#takesSilence() ? SILENT : { kind: 'reply', reply: QUEUED };
  }

  /** @returns is there room for it? If not, what was queued before is let go: it will not run. */
  #keep(transaction: QueuedTransaction, spec: CommandSpec, words: readonly ByteString[], bytes: number): boolean {
    const heldBytes = bytes + QUEUED_COMMAND_BYTES + words.length * QUEUED_WORD_BYTES;
    if (!this.client.link.mayHold(heldBytes)) {
      transaction.queued.length = 0;
      transaction.bytes = 0;
      transaction.heldBytes = 0;
      return false;
    }
    transaction.queued.push({ spec, words });
    transaction.bytes += bytes;
    transaction.heldBytes += heldBytes;
    return true;
  }

  #takeOrdinary(
    grant: KvGrant,
    spec: CommandSpec,
    words: readonly ByteString[],
    batch: RespBatch,
    isBehind: boolean,
  ): Outcome {
    const { client } = this;
    const bytes = bytesOfWords(words);
    const problem = sizeProblem(grant, spec, words, bytes, MAX_RESP_KEY_BYTES);
    if (problem !== undefined) return this.#refuse(problem);
    client.lastCommand = spec.name;
    if (spec.isBlocking === true) {
      if (isBehind || !batch.isUnused) return CUT;
      const isSilent = this.#takesSilence();
      return this.#outcomeOf(this.client.calls.runBlocking(grant, spec, words, bytes), isSilent);
    }
    const { acl } = this.face.parts;
    if (acl !== undefined && spec.family === 'acl') {
      if (isBehind || !batch.isUnused) return CUT;
      const answer = acl.run(grant, spec, words, client);
      if (answer !== undefined) return this.#outcomeOf(answer, this.#takesSilence());
    }
    batch.add(spec, words, bytes);
    if (client.replies !== 'on' || client.tracking !== undefined) {
      if (this.#takesSilence()) batch.silenceLast();
      this.#track(grant, spec, words, batch);
    } else if (spec.family !== 'acl' && mayRunWhatever(grant)) this.#alike = spec;
    return BATCHED;
  }

  /** RCR3. False: it is to be judged by itself. */
  #addAlike(spec: CommandSpec, words: readonly ByteString[], batch: RespBatch): boolean {
    const bytes = bytesOfWords(words);
    if (bytes > MAX_RESP_KEY_BYTES || bytes > (this.client.grant as KvGrant).limits.maxCommandBytes) return false;
    batch.add(spec, words, bytes);
    return true;
  }

  #track(grant: KvGrant, spec: CommandSpec, words: readonly ByteString[], batch: RespBatch): void {
    const fresh = trackReads(this.client, grant, spec, words);
    if (fresh === undefined) return;
    batch.isTracked = true;
    if (spec.runsScript === true) for (const key of fresh) batch.scriptKeys.add(key);
    else for (const key of keysOf(spec, words)) batch.scriptKeys.delete(key);
  }

  #outcomeOf(answer: CommandAnswer | Promise<CommandAnswer>, isSilent: boolean): Outcome {
    if (answer instanceof Promise) {
      const answers = answer.then(
        (settled) => (isSilent ? '' : this.#bytesOrReplies(settled)),
        (failure: unknown) => [new ErrorReply(this.face.failureText(failure))],
      );
      return { kind: 'later', answers };
    }
    if (isSilent || answer === undefined) return SILENT;
    if (answer instanceof InPieces) return { kind: 'later', answers: Promise.resolve(answer) };
    return answer instanceof Several ? { kind: 'bytes', bytes: answer.bytes } : { kind: 'reply', reply: answer };
  }

  #bytesOrReplies(answer: CommandAnswer): readonly Reply[] | ByteString | InPieces {
    if (answer === undefined) return '';
    if (answer instanceof InPieces) return answer;
    return answer instanceof Several ? answer.bytes : [answer];
  }

  #refuse(reply: ErrorReply): SettledOutcome {
    const { client } = this;
    this.face.refused.add();
    if (client.transaction !== undefined) client.transaction.isBroken = true;
    return this.#takesSilence() ? SILENT : { kind: 'reply', reply };
  }

  /** An EXEC that is itself wrong ends what it was to run. */
  #abort(problem: ErrorReply): ErrorReply {
    this.client.transaction = undefined;
    this.client.unwatch();
    return new ErrorReply(`EXECABORT Transaction discarded because of: ${problem.text.replace(/^ERR /, '')}`);
  }

  /** Is this command's answer not to be sent? Uses up CLIENT REPLY SKIP. */
  #takesSilence(): boolean {
    const { client } = this;
    if (client.replies === 'on') return false;
    if (client.replies === 'skip-next') client.replies = 'on';
    return true;
  }
}

function isExec([name = '']: readonly ByteString[]): boolean {
  return name.length === 4 && name.toUpperCase() === 'EXEC';
}

function notWhileSubscribed(name: string): ErrorReply {
  const shown = name.toLowerCase().replace(' ', '|');
  const allowed = '(P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET';
  return new ErrorReply(`ERR Can't execute '${shown}': only ${allowed} are allowed in this context`);
}
