/**
 * Consecutive commands of one connection that a partition is asked for together, and the answers that stand
 * between them, in order.
 */
import { type CommandSpec, type ErrorReply, isWrite, type Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import { bytesOfCommands } from '../commands/partition-plan.js';
import type { AdmittedCommands } from '../commands/partition-routing.js';

/** What is known of a command, beside its bytes. */
const COMMAND_BYTES = 96;

/** What stands at a position: an answer that is known, or (undefined) the next reply of the partition. */
type Slot = Reply | undefined;

export class RespBatch implements AdmittedCommands {
  readonly specs: CommandSpec[] = [];
  readonly commands: (readonly ByteString[])[] = [];
  bytes = 0;
  writes = 0;
  /** A key that is read in it is to be tracked. */
  isTracked = false;
  /** Keys that its scripts may read, and none of its other commands does: those left unread are forgotten again. */
  readonly scriptKeys = new Set<ByteString>();
  readonly slots: Slot[] = [];
  /** Its last commands have not been run yet: what was answered before them was enough for once. */
  hasRest = false;
  /** Slots in front of this one have been answered. */
  #at = 0;
  /** Its answers are the partition's, and nothing else. */
  #isPlain = true;
  /** Positions whose answers are not sent. */
  #silent: Set<number> | undefined;

  add(spec: CommandSpec, words: readonly ByteString[], bytes: number): void {
    this.specs.push(spec);
    this.commands.push(words);
    this.bytes += bytes;
    if (isWrite(spec)) this.writes += 1;
    this.slots.push(undefined);
  }

  addAnswer(reply: Reply): void {
    this.slots.push(reply);
    this.#isPlain = false;
  }

  /** The answer of what was added last is not sent. */
  silenceLast(): void {
    this.#isPlain = false;
    this.#silent ??= new Set();
    this.#silent.add(this.slots.length - 1);
  }

  isSilent(position: number): boolean {
    return this.#silent?.has(position) === true;
  }

  /** In memory, of what is still to be run. */
  get heldBytes(): number {
    return this.bytes + this.commands.length * COMMAND_BYTES;
  }

  get isEmpty(): boolean {
    return this.commands.length === 0;
  }

  /** Keeps the first `count` commands; the others are answered with `refusal`. */
  keepFirst(count: number, refusal: ErrorReply): void {
    this.#isPlain = false;
    let kept = 0;
    for (let i = 0; i < this.slots.length; i += 1) {
      if (this.slots[i] !== undefined) continue;
      kept += 1;
      if (kept > count) this.slots[i] = refusal;
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
  answers(replies: readonly Reply[]): Iterator<Reply> {
    return this.#isPlain ? replies.values() : this.#mixed(replies);
  }

  *#mixed(replies: readonly Reply[]): IterableIterator<Reply> {
    let next = 0;
    while (this.#at < this.slots.length) {
      const slot = this.slots[this.#at];
      if (slot === undefined && next === replies.length) return;
      this.#at += 1;
      const reply = slot === undefined ? (replies[next++] as Reply) : slot;
      if (!this.isSilent(this.#at - 1)) yield reply;
    }
  }
}
