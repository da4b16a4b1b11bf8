/**
 * Consecutive commands of one connection that a partition is asked for together, and the answers that stand
 * between them, in order.
 */
import { type CommandSpec, type ErrorReply, isWrite, type Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import { bytesOfCommands } from '../commands/partition-plan.js';
import type { AdmittedCommands } from '../commands/partition-routing.js';
import type { PlaceInOrder } from './request-order.js';

/** What is known of a command, beside its bytes. */
const COMMAND_BYTES = 96;

export class RespBatch implements AdmittedCommands {
  readonly specs: CommandSpec[] = [];
  readonly commands: (readonly ByteString[])[] = [];
  bytes = 0;
  writes = 0;
  /** A key that is read in it is to be tracked. */
  isTracked = false;
  /** Keys that its scripts may read, and none of its other commands does: those left unread are forgotten again. */
  readonly scriptKeys = new Set<ByteString>();
  /** Its last commands have not been run yet, or none of them: what was answered before them was enough for once. */
  hasRest = false;
  /** Among the requests of its connection, once it is one. */
  place: PlaceInOrder | undefined;
  /** It was asked for before those in front of it were answered. */
  isBehind = false;
  /** It has been answered, up to its rest. */
  isAnswered = false;
  /** Answers that are there and not written, and about how many bytes are in them. */
  settled: readonly Reply[] | undefined;
  answerBytes = 0;
  /**
   * By position in the answer: what is known beforehand, or undefined for the partition's next reply. Left out while the
   * answers are the partition's, and nothing else.
   */
  #known: (Reply | undefined)[] | undefined;
  /** Positions in front of this one have been answered. */
  #at = 0;
  /** Positions whose answers are not sent. */
  #silent: Set<number> | undefined;

  add(spec: CommandSpec, words: readonly ByteString[], bytes: number): void {
    this.specs.push(spec);
    this.commands.push(words);
    this.bytes += bytes;
    if (isWrite(spec)) this.writes += 1;
    this.#known?.push(undefined);
  }

  addAnswer(reply: Reply): void {
    this.#byPosition().push(reply);
  }

  /** The answer of what was added last is not sent. */
  silenceLast(): void {
    this.#silent ??= new Set();
    this.#silent.add(this.#byPosition().length - 1);
  }

  /** Nothing was added to it. */
  get isUnused(): boolean {
    return this.#known === undefined && this.isEmpty;
  }

  /** In memory, of what is still to be run. */
  get heldBytes(): number {
    return this.bytes + this.commands.length * COMMAND_BYTES;
  }

  /** Its answers, known or not. */
  get size(): number {
    return this.#known === undefined ? this.commands.length : this.#known.length - this.#at;
  }

  get isEmpty(): boolean {
    return this.commands.length === 0;
  }

  /** Keeps the first `count` commands; the others are answered with `refusal`. */
  keepFirst(count: number, refusal: ErrorReply): void {
    const known = this.#byPosition();
    let kept = 0;
    for (let i = 0; i < known.length; i += 1) {
      if (known[i] !== undefined) continue;
      kept += 1;
      if (kept > count) known[i] = refusal;
    }
    this.bytes -= bytesOfCommands(this.commands.splice(count));
    this.specs.length = count;
    this.writes = this.specs.filter(isWrite).length;
  }

  /** Lets go of the commands in front: they have been run. */
  takeFirst(count: number): AdmittedCommands & { readonly writes: number } {
    const specs = this.specs.splice(0, count);
    const commands = this.commands.splice(0, count);
    const bytes = bytesOfCommands(commands);
    const writes = specs.filter(isWrite).length;
    this.bytes -= bytes;
    this.writes -= writes;
    return { specs, commands, bytes, writes };
  }

  /** The answers in order, given the partition's, or the next of them. */
  answers(replies: readonly Reply[]): readonly Reply[] {
    const known = this.#known;
    if (known === undefined) return replies;
    const answers: Reply[] = [];
    let next = 0;
    for (; this.#at < known.length; this.#at += 1) {
      let answer = known[this.#at];
      if (answer === undefined) {
        if (next === replies.length) break;
        answer = replies[next] as Reply;
        next += 1;
      }
      if (this.#silent?.has(this.#at) !== true) answers.push(answer);
    }
    return answers;
  }

  #byPosition(): (Reply | undefined)[] {
    this.#known ??= this.commands.map(() => undefined);
    return this.#known;
  }
}
