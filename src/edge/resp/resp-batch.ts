/**
 * Consecutive commands of one connection that are sent to a partition in one request, and the answers that are
 * already known between them.
 */
import { type CommandSpec, type ErrorReply, isWrite, type Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import { bytesOfCommands } from '../commands/admission.js';
import type { AdmittedCommands } from '../commands/portions.js';
import type { PlaceInOrder } from './request-order.js';

/** Memory of a command in addition to its bytes. */
const COMMAND_BYTES = 96;

export class RespBatch implements AdmittedCommands {
  readonly specs: CommandSpec[] = [];
  readonly commands: (readonly ByteString[])[] = [];
  bytes = 0;
  writes = 0;
  /** Reads a key that is tracked. */
  isTracked = false;
  /** Keys that only scripts of the batch may read: keys that they did not read are removed from tracking. */
  readonly scriptKeys = new Set<ByteString>();
  /** The last commands, or all, have not run yet: the replies before them filled the portion. */
  hasRest = false;
  /** Its place among the connection's requests, once sent. */
  place: PlaceInOrder | undefined;
  /** Sent before the requests before it were answered. */
  isBehind = false;
  /** Answered, except for its rest. */
  isAnswered = false;
  /** Answers that have arrived and are not written, and their approximate bytes. */
  settled: readonly Reply[] | undefined;
  answerBytes = 0;
  /**
   * By position in the answer: a known reply, or undefined for the partition's next reply. Unset while all answers
   * are the partition's.
   */
  #known: (Reply | undefined)[] | undefined;
  /** The positions before it have been answered. */
  #at = 0;
  /** Positions with answers that are not sent. */
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

  /** Suppresses the answer of the command added last. */
  silenceLast(): void {
    this.#silent ??= new Set();
    this.#silent.add(this.#byPosition().length - 1);
  }

  /** Has no commands or answers. */
  get isUnused(): boolean {
    return this.#known === undefined && this.isEmpty;
  }

  /** Memory of the commands that have not run. */
  get heldBytes(): number {
    return this.bytes + this.commands.length * COMMAND_BYTES;
  }

  /** The number of answers, known or not. */
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

  /** Removes the first commands, which have run. */
  takeFirst(count: number): AdmittedCommands & { readonly writes: number } {
    const specs = this.specs.splice(0, count);
    const commands = this.commands.splice(0, count);
    const bytes = bytesOfCommands(commands);
    const writes = specs.filter(isWrite).length;
    this.bytes -= bytes;
    this.writes -= writes;
    return { specs, commands, bytes, writes };
  }

  /** The answers in order, or the next of them, from the partition's replies. */
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
