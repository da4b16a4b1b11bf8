/**
 * One connection: bytes in, commands one after the other, answers out in their order.
 *
 * Invariants
 *  C1 one request of this connection is under way at a time; what arrives meanwhile waits as bytes, bounded, and
 *     beyond the bound nothing more is read
 *  C2 consecutive ordinary commands that have arrived together are one request, and one write
 *  C3 nothing is run while the client leaves much unread
 *  C4 parsing, and encoding of large replies, let others run about every millisecond
 *  C5 what has ended answers nothing more, and leaves nothing behind: no waiter, no subscription
 */
import type { Socket } from 'node:net';
import {
  encodeInPieces,
  encodeReplyAs,
  isSmallReply,
  type OversizedCommand,
  ProtocolError,
  RequestParser,
  type RequestParserLimits,
} from '../../codec/resp/index.js';
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import { RespBatch } from './command-batch.js';
import { CommandRunner, type SettledOutcome } from './command-runner.js';
import type { ClientLink } from './resp-client.js';
import { RespClient } from './resp-client.js';
import type { RespFace } from './resp-face.js';
import { RespOutput } from './resp-output.js';

/** Commands taken before others get to run. */
const COMMANDS_A_STRETCH = 1_000;
/** Bytes encoded before others get to run. */
const BYTES_A_STRETCH = 256 * 1024;
const LOOK_AGAIN_MS = 10;

/** Of a command that nobody has signed in for: enough for AUTH. */
const UNAUTHENTICATED_COMMAND_BYTES = 64 * 1024;

export class RespConnection implements ClientLink {
  readonly client: RespClient;
  readonly remoteAddress: string;
  readonly #parser: RequestParser;
  readonly #parserLimits: RequestParserLimits;
  readonly #output: RespOutput;
  readonly #runner: CommandRunner;
  #batch = new RespBatch();
  /** Parsed, and waiting for the batch in front of it. */
  #held: readonly ByteString[] | undefined;
  #isWaiting = false;
  #isPumping = false;
  #isEnding = false;
  #doubtedAtMs: number | undefined;
  #hasInputEnded = false;
  /** Of the rules by which it was last told something. */
  #heardVersion: number | undefined;
  /** Called once it has ended. */
  onEnd: () => void = () => {};

  constructor(
    private readonly face: RespFace,
    private readonly socket: Socket,
    id: number,
  ) {
    const { clock, timers, limits } = face.parts;
    this.remoteAddress = socket.remoteAddress ?? '';
    const address = addressOf(socket.remoteAddress, socket.remotePort);
    const localAddress = addressOf(socket.localAddress, socket.localPort);
    this.client = new RespClient(face, this, id, address, localAddress);
    this.#parserLimits = {
      maxWords: limits.maxWords,
      maxWordBytes: limits.maxWordBytes,
      maxCommandBytes: UNAUTHENTICATED_COMMAND_BYTES,
      isUnauthenticated: true,
    };
    this.#parser = new RequestParser(this.#parserLimits);
    this.#output = new RespOutput(socket, limits, clock, timers, () => this.cut('slow-reader'));
    this.#runner = new CommandRunner(face, this.client);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => this.#pump());
    socket.on('end', () => this.#inputEnded());
    // Told by `close` as well; without a listener it would be thrown.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#closed());
  }

  get inputBytes(): number {
    return this.#parser.bufferedBytes;
  }

  get outputBytes(): number {
    return this.#output.bytes;
  }

  get bytesRead(): number {
    return this.socket.bytesRead;
  }

  get bytesWritten(): number {
    return this.socket.bytesWritten;
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  push(bytes: ByteString): void {
    if (!this.#isEnding) this.#output.push(bytes);
  }

  mayHear(): boolean {
    const { version } = this.face.parts.access;
    if (this.#isEnding || (version !== undefined && version === this.#heardVersion)) return !this.#isEnding;
    this.#heardVersion = version;
    this.#runner.checkGrant();
    return !this.#isEnding;
  }

  endAfterReplies(): void {
    this.#isEnding = true;
    this.#parser.clear();
    if (!this.#isWaiting && !this.#isPumping) this.#end();
  }

  cut(reason: string): void {
    if (this.client.isClosed) return;
    this.#isEnding = true;
    this.face.parts.log.info('resp.connection.cut', { reason, client: this.client.id });
    this.socket.destroy();
  }

  /** Ends as soon as nothing is under way. */
  drain(): void {
    if (this.client.blocked === undefined) {
      this.endAfterReplies();
      return;
    }
    this.#isEnding = true;
    this.#runner.giveUpWaiting();
    this.#end();
  }

  /** Looked at now and then: may it stay? */
  sweep(): void {
    const { limits, clock } = this.face.parts;
    const { client } = this;
    if (this.#output.isStuck()) this.cut('slow-reader');
    else if (client.grant !== undefined) {
      this.#runner.checkGrant();
      if (client.closure !== undefined) this.cut('closed-to-client');
    } else if (clock.monotonicMs() - client.lastAtMs > limits.signInTimeoutMs) this.cut('not-signed-in');
  }

  #receive(chunk: Buffer): void {
    if (this.#isEnding) return;
    this.#parser.feed(chunk);
    this.client.lastAtMs = this.face.parts.clock.monotonicMs();
    if (!this.#isWaiting) this.#pump();
    else if (this.#parser.bufferedBytes > this.face.parts.limits.maxPendingBytes) this.socket.pause(); // C1
  }

  /**
   * While nobody knows what the client may do its commands wait a moment: after a long command of somebody else
   * the news is on its way already.
   */
  #isHeld(): boolean {
    if (!this.#runner.isInDoubt) {
      this.#doubtedAtMs = undefined;
      return false;
    }
    const { clock, timers, limits } = this.face.parts;
    this.#doubtedAtMs ??= clock.monotonicMs();
    if (clock.monotonicMs() - this.#doubtedAtMs > limits.maxDoubtMs) return false;
    timers.after(LOOK_AGAIN_MS, () => this.#pump());
    return true;
  }

  #pump(): void {
    if (this.#isWaiting || this.#isPumping || this.client.isClosed) return;
    if (this.#output.bytes > this.face.parts.limits.pauseOutputBytes) {
      this.#output.flush();
      // C3: `drain` pumps again. Unless everything fits after all, which it says nothing about.
      if (this.socket.writableNeedDrain) {
        this.#stopReading();
        return;
      }
    }
    this.#isPumping = true;
    try {
      if (this.#hasMoreToTake) {
        this.#runner.checkGrant();
        if (this.#isHeld()) return;
        this.#takeCommands();
      }
    } catch (failure) {
      this.#fail(failure);
    } finally {
      this.#isPumping = false;
    }
    if (this.#isWaiting) return;
    this.#output.flush();
    if (this.#isEnding || (this.#hasInputEnded && !this.#parser.mayHaveMore)) this.#end();
    else if (this.socket.isPaused()) this.socket.resume();
  }

  /** Asked behind every answer: most clients then have nothing more to say yet. */
  get #hasMoreToTake(): boolean {
    return this.#parser.mayHaveMore || this.#held !== undefined || !this.#batch.isEmpty;
  }

  #stopReading(): void {
    if (this.#parser.bufferedBytes > this.face.parts.limits.maxPendingBytes) this.socket.pause();
  }

  #takeCommands(): void {
    const { limits } = this.face.parts;
    for (let taken = 0; !this.#isEnding && !this.#isWaiting; taken += 1) {
      if (taken >= COMMANDS_A_STRETCH && this.#batch.isEmpty) {
        this.#breathe(); // C4
        return;
      }
      const words = this.#held ?? this.#next();
      this.#held = undefined;
      if (words === undefined) break;
      this.#take(words);
      if (this.#batch.commands.length >= limits.maxBatchCommands || this.#batch.bytes >= limits.maxBatchBytes) break;
    }
    if (!this.#isWaiting && !this.#batch.isEmpty) this.#sendBatch();
  }

  #next(): readonly ByteString[] | undefined {
    const { client } = this;
    const { grant } = client;
    this.#parserLimits.isUnauthenticated = grant === undefined;
    this.#parserLimits.maxCommandBytes = grant?.limits.maxCommandBytes ?? UNAUTHENTICATED_COMMAND_BYTES;
    for (;;) {
      const command = this.#parse();
      if (command === undefined || Array.isArray(command)) return command;
      this.#settle(this.#runner.oversized(command.bytes));
    }
  }

  #parse(): ByteString[] | OversizedCommand | undefined {
    try {
      return this.#parser.next();
    } catch (problem) {
      // What came before it is answered first; asked again, the parser says the same.
      if (this.#batch.isEmpty) throw problem;
      return undefined;
    }
  }

  #take(words: readonly ByteString[]): void {
    const outcome = this.#runner.take(words, this.#batch);
    switch (outcome.kind) {
      case 'batched':
        return;
      case 'cut':
        // Runs behind what is in front of it.
        this.#held = words;
        this.#sendBatch();
        return;
      case 'later':
        this.#wait(outcome.answers);
        return;
      default:
        this.#settle(outcome);
    }
  }

  /** An answer that is there, behind those that are not. */
  #settle(outcome: SettledOutcome): void {
    if (outcome.kind === 'silent') return;
    if (outcome.kind === 'bytes') this.#output.answer(outcome.bytes);
    else if (this.#batch.isEmpty) this.#output.answer(encodeReplyAs(outcome.reply, this.client.protocol));
    else this.#batch.addAnswer(outcome.reply);
  }

  #sendBatch(): void {
    const batch = this.#batch;
    this.#batch = new RespBatch();
    this.#isWaiting = true;
    this.#output.isHeld = true;
    this.#runner.run(batch).then(
      (answers) => this.#writeAnswers(answers),
      (failure) => this.#fail(failure),
    );
  }

  /** For a command whose answer comes later: at its owner, or behind a promise of another kind. */
  #wait(answers: Promise<Iterator<Reply> | ByteString>): void {
    this.#isWaiting = true;
    // A blocked client goes on hearing what it subscribed to.
    this.#output.isHeld = this.client.blocked === undefined;
    this.#output.flush();
    answers.then(
      (settled) => {
        if (typeof settled === 'string') {
          this.#output.answer(settled);
          this.#finished();
        } else this.#writeAnswers(settled);
      },
      (failure) => this.#fail(failure),
    );
  }

  #writeAnswers(answers: Iterator<Reply>): void {
    if (this.client.isClosed) return;
    this.#output.isHeld = true;
    const { protocol } = this.client;
    const endBytes = this.#output.bytesAnswered + BYTES_A_STRETCH;
    for (let step = answers.next(); step.done !== true; step = answers.next()) {
      if (!isSmallReply(step.value)) {
        this.#writePieces(encodeInPieces(step.value, protocol), answers);
        return;
      }
      this.#output.answer(encodeReplyAs(step.value, protocol));
      if (this.#output.bytesAnswered > endBytes) {
        this.#whenRead(() => this.#writeAnswers(answers)); // C4
        return;
      }
    }
    this.#finished();
  }

  #writePieces(pieces: Iterator<ByteString>, answers: Iterator<Reply>): void {
    if (this.client.isClosed) return;
    const step = pieces.next();
    if (step.done === true) {
      this.#writeAnswers(answers);
      return;
    }
    this.#output.answer(step.value);
    this.#whenRead(() => this.#writePieces(pieces, answers));
  }

  /** Goes on when others have run and the client has read what there is. */
  #whenRead(goOn: () => void): void {
    this.#output.flush();
    if (this.socket.writableNeedDrain) this.socket.once('drain', goOn);
    else this.face.parts.timers.soon(goOn);
  }

  #breathe(): void {
    this.#isWaiting = true;
    this.#output.flush();
    this.face.parts.timers.soon(() => this.#finished());
  }

  #finished(): void {
    this.#isWaiting = false;
    this.#output.isHeld = false;
    if (this.client.isClosed) return;
    if (this.#isEnding) {
      this.#output.flush();
      this.#end();
    } else this.#pump();
  }

  #fail(failure: unknown): void {
    this.#isWaiting = false;
    this.#output.isHeld = false;
    const text = failure instanceof ProtocolError ? failure.text : this.#runner.refusalText(failure);
    this.#output.answer(encodeReplyAs(new ErrorReply(text), 2));
    this.endAfterReplies();
  }

  #inputEnded(): void {
    this.#hasInputEnded = true;
    const { blocked, letGo } = this.client;
    if (blocked !== undefined || letGo !== undefined) this.socket.destroy();
    else this.#pump();
  }

  #end(): void {
    if (this.socket.destroyed) return;
    this.#output.flush();
    this.socket.end(() => this.socket.destroy());
  }

  #closed(): void {
    this.#isEnding = true;
    this.#runner.giveUpWaiting();
    this.client.calls.giveUpScripts();
    this.client.close();
    this.#parser.clear();
    this.onEnd();
  }
}

function addressOf(address: string | undefined, port: number | undefined): string {
  const host = address ?? '';
  return host.includes(':') ? `[${host}]:${port ?? 0}` : `${host}:${port ?? 0}`;
}
