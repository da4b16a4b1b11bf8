/**
 * The commands of one request: those that may run, in order, and the replies of the others, so that all replies can
 * be merged.
 */
import {
  type CommandSpec,
  ErrorReply,
  isWrite,
  PermissionDenied,
  type Reply,
  requestTooLarge,
} from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant, KvUsage } from '../../ports/index.js';
import type { AclCommands } from '../acl/index.js';
import { admitOverRest, bytesOfCommands, bytesOfWords } from '../commands/admission.js';
import { denialOf } from '../commands/permissions.js';
import type { AdmittedCommands } from '../commands/portions.js';
import { QUOTA_EXCEEDED } from '../commands/quota.js';
import type { JsonCommand } from './json-command-reader.js';

export interface EdgeCommand {
  readonly position: number;
  readonly spec: CommandSpec;
  readonly words: readonly ByteString[];
}

export class RestBatch implements AdmittedCommands {
  specs: CommandSpec[] = [];
  commands: (readonly ByteString[])[] = [];
  bytes = 0;
  /** Length of the strings in the last merged replies. */
  replyBytes = 0;
  /** The error of the first command that may not run. */
  firstProblem: ErrorReply | undefined;
  /** Commands that are answered here, without a partition. */
  readonly ofEdge: EdgeCommand[] = [];
  /** Replies by position in the request; undefined in the common case, when all commands go to partitions. */
  #settled: (Reply | undefined)[] | undefined;
  /** The positions before it have been merged. */
  #at = 0;
  /** The commands before `#answered` have replies, those before `#counted` have also been counted. */
  #answered = 0;
  #counted = 0;

  constructor(
    private readonly grant: KvGrant,
    private readonly given: readonly JsonCommand[],
    users?: AclCommands | undefined,
  ) {
    for (let i = 0; i < given.length; i += 1) {
      const words = given[i] as JsonCommand;
      if (words instanceof ErrorReply) {
        this.#refuse(i, words);
        continue;
      }
      const bytes = bytesOfWords(words);
      const spec = admitOverRest(grant, words, bytes);
      if (spec instanceof ErrorReply) {
        if (spec instanceof PermissionDenied) users?.noteDenied(grant.database, spec);
        this.#refuse(i, spec);
        continue;
      }
      if (users !== undefined && spec.family === 'acl') {
        this.ofEdge.push({ position: i, spec, words });
        this.settle(i, null);
        continue;
      }
      this.specs.push(spec);
      this.commands.push(words);
      this.bytes += bytes;
    }
  }

  /**
   * The usage of the commands whose replies were merged last. Built field by field: a spread adds a fifth to the cost
   * of a GET.
   */
  takeUsage(bytesOut: number, durationMs: number): KvUsage {
    const from = this.#counted;
    const to = this.#answered;
    this.#counted = to;
    const isWhole = to - from === this.commands.length;
    const specs = isWhole ? this.specs : this.specs.slice(from, to);
    const bytesIn = isWhole ? this.bytes : bytesOfCommands(this.commands.slice(from, to));
    let writes = 0;
    for (const spec of specs) if (isWrite(spec)) writes += 1;
    return { commands: specs.length, writes, bytesIn, bytesOut, durationMs, specs };
  }

  /** The error of the first remaining command that the grant does not permit any more. */
  denialOfRest(grant: KvGrant): ErrorReply | undefined {
    for (let i = this.#answered; i < this.commands.length; i += 1) {
      const denial = denialOf(grant, this.specs[i] as CommandSpec, this.commands[i] as readonly ByteString[]);
      if (denial !== undefined) return denial;
    }
    return undefined;
  }

  /** Keeps the first `count` commands; the others get the quota error. */
  keepFirst(count: number): void {
    let kept = 0;
    for (let i = 0; i < this.given.length; i += 1) {
      if (this.#settled?.[i] !== undefined) continue;
      kept += 1;
      if (kept > count) this.#refuse(i, QUOTA_EXCEEDED);
    }
    for (const words of this.commands.splice(count)) this.bytes -= bytesOfWords(words);
    this.specs.length = count;
  }

  /**
   * The next replies of the commands that ran, with the other commands' replies in between; oversized ones are
   * replaced by an error.
   */
  merge(replies: readonly Reply[]): readonly Reply[] {
    const settled = this.#settled;
    const { maxCommandBytes } = this.grant.limits;
    let isAnyLarge = false;
    this.replyBytes = 0;
    for (const reply of replies) {
      const bytes = bytesOfReply(reply);
      this.replyBytes += bytes;
      if (bytes > maxCommandBytes) isAnyLarge = true;
    }
    this.#answered += replies.length;
    if (settled === undefined && !isAnyLarge) {
      this.#at = this.#answered;
      return replies;
    }
    const merged: Reply[] = [];
    let next = 0;
    for (; this.#at < this.given.length; this.#at += 1) {
      const answer = settled?.[this.#at];
      if (answer !== undefined) merged.push(answer);
      else if (next < replies.length) merged.push(boundedReply(replies[next++] as Reply, maxCommandBytes));
      else break;
    }
    return merged;
  }

  /** Answers the command at that position without a partition. */
  settle(position: number, reply: Reply): void {
    this.#settled ??= new Array(this.given.length).fill(undefined);
    this.#settled[position] = reply;
  }

  #refuse(position: number, problem: ErrorReply): void {
    this.firstProblem ??= problem;
    this.settle(position, problem);
  }
}

function boundedReply(reply: Reply, limitBytes: number): Reply {
  const bytes = bytesOfReply(reply);
  return bytes > limitBytes ? requestTooLarge(limitBytes, bytes) : reply;
}

/** A longer list is counted in advance, in slices of this many items. */
const STEP_ITEMS = 10_000;
const counted = new WeakMap<object, number>();

export function isCountedAhead(reply: Reply | undefined): reply is readonly Reply[] {
  return Array.isArray(reply) && reply.length > STEP_ITEMS;
}

/** Counts a list before it is merged; yields where other requests may run. */
export function* countAhead(list: readonly Reply[]): Generator<void, void> {
  let bytes = 0;
  for (let i = 0; i < list.length; i += 1) {
    bytes += bytesOfReply(list[i] as Reply);
    if (i % STEP_ITEMS === STEP_ITEMS - 1) yield;
  }
  counted.set(list, bytes);
}

/** The bytes of its strings. */
function bytesOfReply(reply: Reply): number {
  if (typeof reply === 'string') return reply.length;
  if (!Array.isArray(reply)) return 0;
  const known = isCountedAhead(reply) ? counted.get(reply) : undefined;
  if (known !== undefined) return known;
  let bytes = 0;
  for (const item of reply as readonly Reply[]) bytes += bytesOfReply(item);
  return bytes;
}
