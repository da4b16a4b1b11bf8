/**
 * One connection: reads bytes, takes commands one after the other, and writes answers in their order.
 *
 *  RCO1 ordinary commands are sent in order without waiting for earlier answers, up to a limited number of requests
 *       (requests-under-way.ts); every other command waits until all earlier ones are answered. Commands that must
 *       wait stay as bytes, up to a limit above which the connection stops reading
 *  RCO2 consecutive ordinary commands that arrive together are one request, and one write
 *  RCO3 no command runs while the client leaves much output unread
 *  RCO4 parsing yields to other connections about every millisecond; so does writing (answer-writer.ts)
 *  RCO5 held bytes are counted (held-bytes.ts); without room the connection stops reading (input-gate.ts)
 *  RCO6 a closed connection answers no command and leaves no waiter or subscription
 */
import type { Socket } from 'node:net';
import { encodeReplyAs, ProtocolError } from '../../codec/resp/index.js';
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import { type ByteString, STRANGERS } from '../../kernel/index.js';
import { bytesOfWords } from '../commands/admission.js';
import { BatchPipeline } from './batch-pipeline.js';
import type { ClientLink } from './client-state.js';
import { CommandInput } from './command-input.js';
import { ClientCommandRunner, type SettledOutcome } from './command-runner.js';
import type { InPieces } from './commands/index.js';
import { GrantDoubt } from './grant-doubt.js';
import { HeldBytes } from './held-bytes.js';
import { InputGate } from './input-gate.js';
import { RespClient } from './resp-client.js';
import type { RespEndpoint } from './resp-endpoint.js';
import { RespOutput } from './resp-output.js';

/** Commands taken in one slice. */
const COMMANDS_A_STRETCH = 1_000;
/** Time for a closing connection to receive the client's last bytes, and for the client to read its last answer. */
const LINGER_MS = 1_000;

export class RespConnection implements ClientLink {
  readonly client: RespClient;
  readonly remoteAddress: string;
  readonly #commands: CommandInput;
  readonly #output: RespOutput;
  readonly #runner: ClientCommandRunner;
  readonly #held: HeldBytes;
  readonly #input: InputGate;
  readonly #batches: BatchPipeline;
  readonly #doubt: GrantDoubt;
  /** A command is running that blocks all later ones. */
  #isWaiting = false;
  #isFlushSoon = false;
  #isPumping = false;
  #isEnding = false;
  #endsWithAnswer = false;
  #isAwaitingReader = false;
  #hasInputEnded = false;
  /** The version of the access rules at its last message. */
  #heardVersion: number | undefined;
  /** The socket's own number lacks the bytes that arrived before the connection was given to this process. */
  bytesRead = 0;
  /** Called after it has ended. */
  onEnd: () => void = () => {};

  constructor(
    private readonly endpoint: RespEndpoint,
    private readonly socket: Socket,
    id: number,
  ) {
    const { clock, timers, limits } = endpoint.parts;
    this.remoteAddress = socket.remoteAddress ?? '';
    const address = addressOf(socket.remoteAddress, socket.remotePort);
    const localAddress = addressOf(socket.localAddress, socket.localPort);
    this.client = new RespClient(endpoint, this, id, address, localAddress);
    this.#commands = new CommandInput(limits);
    const { parser } = this.#commands;
    const { client } = this;
    this.#output = new RespOutput({
      socket,
      limits,
      clock,
      timers,
      broadcasts: endpoint.broadcasts,
      tenant: () => client.grant?.database ?? STRANGERS,
      onTooMuch: () => this.cut('slow-reader'),
      onGrown: () => this.#outputGrown(),
    });
    this.#held = new HeldBytes(endpoint.budget, { parser, output: this.#output, client }, (isCounted) =>
      endpoint.slowReaders.note(client, isCounted),
    );
    this.#input = new InputGate({
      socket,
      client,
      parser,
      held: this.#held,
      isEnding: () => this.#isEnding,
      onRoom: () => this.#pump(),
      onRefused: (reason) => this.#refuseInput(reason),
    });
    this.#runner = new ClientCommandRunner(endpoint, this.client);
    this.#doubt = new GrantDoubt(endpoint.parts, limits.maxDoubtMs, () => this.#pump());
    this.#batches = new BatchPipeline({
      client,
      output: this.#output,
      held: this.#held,
      isDisconnected: () => socket.destroyed,
      runRest: (batch) => this.#runner.runRest(batch),
      onWritten: () => this.#finished(),
      onFailure: (failure) => this.#fail(failure),
    });
    socket.on('drain', () => {
      this.#output.drained();
      this.#pump();
    });
    socket.on('end', () => this.#inputEnded());
    // `close` follows; without a listener the error would be thrown.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#closed());
  }

  get inputBytes(): number {
    return this.#commands.parser.bufferedBytes;
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

  get bytesWritten(): number {
    return this.socket.bytesWritten;
  }

  get isWaiting(): boolean {
    return this.#isWaiting || !this.#batches.isAnswered;
  }

  /** May a command be taken now (RCO1: ordinary commands do not wait for earlier answers)? */
  get #mayTake(): boolean {
    return !this.#isWaiting && this.#batches.mayGrow;
  }

  mayHold(bytes: number): boolean {
    return this.#held.fits(bytes);
  }

  push(bytes: ByteString): void {
    if (!this.#isEnding) this.#output.push(bytes);
  }

  mayHear(): boolean {
    const { version } = this.endpoint.parts.access;
    if (this.#isEnding || (version !== undefined && version === this.#heardVersion)) return !this.#isEnding;
    this.#heardVersion = version;
    this.#runner.checkGrant();
    return !this.#isEnding;
  }

  endAfterReplies(): void {
    this.#isEnding = true;
    this.#commands.parser.clear();
    if (!this.isWaiting && !this.#isPumping) this.#end();
  }

  endUnanswered(): void {
    this.#output.discard();
    this.endAfterReplies();
  }

  cut(reason: string): void {
    if (this.socket.destroyed) return;
    this.#isEnding = true;
    this.endpoint.cuts.note(reason, this.client.id);
    this.socket.destroy();
    this.#held.close();
  }

  /** Closes after its next answer. */
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
    this.bytesRead += chunk.length;
    this.#commands.parser.feed(chunk);
    this.client.lastAtMs = this.endpoint.parts.clock.monotonicMs();
    this.#pump();
    if (!this.#mayTake) this.#input.narrow(); // RCO1 (input that must wait is bounded)
    this.#input.note(chunk.length);
  }

  /** Called at intervals: checks whether the connection may stay open. */
  sweep(): void {
    const { limits, clock } = this.endpoint.parts;
    const { client } = this;
    this.#held.count();
    if (this.#output.isStuck()) this.cut('slow-reader');
    else if (this.#isStuckAtLoading(clock.monotonicMs())) this.endAfterReplies();
    else if (client.grant !== undefined) {
      this.#runner.checkGrant();
      if (client.closure !== undefined) this.cut('closed-to-client');
    } else if (clock.monotonicMs() - client.lastAtMs > limits.signInTimeoutMs) this.cut('not-signed-in');
  }

  /**
   * Some clients ask INFO whether the server is ready and, after an error, keep the connection without using it. When
   * it is closed they connect again.
   */
  #isStuckAtLoading(nowMs: number): boolean {
    const { isRefusedWhileLoading, lastAtMs } = this.client;
    return isRefusedWhileLoading && !this.isWaiting && nowMs - lastAtMs >= this.endpoint.parts.limits.loadingSilenceMs;
  }

  #pump(): void {
    if (!this.#mayTake || this.#isPumping || this.client.isClosed) return;
    if (this.#output.bytes > this.endpoint.parts.limits.pauseOutputBytes) {
      this.#output.flush();
      //  RCO3 (no command runs while much output is unread), unless the output has been sent.
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
        if (this.#doubt.holds(this.#runner.isInDoubt)) {
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
      // The budget may have room again.
      if (this.socket.isPaused() && this.#mayTake) this.#input.open();
      return;
    }
    this.#output.flush();
    const isLast = this.#endsWithAnswer && this.#commands.parser.bufferedBytes === 0;
    if (isLast || this.#isEnding || (this.#hasInputEnded && !this.#commands.parser.mayHaveMore)) this.#end();
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

  /** Checked after every answer: most clients then have no further command. */
  get #hasMoreToTake(): boolean {
    const { postponed, open } = this.#batches;
    return this.#commands.parser.mayHaveMore || postponed !== undefined || !open.isUnused;
  }

  #refuseInput(reason: ErrorReply): void {
    const { endpoint } = this;
    this.#isEnding = true;
    endpoint.cuts.note('no-room-for-input', this.client.id);
    this.#output.answer(encodeReplyAs(reason, 2));
    this.#commands.parser.clear();
    this.#end();
    this.#held.count();
  }

  /** Messages are mostly sent immediately; bytes that accumulate belong to slow readers. */
  #outputGrown(): void {
    if (this.#held.fits()) return;
    this.#held.count();
    const { grant } = this.client;
    if (grant !== undefined) this.endpoint.slowReaders.cutSlowest(grant.database);
  }

  #takeCommands(): void {
    const { limits } = this.endpoint.parts;
    const batches = this.#batches;
    for (let taken = 0; !this.#isEnding && this.#mayTake; taken += 1) {
      if (taken >= COMMANDS_A_STRETCH && batches.open.isUnused) {
        this.#yieldToEventLoop(); // RCO4 (parsing yields about every millisecond)
        return;
      }
      const words = batches.postponed ?? this.#next();
      batches.postponed = undefined;
      if (words === undefined) break;
      this.#take(words);
      if (batches.open.size >= limits.maxBatchCommands || batches.open.bytes >= limits.maxBatchBytes) break;
    }
    if (!this.#isWaiting) batches.send();
  }

  #next(): readonly ByteString[] | undefined {
    for (;;) {
      const command = this.#commands.next(this.client.grant, this.#batches.isIdle);
      if (command === undefined || Array.isArray(command)) return command;
      this.#settle(this.#runner.oversized(command.bytes));
    }
  }

  #take(words: readonly ByteString[]): void {
    const outcome = this.#runner.take(words, this.#batches.open, !this.#batches.isAnswered);
    switch (outcome.kind) {
      case 'batched':
        return;
      case 'cut':
        // Runs after the earlier commands.
        this.#batches.postponed = words;
        this.#batches.send();
        return;
      case 'later':
        this.#wait(words, outcome.answers);
        return;
      default:
        this.#settle(outcome);
    }
  }

  /** Writes an answer that is known, after earlier ones that are not. */
  #settle(outcome: SettledOutcome): void {
    if (outcome.kind === 'silent') return;
    if (outcome.kind === 'bytes') this.#output.answer(outcome.bytes);
    else this.#batches.settle(outcome.reply);
  }

  /** Waits for a command with a later answer: from its owner, or from another promise. */
  #wait(words: readonly ByteString[], answers: Promise<readonly Reply[] | ByteString | InPieces>): void {
    this.#isWaiting = true;
    this.#batches.hold(bytesOfWords(words));
    // A blocked client continues to get messages.
    this.#output.isHeld = this.client.blocked === undefined;
    this.#output.flush();
    answers.then(
      (settled) => {
        if (typeof settled === 'string') {
          this.#output.answer(settled);
          this.#finished();
        } else this.#batches.write(settled, this.client.calls.takeAnswerBytes());
      },
      (failure) => this.#fail(failure),
    );
  }

  #yieldToEventLoop(): void {
    this.#isWaiting = true;
    this.#output.flush();
    this.endpoint.parts.timers.soon(() => this.#finished());
  }

  #finished(): void {
    this.#letGo();
    if (this.client.isClosed) return;
    if (this.#batches.isAnswered && this.#isEnding) {
      this.#output.flush();
      this.#end();
    } else {
      // The running requests may take long, and these answers are due.
      if (!this.#batches.isAnswered) this.#flushSoon();
      this.#pump();
    }
  }

  /** Answers of one entry are written together. */
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
    this.#output.isHeld = !this.#batches.isAnswered;
    this.#held.requestBytes = this.#batches.heldBytes;
    this.#held.answerBytes = 0;
  }

  #fail(failure: unknown): void {
    this.#batches.clear();
    this.#letGo();
    const text = failure instanceof ProtocolError ? failure.text : this.endpoint.failureText(failure);
    this.#output.answer(encodeReplyAs(new ErrorReply(text), 2));
    this.endAfterReplies();
  }

  #inputEnded(): void {
    this.#hasInputEnded = true;
    const { blocked, letGo } = this.client;
    if (blocked !== undefined || letGo !== undefined) this.socket.destroy();
    else this.#pump();
  }

  /** Reads on for a while: closing with unread bytes would send a reset, and the client might lose its last answer. */
  #end(): void {
    const { socket } = this;
    if (socket.destroyed || socket.writableEnded) return;
    this.#isEnding = true;
    this.#output.flushAll();
    // Other clients no longer see it from now on; the socket may stay open for a second, for example after QUIT.
    this.client.close();
    socket.end();
    socket.resume();
    const lingering = this.endpoint.parts.timers.after(LINGER_MS, () => socket.destroy());
    socket.once('close', () => lingering.cancel());
  }

  #closed(): void {
    this.#isEnding = true;
    this.client.calls.giveUpWaiting();
    this.client.close();
    this.#commands.parser.clear();
    this.#held.close();
    this.onEnd();
  }
}

function addressOf(address: string | undefined, port: number | undefined): string {
  const host = address ?? '';
  return host.includes(':') ? `[${host}]:${port ?? 0}` : `${host}:${port ?? 0}`;
}
