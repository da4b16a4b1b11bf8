/**
 * One connection: bytes in, commands one after the other, answers out in their order.
 *
 * Invariants
 *  RCO1 ordinary commands are handed on in order without waiting for what is under way, a bounded number of requests
 *       (requests-under-way.ts); everything else waits until all in front of it has been answered. What may not be
 *       handed on waits as bytes, bounded, and beyond the bound nothing more is read
 *  RCO2 consecutive ordinary commands that have arrived together are one request, and one write
 *  RCO3 nothing is run while the client leaves much unread
 *  RCO4 parsing lets others run about every millisecond; so does what is written (answer-writer.ts)
 *  RCO5 what it holds is counted (held-bytes.ts); without room for more it reads no more (input-gate.ts)
 *  RCO6 what has ended answers nothing more, and leaves nothing behind: no waiter, no subscription
 */
import type { Socket } from 'node:net';
import {
  encodeReplyAs,
  type OversizedCommand,
  ownCopy,
  ProtocolError,
  RequestParser,
  type RequestParserLimits,
} from '../../codec/resp/index.js';
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import { type ByteString, STRANGERS } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { bytesOfWords, noteBytesOfWords } from '../commands/admission.js';
import { AnswerWriter } from './answer-writer.js';
import { RespBatch } from './command-batch.js';
import { ClientCommandRunner, type SettledOutcome } from './command-runner.js';
import type { InPieces } from './commands/index.js';
import { HeldBytes, UNCOUNTED_BYTES } from './held-bytes.js';
import { InputGate } from './input-gate.js';
import { RequestsUnderWay } from './requests-under-way.js';
import type { ClientLink } from './resp-client.js';
import { RespClient } from './resp-client.js';
import type { RespFace } from './resp-face.js';
import { RespOutput } from './resp-output.js';

/** Commands taken before others get to run. */
const COMMANDS_A_STRETCH = 1_000;
const LOOK_AGAIN_MS = 10;
/** Whose connection ends may send what it was about to send for so long, and read what it was told last. */
const LINGER_MS = 1_000;

/** A command may have so much before anybody has signed in: it is enough for AUTH. */
const UNAUTHENTICATED_COMMAND_BYTES = 64 * 1024;

export class RespConnection implements ClientLink {
  readonly client: RespClient;
  readonly remoteAddress: string;
  readonly #parser: RequestParser;
  readonly #parserLimits: RequestParserLimits;
  readonly #output: RespOutput;
  readonly #runner: ClientCommandRunner;
  readonly #held: HeldBytes;
  readonly #input: InputGate;
  readonly #writer: AnswerWriter;
  #batch = new RespBatch();
  readonly #underWay: RequestsUnderWay;
  /** Parsed, and waiting until all in front of it has been answered. */
  #postponed: readonly ByteString[] | undefined;
  /** Something is under way that nothing is taken behind. */
  #isWaiting = false;
  #isFlushSoon = false;
  #isPumping = false;
  #isEnding = false;
  #endsWithAnswer = false;
  #doubtedAtMs: number | undefined;
  #isLookingAgain = false;
  #isAwaitingReader = false;
  #hasInputEnded = false;
  /** The version of the rules by which it was last told something. */
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
    const { client } = this;
    this.#output = new RespOutput({
      socket,
      limits,
      clock,
      timers,
      broadcasts: face.broadcasts,
      tenant: () => client.grant?.database ?? STRANGERS,
      onTooMuch: () => this.cut('slow-reader'),
      onGrown: () => this.#outputGrown(),
    });
    this.#held = new HeldBytes(face.budget, { parser: this.#parser, output: this.#output, client }, (isCounted) =>
      face.slowReaders.note(client, isCounted),
    );
    this.#input = new InputGate({
      socket,
      client,
      parser: this.#parser,
      held: this.#held,
      isEnding: () => this.#isEnding,
      onRoom: () => this.#pump(),
      onRefused: (why) => this.#refuseInput(why),
    });
    this.#writer = new AnswerWriter(client, this.#output, this.#held, () => this.#written());
    this.#runner = new ClientCommandRunner(face, this.client);
    this.#underWay = new RequestsUnderWay(client);
    socket.on('drain', () => {
      this.#output.drained();
      this.#pump();
    });
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

  get unreadBytes(): number {
    return this.#output.heldBytes;
  }

  get heldBytes(): number {
    return this.#held.bytes;
  }

  get requestBytes(): number {
    return this.#held.requestBytes;
  }

  get bytesRead(): number {
    return this.socket.bytesRead;
  }

  get bytesWritten(): number {
    return this.socket.bytesWritten;
  }

  get isWaiting(): boolean {
    return this.#isWaiting || !this.#underWay.isEmpty;
  }

  /** May a command be taken now? (RCO1) */
  get #mayTake(): boolean {
    if (this.#isWaiting) return false;
    return this.#underWay.isEmpty || (this.#postponed === undefined && this.#underWay.mayGrow);
  }

  mayHold(bytes: number): boolean {
    return this.#held.fits(bytes);
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
    if (!this.isWaiting && !this.#isPumping) this.#end();
  }

  cut(reason: string): void {
    if (this.client.isClosed) return;
    this.#isEnding = true;
    this.face.cuts.note(reason, this.client.id);
    this.socket.destroy();
    this.#held.close();
  }

  /** Ends with its next answer. */
  drain(): void {
    if (this.client.blocked === undefined) {
      this.#endsWithAnswer = true;
      return;
    }
    this.#isEnding = true;
    this.client.calls.giveUpWaiting();
    this.#end();
  }

  receive(chunk: Buffer): void {
    if (this.#isEnding) return;
    this.#parser.feed(chunk);
    this.client.lastAtMs = this.face.parts.clock.monotonicMs();
    this.#pump();
    if (!this.#mayTake) this.#input.narrow(); // RCO1
    this.#input.note(chunk.length);
  }

  /** As `receive`, of bytes that others overwrite later. */
  receiveLent(bytes: Buffer): void {
    if (!this.#parser.isGathering && (!this.#mayTake || this.#parser.bufferedBytes > 0)) {
      this.receive(ownCopy(bytes));
      return;
    }
    this.receive(bytes);
    this.#parser.giveBack(bytes);
  }

  /** Looked at now and then: may it stay? */
  sweep(): void {
    const { limits, clock } = this.face.parts;
    const { client } = this;
    this.#held.count();
    if (this.#output.isStuck()) this.cut('slow-reader');
    else if (client.grant !== undefined) {
      this.#runner.checkGrant();
      if (client.closure !== undefined) this.cut('closed-to-client');
    } else if (clock.monotonicMs() - client.lastAtMs > limits.signInTimeoutMs) this.cut('not-signed-in');
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
    if (this.#isLookingAgain) return true;
    this.#isLookingAgain = true;
    timers.after(LOOK_AGAIN_MS, () => {
      this.#isLookingAgain = false;
      this.#pump();
    });
    return true;
  }

  #pump(): void {
    if (!this.#mayTake || this.#isPumping || this.client.isClosed) return;
    if (this.#output.bytes > this.face.parts.limits.pauseOutputBytes) {
      this.#output.flush();
      // RCO3. Unless everything fits after all.
      if (this.#output.isBehind) {
        this.#pumpWhenRead();
        this.#input.narrow();
        return;
      }
    }
    this.#isPumping = true;
    try {
      if (this.#hasMoreToTake) {
        this.#runner.checkGrant();
        if (this.#isHeld()) {
          this.#input.narrow();
          return;
        }
        this.#takeCommands();
      }
    } catch (failure) {
      this.#fail(failure);
    } finally {
      this.#isPumping = false;
    }
    if (this.isWaiting) {
      if (this.#output.hasAnswers) this.#flushSoon();
      // What was full before may have room again.
      if (this.socket.isPaused() && this.#mayTake) this.#input.open();
      return;
    }
    this.#output.flush();
    const isLast = this.#endsWithAnswer && this.#parser.bufferedBytes === 0;
    if (isLast || this.#isEnding || (this.#hasInputEnded && !this.#parser.mayHaveMore)) this.#end();
    else this.#input.open();
  }

  #pumpWhenRead(): void {
    if (this.#isAwaitingReader) return;
    this.#isAwaitingReader = true;
    this.#output.whenRead(() => {
      this.#isAwaitingReader = false;
      this.#pump();
    });
  }

  /** Asked behind every answer: most clients then have nothing more to say yet. */
  get #hasMoreToTake(): boolean {
    return this.#parser.mayHaveMore || this.#postponed !== undefined || !this.#batch.isUnused;
  }

  #refuseInput(why: ErrorReply): void {
    const { face } = this;
    this.#isEnding = true;
    face.cuts.note('no-room-for-input', this.client.id);
    this.#output.answer(encodeReplyAs(why, 2));
    this.#parser.clear();
    this.#end();
    this.#held.count();
  }

  /** Most of what is said unasked leaves at once: what does not is held by those who do not read. */
  #outputGrown(): void {
    if (this.#held.fits()) return;
    this.#held.count();
    const { grant } = this.client;
    if (grant !== undefined) this.face.slowReaders.cutSlowest(grant.database);
  }

  #takeCommands(): void {
    const { limits } = this.face.parts;
    for (let taken = 0; !this.#isEnding && this.#mayTake; taken += 1) {
      if (taken >= COMMANDS_A_STRETCH && this.#batch.isUnused) {
        this.#breathe(); // RCO4
        return;
      }
      const words = this.#postponed ?? this.#next();
      this.#postponed = undefined;
      if (words === undefined) break;
      this.#take(words);
      if (this.#batch.size >= limits.maxBatchCommands || this.#batch.bytes >= limits.maxBatchBytes) break;
    }
    if (!this.#isWaiting && !this.#batch.isUnused) this.#sendBatch();
  }

  #next(): readonly ByteString[] | undefined {
    const { client } = this;
    const { grant } = client;
    this.#parserLimits.isUnauthenticated = grant === undefined;
    this.#parserLimits.maxCommandBytes = grant?.limits.maxCommandBytes ?? UNAUTHENTICATED_COMMAND_BYTES;
    for (;;) {
      const command = this.#parse();
      if (command === undefined) return command;
      if (Array.isArray(command)) {
        noteBytesOfWords(command, this.#parser.commandBytes);
        return command;
      }
      this.#settle(this.#runner.oversized(command.bytes));
    }
  }

  #parse(): ByteString[] | OversizedCommand | undefined {
    try {
      return this.#parser.next();
    } catch (problem) {
      // What came before it is answered first; asked again, the parser says the same.
      if (this.#batch.isUnused && this.#underWay.isEmpty) throw problem;
      return undefined;
    }
  }

  #take(words: readonly ByteString[]): void {
    const outcome = this.#runner.take(words, this.#batch, !this.#underWay.isEmpty);
    switch (outcome.kind) {
      case 'batched':
        return;
      case 'cut':
        // Runs behind what is in front of it.
        this.#postponed = words;
        if (!this.#batch.isUnused) this.#sendBatch();
        return;
      case 'later':
        this.#wait(words, outcome.answers);
        return;
      default:
        this.#settle(outcome);
    }
  }

  /** An answer that is there, behind those that are not. */
  #settle(outcome: SettledOutcome): void {
    if (outcome.kind === 'silent') return;
    if (outcome.kind === 'bytes') this.#output.answer(outcome.bytes);
    else if (this.#batch.isUnused && this.#underWay.isEmpty)
      this.#output.answer(encodeReplyAs(outcome.reply, this.client.protocol));
    else this.#batch.addAnswer(outcome.reply);
  }

  #sendBatch(): void {
    const batch = this.#batch;
    this.#batch = new RespBatch();
    this.#output.isHeld = true;
    this.#underWay.add(batch);
    // Nothing but answers that are there, behind others that are not.
    if (batch.isEmpty) batch.settled = batch.answers([]);
    else this.#await(batch, this.client.calls.runBatch(this.client.grant as KvGrant, batch));
  }

  #await(batch: RespBatch, answers: Promise<readonly Reply[]>): void {
    this.#request(this.#underWay.heldBytes + bytesOfWords(this.#postponed ?? []));
    answers.then(
      (settled) => {
        batch.settled = settled;
        if (this.#underWay.first === batch) this.#answerFirst(batch);
        else this.#request(this.#underWay.heldBytes + bytesOfWords(this.#postponed ?? []));
      },
      (failure) => this.#fail(failure),
    );
  }

  /** So much of what was parsed stays until it is answered. */
  #request(bytes: number): void {
    this.#held.requestBytes = bytes;
    if (bytes > UNCOUNTED_BYTES) this.#held.count();
  }

  /** This serves a command whose answer comes later: at its owner, or behind a promise of another kind. */
  #wait(words: readonly ByteString[], answers: Promise<readonly Reply[] | ByteString | InPieces>): void {
    this.#isWaiting = true;
    this.#request(bytesOfWords(words));
    // A blocked client goes on hearing what it subscribed to.
    this.#output.isHeld = this.client.blocked === undefined;
    this.#output.flush();
    answers.then(
      (settled) => {
        if (typeof settled === 'string') {
          this.#output.answer(settled);
          this.#finished();
        } else this.#answered(settled);
      },
      (failure) => this.#fail(failure),
    );
  }

  /** Of a command that nothing is taken behind. */
  #answered(answers: readonly Reply[] | InPieces): void {
    this.#held.requestBytes = 0;
    this.#writer.begin(answers, this.client.calls.takeAnswerBytes());
  }

  #answerFirst(batch: RespBatch): void {
    const answers = batch.settled as readonly Reply[];
    batch.settled = undefined;
    this.#underWay.noteAnswer(batch);
    this.#held.requestBytes = this.#underWay.heldBytes;
    this.#writer.begin(answers, batch.answerBytes);
  }

  #written(): void {
    const { first } = this.#underWay;
    if (first === undefined) this.#finished();
    else if (first.hasRest) this.#writer.whenRead(() => this.#askRest(first));
    else {
      this.#underWay.removeFirst();
      const next = this.#underWay.first;
      if (next?.settled !== undefined) this.#answerFirst(next);
      else this.#finished();
    }
  }

  #askRest(batch: RespBatch): void {
    if (this.socket.destroyed) return;
    this.#held.answerBytes = 0;
    this.#await(batch, this.#runner.runRest(batch));
  }

  #breathe(): void {
    this.#isWaiting = true;
    this.#output.flush();
    this.face.parts.timers.soon(() => this.#finished());
  }

  #finished(): void {
    this.#letGo();
    if (this.client.isClosed) return;
    if (this.#underWay.isEmpty && this.#isEnding) {
      this.#output.flush();
      this.#end();
    } else {
      // What is under way may take long, and these are due.
      if (!this.#underWay.isEmpty) this.#flushSoon();
      this.#pump();
    }
  }

  /** Answers that come from one entry leave in one write. */
  #flushSoon(): void {
    if (this.#isFlushSoon) return;
    this.#isFlushSoon = true;
    void Promise.resolve().then(() => {
      this.#isFlushSoon = false;
      this.#output.flush();
    });
  }

  #letGo(): void {
    this.#isWaiting = false;
    this.#output.isHeld = !this.#underWay.isEmpty;
    this.#held.requestBytes = this.#underWay.heldBytes;
    this.#held.answerBytes = 0;
  }

  #fail(failure: unknown): void {
    this.#underWay.clear();
    this.#letGo();
    const text = failure instanceof ProtocolError ? failure.text : this.face.failureText(failure);
    this.#output.answer(encodeReplyAs(new ErrorReply(text), 2));
    this.endAfterReplies();
  }

  #inputEnded(): void {
    this.#hasInputEnded = true;
    const { blocked, letGo } = this.client;
    if (blocked !== undefined || letGo !== undefined) this.socket.destroy();
    else this.#pump();
  }

  /** Reads on for a while: closed with something unread, the client would read a reset, and might lose its last answer. */
  #end(): void {
    const { socket } = this;
    if (socket.destroyed || socket.writableEnded) return;
    this.#isEnding = true;
    this.#output.flushAll();
    socket.end();
    socket.resume();
    const lingering = this.face.parts.timers.after(LINGER_MS, () => socket.destroy());
    socket.once('close', () => lingering.cancel());
  }

  #closed(): void {
    this.#isEnding = true;
    this.client.calls.giveUpWaiting();
    this.client.close();
    this.#parser.clear();
    this.#held.close();
    this.onEnd();
  }
}

function addressOf(address: string | undefined, port: number | undefined): string {
  const host = address ?? '';
  return host.includes(':') ? `[${host}]:${port ?? 0}` : `${host}:${port ?? 0}`;
}
