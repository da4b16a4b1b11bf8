/**
 * Checks one client's commands in Redis's order (known, number of words, signed in, permitted, allowed in this state
 * of the connection), and runs them at the connection, in this process or at a partition.
 *
 *  RCR1 no command runs under an outdated grant, or while the database is closed to the client's address; a client
 *       that listens to something it may no longer hear is disconnected before its next message
 *  RCR2 a disconnected client is removed from the waiters at its owner
 *  RCR3 of several commands with the same row in one slice, only the first is checked: client and row give the same
 *       result for the others, and only a command of another row can change it
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
import { type ByteString, MillraceError } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { bytesOfWords, closureOf, sizeProblem } from '../commands/admission.js';
import { denialOf, mayRunWhatever } from '../commands/permissions.js';
import { saysLoading } from '../error-map.js';
import type { QueuedTransaction } from './client-state.js';
import { clientLine } from './commands/client-line.js';
import {
  CLUSTER_COMMANDS,
  CONNECTION_COMMANDS,
  type CommandAnswer,
  InPieces,
  Several,
  withFields,
} from './commands/index.js';
import { hearsForbidden } from './listening-rights.js';
import { NO_MEMORY } from './memory-refusals.js';
import type { RespBatch } from './resp-batch.js';
import type { RespClient } from './resp-client.js';
import type { RespEndpoint } from './resp-endpoint.js';
import { MAX_RESP_KEY_BYTES } from './resp-limits.js';
import { trackReads } from './tracked-reads.js';

export type SettledOutcome =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'bytes'; readonly bytes: ByteString }
  | { readonly kind: 'silent' };

export type Outcome =
  | SettledOutcome
  /** Added to the batch. */
  | { readonly kind: 'batched' }
  /** Has to be taken again after all commands before it are answered. */
  | { readonly kind: 'cut' }
  /** The answers, their bytes, or the bytes of one answer. */
  | { readonly kind: 'later'; readonly answers: Promise<readonly Reply[] | ByteString | InPieces> };

const BATCHED: Outcome = { kind: 'batched' };
const CUT: Outcome = { kind: 'cut' };
const SILENT: SettledOutcome = { kind: 'silent' };

/** Memory of a queued command and of each of its words, in addition to its bytes. */
const QUEUED_COMMAND_BYTES = 96;
const QUEUED_WORD_BYTES = 32;

const QUEUED = new SimpleString('QUEUED');
const NOT_SIGNED_IN = new ErrorReply('NOAUTH Authentication required.');
const NOT_IN_TRANSACTION = new ErrorReply('ERR Command not allowed inside a transaction');
const TRANSACTION_TOO_LARGE = new ErrorReply('ERR transaction exceeds the maximum number of commands or bytes');

export class ClientCommandRunner {
  /** The error while it is unknown whether the grant is current. */
  #doubt: ErrorReply | undefined;
  /**
   * The row of the previous command, if further commands of this row need no check (RCR3: only the first is checked).
   */
  #alike: CommandSpec | undefined;

  constructor(
    private readonly endpoint: RespEndpoint,
    private readonly client: RespClient,
  ) {}

  /** It is unknown whether the client's grant is current. */
  get isInDoubt(): boolean {
    return this.#doubt !== undefined;
  }

  /**
   * Disconnects a client without a valid grant, or one that listens to something it may no longer hear (RCR1: no
   * command runs under an outdated grant).
   */
  checkGrant(): void {
    const { client } = this;
    const { access } = this.endpoint.parts;
    this.#doubt = undefined;
    this.#alike = undefined;
    if (client.grant === undefined) {
      // Sign-in is not possible now, but soon.
      if (this.endpoint.parts.freshness?.isFresh === false) this.#doubt = this.#signInDoubt();
      return;
    }
    try {
      if (access.isCurrent(client.grant)) return;
      const renewed = access.renewed?.(client.grant);
      if (renewed === undefined) client.link.cut('revoked');
      else this.#renew(renewed);
    } catch (failure) {
      this.#doubt = new ErrorReply(this.endpoint.failureText(failure));
    }
  }

  /** NOAUTH would tell the client of a starting process that it made a mistake. */
  #signInDoubt(): ErrorReply {
    if (!this.endpoint.isStarting) return NOT_SIGNED_IN;
    return new ErrorReply(this.endpoint.failureText(new MillraceError('CONTROL_STALE', 'the process is starting')));
  }

  #renew(grant: KvGrant): void {
    const { client } = this;
    const before = client.grant as KvGrant;
    client.grant = grant;
    if (hearsForbidden(client, before)) client.link.cut('revoked');
    const closure = closureOf(grant, () => client.link.remoteAddress);
    if (closure !== undefined) client.closure = new ErrorReply(closure.text);
  }

  /** @param isBehind whether commands before the batch are unanswered */
  take(words: readonly ByteString[], batch: RespBatch, isBehind: boolean): Outcome {
    const { client } = this;
    const spec = admit(words);
    if (spec === this.#alike && this.#addAlike(spec, words, batch)) return BATCHED;
    this.#alike = undefined;
    if (spec instanceof ErrorReply) {
      if (isHttp(words)) return this.#endHttp();
      return this.#refuse(isExec(words) ? this.#abort(spec) : spec);
    }
    client.lastCommand = spec.name;
    const problem = this.#problemOf(spec, words);
    if (problem !== undefined) {
      if (spec.asksReadiness === true) client.isRefusedWhileLoading = saysLoading(problem.text);
      return this.#refuse(problem);
    }
    const own = CONNECTION_COMMANDS.get(spec.name) ?? this.#clusterCommand(spec);
    const { transaction } = client;
    if (transaction !== undefined && own?.isDoneInTransaction !== true) return this.#queue(transaction, spec, words);
    if (own === undefined) return this.#takeOrdinary(client.grant as KvGrant, spec, words, batch, isBehind);
    if (!own.isIndependent && (isBehind || !batch.isUnused)) return CUT;
    const isSilent = own.leavesSilence !== true && this.#takesSilence() && own.isAlwaysHeard !== true;
    const answer = this.endpoint.slowNotes.timed(client, words, () => own.run(client, words));
    return this.#outcomeOf(answer, isSilent);
  }

  oversized(bytes: number): SettledOutcome {
    return this.#refuse(requestTooLarge(this.client.grant?.limits.maxCommandBytes ?? 0, bytes));
  }

  /**
   * Runs the rest of a partly answered batch, or refuses it if the client may not continue (RCR1: no command runs
   * under an outdated grant).
   */
  runRest(batch: RespBatch): Promise<readonly Reply[]> {
    const { client } = this;
    this.checkGrant();
    const problem = this.#doubt ?? client.closure;
    if (problem === undefined) return client.calls.runRest(client.grant as KvGrant, batch);
    batch.hasRest = false;
    return Promise.resolve(batch.answers(batch.commands.map(() => problem)));
  }

  /** The error for a command that may not run; undefined if it may. */
  #problemOf(spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
    const { client } = this;
    const { grant } = client;
    if (spec.isBeforeAuth === true) return undefined;
    if (grant === undefined) return this.#doubt ?? NOT_SIGNED_IN;
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
    return grant.isCluster === true ? this.endpoint.cluster?.redirection(grant, spec, words) : undefined;
  }

  #clusterCommand({ family, name }: CommandSpec) {
    const isNode = family === 'cluster' && this.client.grant?.isCluster === true && this.endpoint.cluster !== undefined;
    return isNode ? CLUSTER_COMMANDS.get(name) : undefined;
  }

  #noteDenial({ database }: KvGrant, denial: PermissionDenied): void {
    const { client } = this;
    const context = client.transaction === undefined ? 'toplevel' : 'multi';
    this.endpoint.parts.acl?.noteDenied(database, denial, clientLine(client), context);
  }

  #queue(transaction: QueuedTransaction, spec: CommandSpec, words: readonly ByteString[]): Outcome {
    const own = CONNECTION_COMMANDS.get(spec.name) ?? this.#clusterCommand(spec);
    const isOfEdge = spec.family === 'acl';
    if (isOfEdge || spec.flags.includes('nomulti') || (own !== undefined && !own.isQueueable)) {
      return this.#refuse(NOT_IN_TRANSACTION);
    }
    const { maxQueuedBytes, maxQueuedCommands } = this.endpoint.parts.limits;
    const bytes = bytesOfWords(words);
    const grant = this.client.grant as KvGrant;
    const problem = sizeProblem(grant, spec, words, bytes, MAX_RESP_KEY_BYTES);
    if (problem !== undefined) return this.#refuse(problem);
    if (spec.mayGrow === true && this.endpoint.fullDatabases.has(grant.database)) {
      return this.#refuse(ERRORS.databaseFull);
    }
    if (transaction.queued.length >= maxQueuedCommands || transaction.bytes + bytes > maxQueuedBytes) {
      return this.#refuse(TRANSACTION_TOO_LARGE);
    }
    // A failed transaction keeps no further commands, as in Redis.
    if (!transaction.isBroken && !this.#keep(transaction, spec, words, bytes)) return this.#refuse(NO_MEMORY);
    return this.#takesSilence() ? SILENT : { kind: 'reply', reply: QUEUED };
  }

  /**
   * @returns whether the budget has room; if not, the queued commands are dropped, because the transaction will not
   * run
   */
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
    typed: CommandSpec,
    typedWords: readonly ByteString[],
    batch: RespBatch,
    isBehind: boolean,
  ): Outcome {
    const { client } = this;
    const command = withFields(client, typed, typedWords);
    if (command instanceof ErrorReply) return this.#refuse(command);
    const { spec, words } = command;
    const bytes = bytesOfWords(words);
    const problem = sizeProblem(grant, spec, words, bytes, MAX_RESP_KEY_BYTES);
    if (problem !== undefined) return this.#refuse(problem);
    if (spec.isBlocking === true) {
      if (isBehind || !batch.isUnused) return CUT;
      const isSilent = this.#takesSilence();
      return this.#outcomeOf(this.client.calls.runBlocking(grant, spec, words, bytes), isSilent);
    }
    const { acl } = this.endpoint.parts;
    if (acl !== undefined && spec.family === 'acl') {
      if (isBehind || !batch.isUnused) return CUT;
      const answer = this.endpoint.slowNotes.timed(client, words, () => acl.run(grant, spec, words, client));
      if (answer !== undefined) return this.#outcomeOf(answer, this.#takesSilence());
    }
    batch.add(spec, words, bytes);
    if (client.replies !== 'on' || client.tracking !== undefined) {
      if (this.#takesSilence()) batch.silenceLast();
      this.#track(grant, spec, words, batch);
    } else if (words === typedWords && spec.family !== 'acl' && grant.isCluster !== true && mayRunWhatever(grant)) {
      this.#alike = spec;
    }
    return BATCHED;
  }

  /**
   * Adds a command without checking it again (RCR3: only the first of a row is checked). False: it has to be checked.
   */
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
        (failure: unknown) => [new ErrorReply(this.endpoint.failureText(failure))],
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
    this.endpoint.refused.add();
    if (client.transaction !== undefined) client.transaction.isBroken = true;
    return this.#takesSilence() ? SILENT : { kind: 'reply', reply };
  }

  /** Closes the connection without answers: a web page may have made a browser send this. */
  #endHttp(): SettledOutcome {
    const { client } = this;
    this.endpoint.cuts.noteHttp(client.id, client.address);
    client.link.endUnanswered();
    return SILENT;
  }

  /** An invalid EXEC ends its transaction. */
  #abort(problem: ErrorReply): ErrorReply {
    this.client.transaction = undefined;
    this.client.unwatch();
    return new ErrorReply(`EXECABORT Transaction discarded because of: ${problem.text.replace(/^ERR /, '')}`);
  }

  /** Should this command's answer be suppressed? Consumes CLIENT REPLY SKIP. */
  #takesSilence(): boolean {
    const { client } = this;
    if (client.replies === 'on') return false;
    if (client.replies === 'skip-next') client.replies = 'on';
    return true;
  }
}

/** Words that begin a line of HTTP and are not commands. Redis closes the connection for the same two. */
function isHttp([name = '']: readonly ByteString[]): boolean {
  return /^(post|host:)$/i.test(name);
}

function isExec([name = '']: readonly ByteString[]): boolean {
  return name.length === 4 && name.toUpperCase() === 'EXEC';
}

function notWhileSubscribed(name: string): ErrorReply {
  const shown = name.toLowerCase().replace(' ', '|');
  const allowed = '(P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET';
  return new ErrorReply(`ERR Can't execute '${shown}': only ${allowed} are allowed in this context`);
}
