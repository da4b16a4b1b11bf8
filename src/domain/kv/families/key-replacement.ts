/**
 * Internal commands about branches: replacing many keys together, if each still has the value that the caller has seen,
 * and showing the messages that a branch holds. Clients cannot send them (`commands.ts`).
 */
import { assert, type ByteString } from '../../../kernel/index.js';
import { NO_KEYS } from '../command-description.js';
import type { CommandContext, CommandSpec, SlicedHandler } from '../command-spec.js';
import { KeyspaceDigest } from '../digest.js';
import type { Reply } from '../reply.js';
import { inSlices, SlicePace } from '../slices.js';
import { family, NOT_IN_REDIS, row } from './rows.js';

/** A key with the value that it must have, and the commands that make its new one. */
export interface KeyReplacement {
  readonly key: ByteString;
  /** The digest of the value that was seen, with its expiry; empty: there was no such key. */
  readonly seen: ByteString;
  /** None: the key is removed. */
  readonly commands: readonly (readonly ByteString[])[];
}

const REPLACE_KEYS = 'KEYS.REPLACE';
export const HELD_MESSAGES = 'QUEUE.HELD';

/** Looking at a large value, or making one, takes as long as many small ones. */
const ITEMS_A_SLICE = 64;
/** Of one answer. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/** The words of the command: for each key its name, the digest, and the commands with their numbers of words. */
export function replacementWords(replacements: readonly KeyReplacement[]): ByteString[] {
  const words: ByteString[] = [REPLACE_KEYS];
  for (const { key, seen, commands } of replacements) {
    words.push(key, seen, String(commands.length));
    for (const command of commands) {
      words.push(String(command.length));
      for (const word of command) words.push(word);
    }
  }
  return words;
}

function* replacementsIn(words: readonly ByteString[]): Iterable<KeyReplacement> {
  for (let at = 1; at < words.length; ) {
    const [key = '', seen = '', count = '0'] = words.slice(at, at + 3);
    at += 3;
    const commands: ByteString[][] = [];
    for (let left = Number(count); left > 0; left -= 1) {
      const length = Number(words[at]);
      commands.push(words.slice(at + 1, at + 1 + length));
      at += 1 + length;
    }
    yield { key, seen, commands };
  }
}

/** Replaces all keys, or none: then the answer lists those that have another value by now. */
const replaceKeys: SlicedHandler = function* (context) {
  const { args, keyspace, effects } = context;
  const replacements = [...replacementsIn(args.words)];
  const pace = new SlicePace(ITEMS_A_SLICE);
  const changed: ByteString[] = [];
  for (const { key, seen } of replacements) {
    if (digestOfKey(context, key) !== seen) changed.push(key);
    if (pace.isDue()) yield;
  }
  if (changed.length > 0) return changed;
  for (const { key, commands } of replacements) {
    if (keyspace.delete(key)) {
      effects.push('DEL', key);
      context.notify('g', 'del', key);
    }
    if (commands.length > 0) {
      // Built in a separate keyspace, because some effects are run only in replay.
      const aside = context.aside();
      for (const words of commands) yield* aside.replayInSlices(words);
      const value = aside.keyspace.stored(key);
      assert(value !== undefined, 'the commands that make a key make no value', { command: commands[0]?.[0] });
      keyspace.set(key, value, aside.keyspace.expiryOf(key));
      for (const [name = '', ...words] of commands) effects.pushList(name, words);
      context.notify('g', 'restore', key);
    }
    if (pace.isDue()) yield;
  }
  return [];
};

/** Empty when there is no such key, or when it has expired. */
function digestOfKey({ keyspace }: CommandContext, key: ByteString): ByteString {
  const value = keyspace.peek(key);
  if (value === undefined) return '';
  const digest = new KeyspaceDigest();
  digest.add(key, value, keyspace.expiryOf(key));
  return digest.toString();
}

export const BRANCH_COMMANDS: readonly CommandSpec[] = family('server', [
  row(REPLACE_KEYS, -4, NOT_IN_REDIS, 'Replaces keys that have not changed since they were seen.', {
    flags: ['write', 'denyoom', 'noscript', 'skip-monitor', 'skip-slowlog'],
    // The keys are not at fixed places.
    keys: NO_KEYS,
    ...inSlices(replaceKeys, () => true),
  }),
  row(HELD_MESSAGES, 1, NOT_IN_REDIS, 'The messages that wait for the queue.', {
    flags: ['readonly', 'noscript', 'skip-monitor', 'skip-slowlog'],
    keys: NO_KEYS,
    handler: ({ outbox }): Reply => {
      const held = outbox.stored(0, outbox.size, MAX_HELD_BYTES);
      return [outbox.size, ...held.map(({ record }) => record)];
    },
  }),
]);
